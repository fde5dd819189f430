"""Every class and function of the five sources has a working counterpart.

The names are those of the sources. Beside each stand the tests in tests/attn_core that compare its
counterpart with torch's own or with its formula.
"""

from __future__ import annotations

import pytest
import torch

from tests.attn_core import test_masks, test_modules, test_stages, test_transformer

COUNTERPARTS = {
    "SelfAttention_v1": [test_modules.test_self_attention_with_the_same_matrices_is_the_same],
    "SelfAttention_v2": [test_modules.test_self_attention_is_torchs],
    "CausalAttention": [test_modules.test_causal_attention_is_torchs],
    "MultiHeadAttentionWrapper": [test_modules.test_stacked_heads_stand_side_by_side],
    "MultiHeadAttention (the long note)": [test_modules.test_split_heads_equal_stacked_heads],
    "MultiHeadAttention (the masking note)": [
        lambda: test_modules.test_multi_head_attention_is_torchs(False),
        test_modules.test_masks_of_the_module_and_of_the_call_are_joined,
    ],
    "MutiHeadAttention (the from-scratch note)": [
        lambda: test_modules.test_multi_head_attention_is_torchs(True),
    ],
    "ScaledDotProductAttention": [test_stages.test_output_equals_torchs_own_attention],
    "self_attention": [test_modules.test_self_attention_is_torchs],
    "generate_prefill_mask": [lambda: test_masks.test_drawings(*test_masks.DRAWINGS["prefill"])],
    "generate_causal_mask": [lambda: test_masks.test_drawings(*test_masks.DRAWINGS["causal 3x3"])],
    "LayerNorm": [test_transformer.test_layer_norm_is_torchs],
    "WordEmbedding": [test_transformer.test_word_embedding_is_its_formula],
    "PositionalEncoding": [
        test_transformer.test_sinusoids_are_the_papers,
        test_transformer.test_positions_are_added_along_the_tokens,
    ],
    "FeedForward": [test_transformer.test_feed_forward_is_its_formula],
    "SublayerConnection": [lambda: test_transformer.test_encoder_layer_is_torchs(False)],
    "EncoderLayer": [lambda: test_transformer.test_encoder_layer_is_torchs(False)],
    "DecoderLayer": [
        lambda: test_transformer.test_decoder_layer_is_torchs(False),
        test_transformer.test_right_to_left_memory_is_a_fourth_sublayer,
    ],
    "clone_module_to_modulelist": [test_transformer.test_each_layer_starts_with_weights_of_its_own],
}


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_counterpart(name):
    torch.manual_seed(0)
    for check in COUNTERPARTS[name]:
        check()
