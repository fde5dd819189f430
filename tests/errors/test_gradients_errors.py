"""What a record says where it gives no gradients, and gradients where they give no number."""

import torch

from attn_core import causal, trace
from tests.errors.sentences import refused, sentences

RECORD = trace(*[torch.linspace(-1, 1, 24).view(2, 4, 3)] * 3, keep=causal())
LONG = trace(*[torch.linspace(-1, 1, 24_000).sin().view(2, 6000, 2)] * 3)
ONES = torch.ones(2, 4, 3)
GRADS = RECORD.gradients(ONES)
NAN = ONES.clone()
NAN[1, 2, 0] = torch.nan
STAGE = (
    "stage must be one of grad_output, grad_dropped, grad_weights, grad_masked, grad_scaled, "
    "grad_scores, got "
)
PART = (slice(0, 1), slice(0, 1))

GRAD_OUTPUT = {
    TypeError: {
        "grad_output must be a torch tensor, got int": 3,
        "grad_output must be a torch tensor, got NoneType": None,
        "grad_output must be of floating point, got torch.int64": ONES.long(),
    },
    ValueError: {
        "grad_output must have the shape of output, (2, 4, 3), got (2, 4)": ONES[..., 0],
        "grad_output must have the shape of output, (2, 4, 3), got (2, 4, 3, 1)": ONES[..., None],
        "grad_output must be on q's device cpu, got meta": ONES.to("meta"),
        "grad_output must be finite, got nan at (1, 2, 0)": NAN,
    },
}


@sentences(*GRAD_OUTPUT.items())
def test_grad_output(given, kind, sentence):
    refused(lambda: RECORD.gradients(given), kind, sentence)


def test_a_sample_of_vmap():
    refused(
        lambda: torch.vmap(RECORD.gradients)(ONES[None]),
        ValueError,
        "grad_output must be the same for all samples of torch.vmap, got one for each: "
        "call it once, on the whole batch",
    )


STAGES = {
    ValueError: {
        f"{STAGE}'weights'": [
            lambda: GRADS.stage("weights"),
            lambda: GRADS.tile("weights", *PART),
            lambda: GRADS.pooled("weights", (1, 1)),
        ],
        f"{STAGE}3": lambda: GRADS.stage(3),
        "stage 'grad_scores' must have at most 2**26 cells to be made whole, got (2, 1, 6000, "
        "6000): take one part with tile() or an overview with pooled()": (
            lambda: LONG.gradients(torch.ones(2, 6000, 2)).stage("grad_scores")
        ),
        "cols must lie between 0 and 2, got range(2, 4)": (
            lambda: GRADS.tile("grad_output", slice(0, 1), range(2, 4))
        ),
        "head must be at least 0 and below 1, got 1": [
            lambda: GRADS.tile("grad_scores", *PART, head=1),
            lambda: GRADS.pooled("grad_scores", (1, 1), head=1),
            lambda: GRADS.workings("grad_scores", 0, 0, batch=0, head=1),
        ],
        "how must be 'mean' or 'max', got 'min'": (
            lambda: GRADS.pooled("grad_scores", (1, 1), "min")
        ),
        "columns of shape must be at most 3, got 4": lambda: GRADS.pooled("grad_output", (4, 4)),
    },
    TypeError: {
        "rows must be a slice or a range, got int": (
            lambda: GRADS.tile("grad_scores", 3, slice(0, 1))
        ),
    },
}


@sentences(*STAGES.items())
def test_stages(given, kind, sentence):
    refused(given, kind, sentence)


WORKINGS = {
    ValueError: {
        "name must be one of grad_output, grad_dropped, grad_weights, grad_masked, grad_scaled, "
        "grad_scores, row_dot, grad_q, grad_k, grad_v, got 'grad_x'": ("grad_x", 0, 0),
        "row must be at least 0 and below 4, got 4": ("grad_k", 4, 0),
        "col must be at least 0 and below 3, got 3": ("grad_q", 0, 3),
        "col must be None, as row_dot has only rows, got 0": ("row_dot", 0, 0),
    },
    TypeError: {
        "col must be a whole number, got None": ("grad_scores", 0),
        "row must be a whole number, got 1.5": ("row_dot", 1.5),
    },
}


@sentences(*WORKINGS.items())
def test_workings(given, kind, sentence):
    refused(lambda: GRADS.workings(*given, batch=0), kind, sentence)
