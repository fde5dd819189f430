"""Small models of each kind, with weights from a rule, and the steps that are recorded of them."""

from functools import cache

import torch

from attn_core.steps import recording
from attn_core.transformer import Transformer
from attn_core.translators.recurrent import Translator
from generate import model_vectors

SOURCE, TARGET = torch.tensor([[3, 5, 4]]), torch.tensor([[1, 3]])


def filled(model, dtype=torch.float64):
    """Weights that are the same on every machine."""
    return model_vectors.filled(model).to(dtype)


def transformer(norm_first=False):
    sizes = {"width": 4, "num_heads": 2, "hidden": 8, "num_layers": 2, "longest": 8}
    return filled(Transformer(6, 6, **sizes, norm_first=norm_first)), (SOURCE, TARGET)


def translator(attends):
    return filled(Translator(6, 6, width=3, attends=attends)), (SOURCE, [3], TARGET)


MODELS = {
    "transformer": transformer,
    "norm first": lambda: transformer(norm_first=True),
    "with attention": lambda: translator(attends=True),
    "one vector": lambda: translator(attends=False),
}


def one_pass(model, *args, **kwargs):
    """The steps of one call of a model."""
    with recording(model) as steps:
        model(*args, **kwargs)
    return steps


@cache
def recorded(name):
    """The steps of a pass of a model over three words and two."""
    model, words = MODELS[name]()
    with recording(model, model_vectors.WORDS) as steps:
        model(*words)
    return steps
