"""Mistakes around the formulas: how a module splits, merges, normalises and places its numbers."""

from attn_core.layers import DecoderLayer, LayerNorm, PositionalEncoding, Residual
from attn_core.mistakes import layers, runs
from attn_core.mistakes.mistake import Mistake
from attn_core.modules import MultiHeadAttention, StackedHeads

WIRING = (
    Mistake(
        name="heads-split-by-view",
        title="heads split by view alone",
        does=(
            "Rows of shape [B, T, H·D] are read as [B, H, T, D], so a head gets some of the words "
            "instead of a part of each word."
        ),
        symptom="The shapes are right and the model trains, but no head sees all the words.",
        invisible="With one head, or with one word.",
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
        does="All heads use the same three matrices, so they all compute the same thing.",
        symptom=(
            "The maps of all heads are equal, and the merged output repeats the numbers of one "
            "head."
        ),
        invisible="With one head.",
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
        does="A mask of shape [L, S] becomes [L, 1, S], and broadcasting treats its rows as heads.",
        symptom=(
            "With as many heads as words the code runs, and words see the future. With one head, "
            "broadcasting copies the scores once for each word. With any other number of heads "
            "torch stops with an error."
        ),
        invisible="Without a mask, or with one word.",
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
        does="[B, H, T, D] is reshaped to [B, T, H·D] without a transpose before it.",
        symptom="The shapes are right, but each word's row holds numbers from several words.",
        invisible="With one head, or with one word.",
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
        symptom="With two heads, twice as many words come out, each half as wide.",
        invisible="With one head.",
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
        does=(
            "The spread is computed with x.std(), which divides by n − 1; layer norm divides by n."
        ),
        symptom=(
            "Normed tokens are too small by a factor of √((n − 1)/n): 0.8660 at width 4 and 0.9990 "
            "at width 512."
        ),
        invisible=(
            "In tokens whose numbers are all equal, and it nearly hides where the width is large. "
            "The check still catches it there: the squares of a normed token should add up to n, "
            "but here they add up to n − 1."
        ),
        wrong="(x - mean) / (x.std(-1, keepdim=True) + eps)",
        right="(x - mean) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()",
        check="(normed.square().sum(-1).amax() - normed.shape[-1]).abs() < 0.5",
        source=("harvardnlp/annotated-transformer#119", "codertimo/BERT-pytorch#30", "4-10"),
        where="LayerNorm",
        run=runs.either(runs.norm, LayerNorm, layers.SampleNorm),
        replaces=(layers.SampleNorm,),
    ),
    Mistake(
        name="position-exponent",
        title="an exponent that is doubled",
        does="10000^(2i/width) is computed with an i that already counts in twos.",
        symptom=(
            "All pairs of columns but the first turn too slowly, so they hardly differ between "
            "places."
        ),
        invisible="At width 2, whose only pair has the exponent 0.",
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
        does="Places are counted along the first axis, which is the axis of the sentences.",
        symptom=(
            "All words of a sentence get the same place, so their order once again makes no "
            "difference."
        ),
        invisible="With one sentence of one word.",
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
        does=(
            "The self-attention, with its causal mask off, also reads the memory, so one set of "
            "weights does both jobs."
        ),
        symptom=(
            "The weights of cross_attention do nothing: change its out_proj, and the layer's "
            "output stays the same."
        ),
        invisible=(
            "While both have the same weights, as right after one was copied from the other. The "
            "check does not notice when both names refer to one object; to catch that, also check "
            "`layer.self_attention is not layer.cross_attention`."
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
        does="Dropout is applied to the normed sum, not to what the sublayer adds.",
        symptom=(
            "In training the stream itself then contains zeros, and no later layer can recover "
            "what was there."
        ),
        invisible="Without dropout, as in eval.",
        wrong="dropout(norm(x + sublayer(x)))",
        right="norm(x + dropout(sublayer(x)))",
        check="torch.allclose(stream, norm(x))",
        source=("4-08",),
        where="Residual",
        run=runs.either(runs.after_norm, Residual, layers.DropoutAfterNorm),
        replaces=(layers.DropoutAfterNorm,),
    ),
)
