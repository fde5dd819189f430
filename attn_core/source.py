"""Where q, k and v come from: x and three matrices."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Projection:
    """Where q, k and v come from: x and the three matrices, so that arithmetic reaches down to x.

    x [*B, T, E]; w_query, w_key [E, H·D]; w_value [E, H·Dv]; biases: None, or the three biases
    of query, key and value [H·D], [H·D], [H·Dv]. Head h owns columns h·D to (h+1)·D. Taught in
    chapters 04 and 05.
    """

    x: Float[Tensor, "*B T E"]
    w_query: Float[Tensor, "E HD"]
    w_key: Float[Tensor, "E HD"]
    w_value: Float[Tensor, "E HDv"]
    biases: tuple[Tensor, Tensor, Tensor] | None = None

    def project(self) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v of all heads side by side: [*B, T, H·D], [*B, T, H·D], [*B, T, H·Dv]."""
        q, k, v = (self.x @ w for w in (self.w_query, self.w_key, self.w_value))
        if self.biases is None:
            return q, k, v
        of_q, of_k, of_v = self.biases
        return q + of_q, k + of_k, v + of_v

    def tensors(self) -> dict[str, Tensor]:
        """All that q, k and v follow from, by names that an error can use."""
        names = ("x", "w_query", "w_key", "w_value")
        found = {f"{name} of source": getattr(self, name) for name in names}
        biases = enumerate(self.biases or ())
        return found | {f"biases[{i}] of source": bias for i, bias in biases}
