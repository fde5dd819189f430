"""Derivatives of every order and in every direction are those of the formula, on every route.

Long calls derive their weights again on the way back. Where q, k and v are one tensor, or come from
one, that once counted the caller's graph as well: gradients came out two and three times too large.
"""

from functools import partial

import pytest
import torch

from attn_core import Dropout, attention, causal, padding
from attn_core.call import Call
from attn_core.engines.gradients import needs_gradients
from attn_core.engines.tiled import TILED
from tests.attn_core.derivatives import (
    SHARED,
    WAYS,
    by_formula,
    derivative,
    loss,
    numerical,
)
from tests.attn_core.reference import drawn

# torch says it of itself when forward mode is first asked for.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")

WIDTH = 2
LONG = 260  # one map of LONG×LONG cells is not made whole


def by_tiles(q, k, v, keep):
    call = Call.of(q, k, v, keep)
    return call.in_lead(TILED.forward(call)[0])


# Name: what computes, tokens, the mask, the same as cells.
ROUTES = {
    "formulas": (attention, 5, causal(), lambda T: torch.ones(T, T, dtype=torch.bool).tril()),
    "torch's own": (attention, LONG, None, lambda T: None),
    "torch's own, padding": (
        attention, LONG, padding([LONG - 9]), lambda T: torch.arange(T) < T - 9
    ),
    "tiles": (by_tiles, 40, causal(), lambda T: torch.ones(T, T, dtype=torch.bool).tril()),
}  # fmt: skip


def both(route):
    attend, T, keep, cells = ROUTES[route]
    x = drawn(1, 1, T, 3 * WIDTH)
    return x, partial(attend, keep=keep), partial(by_formula, keep=cells(T))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("route", ROUTES)
def test_derivatives_are_those_of_the_formula(route, shared, way):
    x, ours, formula = both(route)
    got = derivative(way, partial(loss, ours, shared, WIDTH), x)
    wanted = derivative(way, partial(loss, formula, shared, WIDTH), x)
    torch.testing.assert_close(got, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("route", ROUTES)
def test_differences_confirm_them(route, shared):
    x, ours, _ = both(route)
    assert numerical(ours, shared, WIDTH, x)


@pytest.mark.parametrize("route", ROUTES)
def test_a_sample_of_vmap_is_what_it_is_alone(route):
    """Dropout included: its bits are those of one call."""
    x, _, _ = both(route)
    keep, dropout = ROUTES[route][2], Dropout(0.5, 3)
    x = torch.stack([x, x.cos(), -x])

    def attend(x):
        return attention(*x.chunk(3, -1), keep=keep, dropout=dropout)

    alone = torch.stack([attend(sample) for sample in x])
    torch.testing.assert_close(torch.func.vmap(attend)(x), alone)
    mapped = torch.func.vmap(attend, in_dims=2, out_dims=2)(x.movedim(0, 2))
    torch.testing.assert_close(mapped.movedim(2, 0), alone)


@pytest.mark.parametrize("place", range(3), ids="qkv")
@pytest.mark.parametrize("route", ROUTES)
def test_a_step_of_one_input_while_the_others_stand_still(route, place):
    x, ours, formula = both(route)
    inputs = x.chunk(3, -1)

    def moved(attend, part):
        return attend(*(part if at == place else other for at, other in enumerate(inputs)))

    step = inputs[place], inputs[place].cos()
    got, wanted = (
        torch.func.jvp(partial(moved, attend), step[:1], step[1:])[1] for attend in (ours, formula)
    )
    torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("route", sorted(set(ROUTES) - {"formulas"}))
def test_autocast_lowers_no_derivative_of_a_long_call(route):
    """Those of short ones are torch's operations, one by one: within autocast they are lowered."""
    x, ours, formula = both(route)

    def first_and_second(attend, is_lowered):
        live = x.float().requires_grad_()
        value = loss(attend, "chunks", WIDTH, live)
        with torch.autocast("cpu", torch.bfloat16, enabled=is_lowered):
            first = torch.autograd.grad(value, live, create_graph=True)[0]
            return first, torch.autograd.grad(first.square().sum(), live)[0]

    got, wanted = first_and_second(ours, True), first_and_second(formula, False)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


def test_gradients_are_needed_where_one_input_asks_and_none_forbids():
    asks, idle = torch.ones(1, requires_grad=True), torch.ones(1)
    assert needs_gradients(idle, idle, asks)
    assert not needs_gradients(idle, idle)
    with torch.no_grad():
        assert not needs_gradients(asks)


@pytest.mark.parametrize("T", [5, LONG])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_forward_mode_keeps_the_dtype(T, dtype):
    x = drawn(1, 1, T, 4).float()
    got = torch.func.jvp(lambda x: attention(x, x, x), (x.to(dtype),), (x.to(dtype),))[1]
    wanted = torch.func.jvp(lambda x: attention(x, x, x), (x,), (x,))[1]
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), wanted, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("T", [5, LONG])
def test_the_mask_of_a_function_may_be_made_in_it(T):
    x = drawn(1, 1, T, 4)

    def value(attend, x):
        return attend(x, x, x, keep=(x @ x.mT).abs() >= 0.0).sin().sum()

    for way in (torch.func.grad, *WAYS[6:10]):
        got = derivative(way, partial(value, attention), x)
        torch.testing.assert_close(got, derivative(way, partial(value, by_formula), x))


def test_second_derivatives_of_maps_too_large_are_refused():
    x = torch.zeros(8200, 1, requires_grad=True)
    first = torch.autograd.grad(attention(x, x, x).sum(), x, create_graph=True)[0]
    sentence = (
        r"^q and k must give at most 2\*\*26 cells for second derivatives and for forward mode, "
        r"got \(1, 1, 8200, 8200\)$"
    )
    with pytest.raises(ValueError, match=sentence):
        first.sum().backward()
    with pytest.raises(ValueError, match=sentence):
        torch.func.jvp(lambda x: attention(x, x, x), (x.detach(),), (x.detach(),))
