"""Mistakes around the formulas: how a module splits, merges, normalises and places its numbers."""

from attn_core.layers import DecoderLayer, LayerNorm, PositionalEncoding, Residual
from attn_core.mistakes import layers, runs
from attn_core.mistakes.mistake import Mistake
from attn_core.modules import MultiHeadAttention, StackedHeads

WIRING = (
    Mistake(
        name="heads-split-by-view",
        title="heads split by view alone",
        does="[B, T, H·D] is read as [B, H, T, D]: a head gets whole words, not a part of each.",
        symptom="Shapes are right, training works, and each head sees a few of the words.",
        invisible="One head, or one word.",
        wrong="q = rows.view(B, H, T, D)",
        right="q = rows.view(B, T, H, D).transpose(1, 2)",
        check="torch.equal(q[:, 0], rows[..., :D])",
        source=("reczoo/FuxiCTR#30",),
        where="MultiHeadAttention",
        inputs=runs.split_by_view,
        run=runs.either(runs.several_heads, MultiHeadAttention, layers.SplitByView),
        replaces=(layers.SplitByView,),
    ),
    Mistake(
        name="shared-heads",
        title="one projection for all heads",
        does="All heads use the same three matrices, so they all compute the same.",
        symptom="Equal maps in all heads; the merged output has the rank of one head.",
        invisible="One head.",
        wrong="heads = [attend(x) for _ in range(num_heads)]",
        right="heads = [attend(x) for attend in self.heads]",
        check="not torch.equal(q[:, 0], q[:, -1])",
        source=("1-06",),
        where="MultiHeadAttention",
        inputs=runs.first_head_for_all,
        run=runs.either(runs.several_heads, MultiHeadAttention, layers.SharedHeads),
        replaces=(layers.SharedHeads,),
    ),
    Mistake(
        name="mask-on-heads",
        title="the mask on the axis of the heads",
        does="A mask [L, S] is made [L, 1, S], and broadcasting reads its rows as heads.",
        symptom=(
            "With as many heads as words it runs, and words see the future. A single head comes "
            "out as many times as there are words. Any other number is a crash."
        ),
        invisible="Without a mask, or for one word.",
        wrong="scores.masked_fill(~keep.unsqueeze(1), -torch.inf)",
        right="scores.masked_fill(~keep, -torch.inf)  # [L, S] fits [B, H, L, S]",
        check="(weights.triu(1) == 0).all()",
        source=("ml-explore/mlx-lm#1903", "lucidrains/graph-transformer-pytorch#2", "4-11"),
        where="MultiHeadAttention",
        inputs=runs.mask_read_as_heads,
        run=runs.either(runs.mask_on_heads, MultiHeadAttention, layers.MaskOnHeads),
        replaces=(layers.MaskOnHeads,),
    ),
    Mistake(
        name="heads-merged-by-view",
        title="heads merged by view alone",
        does="[B, H, T, D] is reshaped to [B, T, H·D] with no transpose before.",
        symptom="Shapes are right; a word's row holds one head's numbers of several words.",
        invisible="One head, or one word.",
        wrong="merged = heads.reshape(B, T, H * D)",
        right="merged = heads.transpose(1, 2).reshape(B, T, H * D)",
        check="torch.equal(merged[..., : heads.shape[-1]], heads[:, 0])",
        source=(
            "jsbaan/transformer-from-scratch#6",
            "ajhalthor/Transformer-Neural-Network#4",
            "jadore801120/attention-is-all-you-need-pytorch#7",
        ),
        where="MultiHeadAttention",
        run=runs.either(runs.merged, MultiHeadAttention, layers.MergedByView),
        replaces=(layers.MergedByView,),
    ),
    Mistake(
        name="heads-along-tokens",
        title="heads concatenated along the tokens",
        does="The heads' outputs are put one under the other instead of side by side.",
        symptom="Twice as many words, each half as wide.",
        invisible="One head.",
        wrong="torch.cat([head(x) for head in self.heads], dim=1)",
        right="torch.cat([head(x) for head in self.heads], dim=-1)",
        check="made.shape[1] == x.shape[1]",
        source=("0-02",),
        where="StackedHeads",
        run=runs.either(runs.along_tokens, StackedHeads, layers.HeadsAlongTokens),
        replaces=(layers.HeadsAlongTokens,),
    ),
    Mistake(
        name="layer-norm-n-minus-1",
        title="a variance over n − 1",
        does="The spread is x.std(), which divides by n − 1; layer norm divides by n.",
        symptom=(
            "Normed tokens too small by √((n − 1)/n): an eighth at width 4, a thousandth at 512."
        ),
        invisible="Tokens whose numbers are all equal; and nearly so where the width is large.",
        wrong="(x - mean) / (x.std(-1, keepdim=True) + eps)",
        right="(x - mean) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()",
        check="(normed.var(-1, correction=0).amax() - 1).abs() < 1e-2",
        source=("harvardnlp/annotated-transformer#119", "codertimo/BERT-pytorch#30", "4-10"),
        where="LayerNorm",
        run=runs.either(runs.norm, LayerNorm, layers.SampleNorm),
        replaces=(layers.SampleNorm,),
    ),
    Mistake(
        name="position-exponent",
        title="an exponent that is doubled",
        does="10000^(2i/width) is used with an i that already counts in twos.",
        symptom=(
            "All but the first pair turn too slowly: their columns hardly differ between places."
        ),
        invisible="A width of 2, where the exponent is 0.",
        wrong="for i in range(0, width, 2): rate = 10000 ** (-2 * i / width)",
        right="for i in range(0, width, 2): rate = 10000 ** (-i / width)",
        check="abs(table[1, 2].item() - math.sin(10000 ** (-2 / width))) < 1e-6",
        source=("tensorflow/text#1122", "Kyubyong/transformer#38", "SamLynnEvans/Transformer#25"),
        where="PositionalEncoding",
        run=runs.either(runs.exponent, PositionalEncoding, layers.DoubledExponent),
        replaces=(layers.DoubledExponent,),
    ),
    Mistake(
        name="positions-along-batch",
        title="positions along the batch",
        does="The places are counted along the first axis, that of the sentences.",
        symptom="All words of a sentence get the same place: order makes no difference again.",
        invisible="One sentence of one word.",
        wrong="x + positions[: x.shape[0], None]",
        right="x + positions[: x.shape[1]]",
        check="not torch.equal(table[0], table[1])",
        source=("cmu-l3/anlp-fall2025-code#1", "songyangco/GETNext#2", "4-16"),
        where="PositionalEncoding",
        run=runs.either(runs.along_batch, PositionalEncoding, layers.PlacesAlongBatch),
        replaces=(layers.PlacesAlongBatch,),
    ),
    Mistake(
        name="one-attention-twice",
        title="one attention for both places of a decoder layer",
        does="The self-attention, its causal mask off, reads the memory too: one set of weights.",
        symptom=(
            "The weights of cross_attention do nothing: the layer's output is the same before and "
            "after its out_proj is changed."
        ),
        invisible=(
            "As long as both have the same weights, as right after copying. And this check does "
            "not see one object under both names; for that ask "
            "`layer.self_attention is not layer.cross_attention` too."
        ),
        wrong="x = residual(x, lambda z: self.self_attention(z, memory))",
        right="x = residual(x, lambda z: self.cross_attention(z, memory))",
        check="not torch.equal(before, after)",
        source=("maxjcohen/transformer#23", "4-07"),
        where="DecoderLayer",
        run=runs.either(runs.one_attention, DecoderLayer, layers.OneAttention),
        replaces=(layers.OneAttention,),
    ),
    Mistake(
        name="dropout-after-norm",
        title="dropout after the norm",
        does="Dropout falls on the sum, not on what the sublayer adds to it.",
        symptom="In training zeros in the stream itself, which no later layer can mend.",
        invisible="Without dropout: in eval.",
        wrong="dropout(norm(x + sublayer(x)))",
        right="norm(x + dropout(sublayer(x)))",
        check="torch.allclose(stream, norm(x))",
        source=("4-08",),
        where="Residual",
        run=runs.either(runs.after_norm, Residual, layers.DropoutAfterNorm),
        replaces=(layers.DropoutAfterNorm,),
    ),
)
