"""Rotary positions: the law of distance, both pairings against other people's formulas."""

import math

import pytest
import torch

from attn_core import Projection, causal, trace, workings
from attn_core.rotary import Rotary
from tests.attn_core.evaluated import evaluated

EIGHT = Rotary(8)


def drawn(*shape, start=0):
    n = torch.arange(torch.Size(shape).numel(), dtype=torch.float64) + start
    return (((7 * n * n + 3 * n) % 17 - 8) / 8).view(shape)


def by_complex_numbers(x, base):
    """The paper's own form: neighbours as one complex number, times e^(i·angle)."""
    T, D = x.shape[-2:]
    rate = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    turn = torch.polar(torch.ones(T, D // 2).double(), torch.arange(T)[:, None] * rate)
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn).flatten(-2)


def by_rotate_half(x, base):
    """As models in PyTorch write it: x·cos + rotate_half(x)·sin."""
    T, D = x.shape[-2:]
    rate = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = (torch.arange(T)[:, None] * rate).repeat(1, 2)
    first, second = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat([-second, first], -1) * angle.sin()


@pytest.mark.parametrize("base", [10000.0, 100_000.0, 3.0])
def test_both_pairings_are_those_of_others(base):
    x = drawn(2, 3, 5, 8)
    interleaved = Rotary(8, base, "interleaved").rotate(x)
    torch.testing.assert_close(interleaved, by_complex_numbers(x, base))
    torch.testing.assert_close(Rotary(8, base).rotate(x), by_rotate_half(x, base))
    order = [0, 4, 1, 5, 2, 6, 3, 7]  # neighbours of one pairing are halves of the other
    torch.testing.assert_close(Rotary(8, base).rotate(x)[..., order], Rotary(
        8, base, "interleaved").rotate(x[..., order]))  # fmt: skip


def test_a_score_depends_on_the_distance_alone():
    q, k = drawn(1, 8), drawn(1, 8, start=40)
    for pairing in ("halves", "interleaved"):
        rotary = Rotary(8, pairing=pairing)

        def score(m, n, rotary=rotary):
            return rotary.rotate(q, torch.tensor([m])) @ rotary.rotate(k, torch.tensor([n])).mT

        near = [score(n + 3, n).item() for n in (0, 1, 50)]
        assert near == pytest.approx([near[0]] * 3, abs=1e-12)
        assert score(0, 3).item() != pytest.approx(near[0], abs=1e-3)


def test_the_angle_of_three_four_five():
    """cos 0.6 and sin 0.8: the scores of (1, 0) with itself at distances 0 to 3 are exact."""
    rotated = Rotary(2).rotate(
        torch.tensor([[1.0, 0.0]]).double().expand(4, 2), torch.arange(4).double() * math.acos(0.6)
    )
    scores = rotated[0] @ rotated.mT
    assert scores.tolist() == pytest.approx([1, 0.6, -0.28, -0.936], abs=1e-12)


def test_mixed_up_pairings_give_another_score():
    q, k = torch.tensor([[1.0, 2.0, 0.0, 1.0]]), torch.tensor([[2.0, 1.0, 1.0, 0.0]])
    places = torch.tensor([1])

    def score(rotary):
        return (rotary.rotate(q, places) @ k.mT).item()

    assert score(Rotary(4)) != pytest.approx(score(Rotary(4, pairing="interleaved")), abs=0.5)


def test_heads_side_by_side_are_rotated_as_if_apart():
    x = drawn(2, 3, 5, 8)
    side = x.transpose(1, 2).flatten(2)
    assert torch.equal(EIGHT.rotate(side), EIGHT.rotate(x).transpose(1, 2).flatten(2))


def test_a_row_of_positions_for_each_sentence():
    x = drawn(2, 3, 5, 8)
    places = torch.stack([torch.arange(5), torch.arange(5) + 7])
    both = EIGHT.rotate(x, places)
    for b in range(2):
        assert torch.equal(both[b], EIGHT.rotate(x[b], places[b]))
    assert torch.equal(EIGHT.rotate(x, places[:1]), EIGHT.rotate(x, places[0]))
    assert torch.equal(EIGHT.rotate(x[:, 0], places), both[:, 0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_short_numbers_are_rotated_in_float32(dtype):
    x = drawn(1, 600, 8).to(dtype)
    wanted = EIGHT.rotate(x.double())
    made = EIGHT.rotate(x)
    assert made.dtype == dtype
    room = 2 * torch.finfo(dtype).eps * wanted.abs().max().item()
    torch.testing.assert_close(made.double(), wanted, atol=room, rtol=0)


def test_gradients_are_those_of_the_formula():
    x = drawn(2, 4, 8).requires_grad_()
    assert torch.autograd.gradcheck(EIGHT.rotate, x)


def record(pairing="halves", positions=None, group=2):
    x = drawn(2, 4, 3)
    matrices = [drawn(3, 8, start=1), drawn(3, 8 // group, start=2), drawn(3, 8 // group, start=3)]
    biases = tuple(drawn(len(w.T), start=n) for n, w in enumerate(matrices))
    source = Projection(x, *matrices, biases, Rotary(4, 10.0, pairing), positions)
    heads = [rows.unflatten(-1, (-1, 4)).transpose(1, 2) for rows in source.project()]
    return trace(*heads, keep=causal(), source=source)


PLACES = torch.tensor([[0.0, 1, 2, 3], [5, 6, 7.5, 8]])


@pytest.mark.parametrize("pairing", ["halves", "interleaved"])
@pytest.mark.parametrize("positions", [None, PLACES[1], PLACES], ids=["none", "one", "each"])
def test_a_rotated_number_opens_down_to_x(pairing, positions):
    made = record(pairing, positions)
    for batch, head, row, d in [(0, 0, 1, 0), (1, 1, 3, 2), (1, 0, 2, 3), (0, 1, 0, 1)]:
        score = workings(made, "scores", row, row, batch=batch, head=head)
        for vector, key_head in zip(score.parts, (head, head // made.group), strict=True):
            rotated = vector.parts[d]
            wanted = getattr(made, vector.name)[batch, key_head, row, d].item()
            assert rotated.value == pytest.approx(wanted, abs=1e-12)
            assert evaluated(rotated.how.split(" = ")[0]) == pytest.approx(wanted, abs=2e-3)
            own, beside, angle = rotated.parts
            assert [own.name, beside.name] == [f"projected_{vector.name}"] * 2
            assert angle.name == "angle"
            for part in rotated.parts:
                computed, said = part.how.rsplit(" = ", 1)
                assert evaluated(computed) == pytest.approx(part.value, abs=2e-3)
                assert float(said) == pytest.approx(part.value, abs=5.1e-5)


def test_values_are_not_rotated():
    made = record()
    weight, *_, value = workings(made, "output", 1, 0, batch=0, head=0).parts
    assert weight.name == "weights"
    assert value.name == "v"
    assert not value.parts
    assert "cos" not in value.how


def test_a_source_has_a_copy_of_its_positions():
    places = torch.arange(4.0)
    made = record(positions=places)
    places += 9
    assert workings(made, "scores", 1, 1, batch=0, head=0).parts[0].parts[0].parts[2].value == 1


def test_a_source_must_turn_the_heads_that_were_traced():
    x = drawn(4, 4)
    eye = torch.eye(4).double()
    with pytest.raises(ValueError, match="rotary of source must have q's head_dim 4, got 2"):
        trace(x, x, x, source=Projection(x, eye, eye, eye, rotary=Rotary(2)))
    with pytest.raises(ValueError, match="source must give q, got numbers that are off by"):
        trace(x, x, x, source=Projection(x, eye, eye, eye, rotary=Rotary(4)))


def test_the_smallest_base_rotates_all_pairs_alike():
    assert Rotary(8, 1).rates == [1.0] * 4


def test_far_positions_have_their_angle_to_the_last_digit():
    (angles,) = Rotary(8, 3.0).angles(torch.tensor([100_003]))
    assert angles.tolist() == [100_003 * 3.0 ** (-2 * i / 8) for i in range(4)]


def test_half_precision_is_rounded_once():
    x = drawn(2, 5, 8).half()
    places = torch.arange(5) + 1000
    once = EIGHT.rotate(x.float(), places).half()
    assert torch.equal(EIGHT.rotate(x, places), once)
