"""The page's wrong formulas give the numbers of attn_core.mistakes."""

import math

import pytest
import torch

from attn_core import toy, trace
from attn_core.checks import STAGES
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.examples import projected
from attn_core.mistakes.questions import questions
from tests.explorer.test_numbers import payload

FORMULA = [name for name, mistake in MISTAKES.items() if mistake.is_formula]

DERIVE = """([payload, name]) => {
  const data = new inside.Data(payload);
  const settings = { scale: data.scale, mask: "given" };
  const found = {};
  for (const stage in inside.FORMULAS) found[stage] = [];
  for (let batch = 0; batch < data.B; batch++) for (let head = 0; head < data.H; head++) {
    const formulas = inside.MISTAKES[name];
    const attention = new inside.Attention(data, { batch, head, ...settings }, formulas);
    for (const stage in found) for (let i = 0; i < data.L; i++)
      found[stage].push(Array.from(attention.row(stage, i), String));
  }
  return found;
}"""


@pytest.mark.parametrize("name", FORMULA)
def test_the_page_gives_pythons_numbers(inside, name):
    """Python computes in float32, the page in float64."""
    k = torch.tensor([[-110.0], [-111.0], [-112.0]])
    low = trace(torch.ones(2, 1), k, k, scale=1.0)  # exp of each score is 0
    records = [*(question.trace() for question in questions()), projected(), low]
    for record in (*records, MISTAKES[name].seen_on()):
        stages = inside.evaluate(DERIVE, [payload(record), name])
        wanted = MISTAKES[name].apply(record)
        for stage in STAGES:
            cells = [[float(x.replace("Infinity", "inf")) for x in row] for row in stages[stage]]
            theirs = wanted[stage].reshape(-1, wanted[stage].shape[-1]).double()
            torch.testing.assert_close(
                torch.tensor(cells, dtype=torch.float64),
                theirs,
                rtol=1e-4,
                atol=1e-5,
                equal_nan=True,
                msg=lambda text, stage=stage: f"{stage}: {text}",
            )


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["naive-softmax", "rounded-weights"])
def test_the_page_rounds_as_the_dtype_does(inside, name, dtype):
    """exp(88.8) is beyond float32; 0.25 + 1e-10 is 0.25 there, and is rounded to even."""
    high = trace(*[toy.journey().x.to(dtype) * 12] * 3)
    apart = torch.tensor([[math.log(0.25 + 1e-10)], [math.log(0.75 - 1e-10)]], dtype=dtype)
    near = trace(torch.ones(1, 1, dtype=dtype), apart, apart, scale=1.0)
    for record in (high, near):
        rows = inside.evaluate(DERIVE, [payload(record), name])["weights"]
        weights = torch.tensor([[float(x) for x in row] for row in rows])
        wanted = MISTAKES[name].apply(record)["weights"].float()
        torch.testing.assert_close(
            weights, wanted.reshape(weights.shape), rtol=1e-3, atol=1e-3, equal_nan=True
        )
        if name == "naive-softmax" and record is high:
            assert bool(weights.isnan().any()) == (dtype != torch.float64)
