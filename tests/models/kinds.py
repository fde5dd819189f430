"""Models of transformers, tiny and with random weights: how each is made and called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn

IDS = torch.tensor([[5, 17, 3, 42, 8, 30, 11, 2, 9], [7, 21, 60, 4, 13, 6, 33, 50, 19]])
RIGHT = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])
LEFT = RIGHT.flip(1)
TEXT = {"input_ids": IDS}
RAGGED = {"input_ids": IDS, "attention_mask": RIGHT}
PAIR = {"input_ids": IDS, "attention_mask": RIGHT, "decoder_input_ids": IDS[:, :5]}
PICTURE = {"pixel_values": torch.linspace(-1, 1, 2 * 3 * 16 * 16).sin().view(2, 3, 16, 16)}
MEL = {
    "input_features": torch.linspace(-1, 1, 2 * 8 * 20).sin().view(2, 8, 20),
    "decoder_input_ids": IDS[:, :5],
}
SIZES = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 1,
}  # fmt: skip
GPT = {
    "vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64,
    "bos_token_id": 1, "eos_token_id": 1,
}  # fmt: skip
GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8}
BART = {
    "vocab_size": 64, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 1, "decoder_start_token_id": 1,
}  # fmt: skip
T5 = {
    "vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
    "decoder_start_token_id": 0,
}  # fmt: skip
VIEW = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "image_size": 16, "patch_size": 4,
}  # fmt: skip
SLIDING = GROUPED | {"sliding_window": 4}


@dataclass(frozen=True)
class Kind:
    """A model's name in transformers, its settings and what it is called with."""

    name: str
    settings: dict[str, Any]
    inputs: dict[str, Any]
    config: str = ""  # where its name is another one than the model's
    attentions_a_map: int = 1

    @property
    def class_(self) -> type[nn.Module]:
        return getattr(transformers, f"{self.name}Model", None) or getattr(transformers, self.name)

    @property
    def ways(self) -> list[str]:
        """In which it can attend."""
        return ["eager", "sdpa"] if self.class_._supports_sdpa else ["eager"]

    def model(self, how: str) -> nn.Module:
        """With random weights, the same for each implementation of its attention."""
        config = getattr(transformers, self.config or f"{self.name}Config")(**self.settings)
        torch.manual_seed(0)
        model = self.class_._from_config(config, attn_implementation=how)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.std() < 0.1:
                    # As they begin, their maps are flat and would agree with anything.
                    parameter.mul_(2)
        return model.eval()


KINDS = {
    kind.name: kind
    for kind in (
        Kind("GPT2", GPT, {"input_ids": IDS, "attention_mask": LEFT}),
        Kind("GPTNeoX", SIZES, RAGGED),
        Kind("GPTJ", GPT | {"rotary_dim": 4}, RAGGED),
        Kind("OPT", SIZES | {"ffn_dim": 64, "word_embed_proj_dim": 32}, RAGGED),
        Kind("Llama", GROUPED, {"input_ids": IDS, "attention_mask": LEFT}),
        Kind("Qwen3", GROUPED, RAGGED),
        Kind("Mistral", SLIDING, TEXT),
        Kind("Phi3", SIZES | {"num_key_value_heads": 2}, TEXT),
        Kind("Olmo2", SIZES | {"num_key_value_heads": 2}, TEXT),
        Kind(
            "DeepseekV3",
            SIZES
            | {"num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "v_head_dim": 6}
            | {"qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "first_k_dense_replace": 2},
            TEXT,
        ),
        Kind("Gemma2", SLIDING, TEXT),
        Kind("Gemma3Text", SLIDING, TEXT),
        Kind(
            "GptOss",
            SLIDING
            | {"num_local_experts": 2, "num_experts_per_tok": 1}
            | {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
            TEXT,
        ),
        Kind("Falcon", SIZES | {"alibi": False}, TEXT),
        Kind("Bloom", {"vocab_size": 64, "hidden_size": 32, "n_layer": 2, "n_head": 4}, RAGGED),
        Kind("Mpt", {"vocab_size": 64, "d_model": 32, "n_layers": 2, "n_heads": 4}, RAGGED),
        Kind("Bert", SIZES, RAGGED),
        Kind("Roberta", SIZES, RAGGED),
        Kind(
            "DistilBert",
            {"vocab_size": 64, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
            RAGGED,
        ),
        Kind("Albert", SIZES | {"embedding_size": 16}, RAGGED),
        Kind("Electra", SIZES | {"embedding_size": 16}, RAGGED),
        Kind("MPNet", SIZES, RAGGED),
        Kind(
            "DebertaV2",
            SIZES
            | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8},
            RAGGED,
        ),
        Kind(
            "XLNet",
            {"vocab_size": 64, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
            TEXT,
        ),
        Kind("ViT", VIEW, PICTURE),
        Kind("Dinov2", VIEW, PICTURE),
        Kind("CLIPVision", VIEW, PICTURE),
        Kind("CLIPText", SIZES, RAGGED),
        Kind(
            "Swin",
            {"image_size": 16, "patch_size": 2, "embed_dim": 16, "depths": [2], "num_heads": [2]}
            | {"window_size": 4},
            PICTURE,
            attentions_a_map=2,
        ),
        Kind("T5", T5, PAIR),
        Kind("T5Encoder", T5, RAGGED, "T5Config"),
        Kind("Bart", BART, PAIR),
        Kind("Pegasus", BART, PAIR),
        Kind("M2M100", BART, PAIR),
        Kind(
            "Whisper",
            BART | {"num_mel_bins": 8, "max_source_positions": 10, "max_target_positions": 20},
            MEL,
        ),
    )
}  # each with maps to compare with

UNSEEN = {
    kind.name: kind
    for kind in (
        Kind("Longformer", SIZES | {"attention_window": 4}, TEXT),
        Kind("Rwkv", {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2}, TEXT),
        Kind("Yoso", SIZES, TEXT),
    )
}  # what they compute is not a softmax of queries and keys


def maps_of(output) -> list[torch.Tensor]:
    """The weights that a model gives with output_attentions, as it computes them one by one."""
    if getattr(output, "attentions", None) is not None:
        return list(output.attentions)
    pairs = zip(output.decoder_attentions, output.cross_attentions, strict=True)
    return [*output.encoder_attentions, *(each for pair in pairs for each in pair)]
