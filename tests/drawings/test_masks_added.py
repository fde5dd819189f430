"""Two masks of finite numbers, added: counted, and their weights framed where they leak."""

import re

import pytest
import torch

from attn_core import causal, toy
from attn_core.views import drawings

IS_WORD = torch.tensor([False, False, True, True])
MASKS = {"causal": causal(), "padding": IS_WORD.expand(4, 4)}
TOKENS = ["pad", "pad", "one", "step"]


def frames(drawing):
    return len(re.findall('class="key-line"', drawing.svg()))


@pytest.mark.parametrize("fill", [-1e9, torch.finfo(torch.float32).min])
def test_a_row_that_sees_nothing_takes_what_is_hidden_once(fill):
    drawing = drawings.masks_added(torch.zeros(4, 4), MASKS, TOKENS, fill)
    kept = torch.ones(4, 4).tril().bool()
    once = kept ^ IS_WORD  # hidden by one of the two
    assert frames(drawing) == once[:2].sum() == 7
    shares = [f">.{round(100 / int(n))}<" for n in once[:2].sum(dim=1) for _ in range(n)]
    for share in set(shares):
        assert drawing.svg().count(share) >= shares.count(share)
    says = "“pad 0” sees nothing, and gives 0.33 to “pad 0”, 0.33 to “one 2” and 0.33 to “step 3”"
    assert says in drawing.alt


def test_infinity_leaks_nothing_and_is_nan():
    drawing = drawings.masks_added(torch.zeros(4, 4), MASKS, TOKENS, -torch.inf)
    assert frames(drawing) == 0
    assert drawing.alt.endswith("“pad 0” sees nothing, and its weights are nan.")


def test_rows_that_see_something_leak_nothing():
    masks = {"causal": causal(), "all": torch.ones(6, 6).bool()}
    words, x = toy.journey()
    drawing = drawings.masks_added(x @ x.T, masks, words, -1e9)
    assert frames(drawing) == 0
    assert drawing.alt.endswith("No row is without a key.")
