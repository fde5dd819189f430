"""A sweep says what does not fit in one sentence."""

from attn_core import causal, padding, sweep
from tests.attn_core.reference import drawn
from tests.errors.sentences import refused, sentences

X = drawn(1, 4, 2)
LONG = drawn(1, 2048, 2)
KINDS = {
    "scale must be a list of settings, got 0.5": lambda: sweep(X, X, X, scale=0.5),
    "keep must be a list of settings, got a Keep": lambda: sweep(X, X, X, keep=causal()),
    "dropout must be a Dropout or None, got float": lambda: sweep(X, X, X, dropout=[0.5]),
    "scale must be a number or None, got str": lambda: sweep(X, X, X, scale=[1.0, "a"]),
    "q must be a torch tensor, got list": lambda: sweep([[1.0]], [[1.0]], [[1.0]]),
}
VALUES = {
    "dropout must name at least one setting, got an empty list":
        lambda: sweep(X, X, X, dropout=[]),
    "q, k and scale must give scores below 1.8e+308, the largest torch.float64, "
    "got numbers up to 1.3 and 1.3 and scale 1e+308": lambda: sweep(X, X, X, scale=[1.0, 1e308]),
    "lengths must name one length for each of the 1 sequences, got 2":
        lambda: sweep(X, X, X, keep=[padding([1, 2])]),
    "a sweep must have at most 2**26 weights over all its settings, got 17 × 1 × 1 × 1 × 1 × "
    "2048 × 2048: trace the settings one by one":
        lambda: sweep(LONG, LONG, LONG, scale=[1.0] * 17),
}  # fmt: skip


@sentences((TypeError, KINDS), (ValueError, VALUES))
def test_what_does_not_fit_is_said(given, kind, sentence):
    refused(given, kind, sentence)
