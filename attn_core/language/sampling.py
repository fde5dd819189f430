"""How the next token is chosen from the scores of all tokens."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import check_tensor, check_whole, is_number, shape_of
from attn_core.dropout import LOW_32, philox


@dataclass(frozen=True)
class Sampling:
    """Temperature, then top-k, then top-p, then min-p; what is left is drawn by its probability.

    >>> scores = torch.tensor([9.0, 4.0, 1.0]).log()
    >>> Sampling().probabilities(scores)
    tensor([0.6429, 0.2857, 0.0714], dtype=torch.float64)
    >>> Sampling(temperature=2.0).probabilities(scores)
    tensor([0.5000, 0.3333, 0.1667], dtype=torch.float64)
    >>> Sampling(top_p=0.9).probabilities(scores)
    tensor([0.6923, 0.3077, 0.0000], dtype=torch.float64)

    temperature: what the scores are divided by; 0 always takes the likeliest token (greedy).
    top_k: how many of the likeliest tokens are left.
    top_p: leaves the fewest of the likeliest tokens that together have at least this probability.
    min_p: leaves the tokens with at least this share of the likeliest one's probability.
    seed: a whole number below 2**53. Token n of a text is drawn by number n of Philox under this
        seed, the same on every machine.

    The order matters: at temperature 2, top_p=0.9 keeps all three tokens of 9 : 4 : 1; if top-p
    came first, two would be left. Holtzman et al., "The Curious Case of Neural Text Degeneration"
    (2020), 3.1 (top-p); Fan et al., "Hierarchical Neural Story Generation" (2018), 5.1 (top-k);
    Nguyen et al., "Turning Up the Heat: Min-p Sampling" (2024), 3. Taught in chapter 12.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not is_number(self.temperature) or not 0 <= self.temperature < float("inf"):
            raise ValueError(
                f"temperature must be a finite number of at least 0, got {self.temperature!r}"
            )
        if self.top_k is not None:
            check_whole("top_k", self.top_k, least=1)
        for name in ("top_p", "min_p"):
            share = getattr(self, name)
            if share is not None and not (is_number(share) and 0 <= share <= 1):
                raise ValueError(f"{name} must be a number from 0 to 1, got {share!r}")
        check_whole("seed", self.seed)

    def probabilities(self, scores: Float[Tensor, "*B words"]) -> Float[Tensor, "*B words"]:
        """The probability that each token is chosen, in float64; rows add up to 1."""
        check_tensor("scores", scores)
        if scores.ndim < 1 or not scores.numel():
            raise ValueError(f"scores must be [*, words], at least one, got {shape_of(scores)}")
        scores = scores.double()
        if self.temperature == 0:
            best = scores.argmax(-1, keepdim=True)
            return torch.zeros_like(scores).scatter_(-1, best, 1.0)
        # The largest first: divided by a small temperature, others may overflow to -inf.
        scores = (scores - scores.max(-1, keepdim=True).values) / self.temperature
        likeliest = torch.sort(scores, dim=-1, descending=True, stable=True)
        shares = torch.softmax(likeliest.values, -1)
        kept = torch.ones_like(shares, dtype=torch.bool)
        if self.top_k is not None:
            kept[..., self.top_k :] = False
        if self.top_p is not None:
            shares = rescaled(shares * kept)
            # One is left if those before it have less than top_p together.
            kept = kept & (shares.cumsum(-1) - shares < self.top_p)
            kept[..., 0] = True
        if self.min_p is not None:
            kept = kept & (shares >= self.min_p * shares[..., :1])
        left = rescaled(shares * kept)
        return torch.zeros_like(left).scatter_(-1, likeliest.indices, left)

    def choose(self, scores: Float[Tensor, "words"], n: int = 0) -> int:
        """The id of token n of a text, drawn from the scores of one position.

        >>> scores = torch.tensor([9.0, 4.0, 1.0]).log()
        >>> [Sampling(seed=1).choose(scores, n) for n in range(8)]
        [1, 1, 0, 1, 0, 0, 0, 0]
        """
        if scores.ndim != 1:
            raise ValueError(f"scores must be those of one position, got {shape_of(scores)}")
        shares = self.probabilities(scores)
        if self.temperature == 0:
            return int(shares.argmax())
        sums = shares.cumsum(-1)
        drawn = int(torch.searchsorted(sums, uniform(n, self.seed) * sums[-1], right=True))
        return min(drawn, int(shares.nonzero()[-1]))


GREEDY = Sampling(temperature=0.0)


def rescaled(shares: Float[Tensor, "*B words"]) -> Float[Tensor, "*B words"]:
    return shares / shares.sum(-1, keepdim=True)


def uniform(n: int, seed: int) -> float:
    """A number of at least 0 and below 1, drawn for token n: 53 bits of Philox."""
    words = (torch.tensor(word) for word in (n & LOW_32, n >> 32, 0, 0))
    c0, c1, c2, c3 = words
    high, low = (int(w) for w in philox((c0, c1, c2, c3), (seed & LOW_32, seed >> 32))[:2])
    return ((high << 21) | (low >> 11)) / 2**53
