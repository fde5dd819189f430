"""A small model that learns: task, model, optimisers and steps; and films of other models."""

import math
from functools import cache

import pytest
import torch
from torch import nn

from attn_core import watch
from attn_core.learning import (
    SGD,
    AdamW,
    AttentionOnly,
    Film,
    RepeatedSegments,
    Training,
    watch_training,
)
from attn_core.learning.task import Batch
from attn_core.masks import Keep
from attn_core.modules import StepDropout
from attn_core.steps import recording, run, workings

FIXED = RepeatedSegments(shortest=4, longest=4)
START = RepeatedSegments(has_start=True)


def test_a_text_repeats_its_segment():
    task = RepeatedSegments()
    lengths = set()
    for text in task.texts(5, range(200)):
        lengths.add(text.segment)
        assert len(set(text.ids[: text.segment])) == text.segment
        assert all(id_ == text.ids[i % text.segment] for i, id_ in enumerate(text.ids))
        assert len(text.ids) == task.length + 1
    assert lengths == {3, 4, 5, 6}


def test_a_text_depends_on_its_number_alone():
    task = RepeatedSegments()
    assert task.texts(1, range(40))[17] == task.text(1, 17)
    assert task.text(1, 17) != task.text(2, 17)
    assert START.written(START.text(1, 17)) == f"<start> {task.written(task.text(1, 17))}"


def test_what_can_be_known_of_a_text():
    """A B C A B C A: B and C come for the first time, the first A again may not be expected."""
    ids = torch.zeros(1, 7, dtype=torch.int64)
    batch = Batch(ids, ids, torch.tensor([3]), 1)
    assert batch.is_first[0].nonzero().flatten().tolist() == [1, 2]
    assert batch.is_repeat[0].nonzero().flatten().tolist() == [4, 5, 6]


def test_weights_begin_nearly_normal():
    model = AttentionOnly(8, 12, width=16, seed=4)
    numbers = torch.cat([weight.flatten() for weight in model.parameters()])
    assert len(numbers) == 2496
    assert abs(numbers.mean()) < 3 / math.sqrt(16 * 2496)
    assert numbers.std().item() == pytest.approx(1 / 4, rel=0.05)
    other = AttentionOnly(8, 12, width=16, seed=5)
    assert not torch.equal(other.positions, model.positions)


def test_every_number_of_a_pass_opens():
    training = Training()
    with recording(training.model) as steps:
        logits = training.model(training.example.ids)
    assert [step.operation for step in steps.values()][:3] == ["words", "embed", "add_positions"]
    made = run(steps).value("unembedding")
    torch.testing.assert_close(made, logits.detach(), rtol=0, atol=1e-12)
    written = workings(steps, "layers.1.attention", (0, 5, 2), "weights")
    assert written.value == pytest.approx(training.maps()[1][0, 5, 2].item(), abs=1e-12)


def test_without_a_mask_each_place_sees_all():
    model = AttentionOnly(8, 12, keep=Keep())
    seen = Training(model=model).maps()[0]
    assert (seen > 0).all()
    assert (Training().maps()[0].triu(1) == 0).all()


def plain_logits(weights, ids):
    """The model by torch's own functions alone."""
    x = weights["embedding.weight"][ids] + weights["positions"]
    n = 0
    while f"layers.{n}.attention.w_query.weight" in weights:
        query, key, value, out = (
            weights[f"layers.{n}.attention.{name}.weight"]
            for name in ("w_query", "w_key", "w_value", "out_proj")
        )
        heads = nn.functional.scaled_dot_product_attention(
            x @ query.mT, x @ key.mT, x @ value.mT, is_causal=True
        )
        x = x + heads @ out.mT
        n += 1
    return x @ weights["unembedding.weight"].mT


TORCHS = {
    "SGD": (SGD(lr=0.3), lambda w: torch.optim.SGD(w, lr=0.3)),
    "AdamW": (
        AdamW(lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
        lambda w: torch.optim.AdamW(w, lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
    ),
}


@pytest.mark.parametrize("name", TORCHS)
def test_it_learns_as_torch_does(name):
    """Autograd through another model, and an optimiser of torch.optim, step by step."""
    ours, theirs = TORCHS[name]
    training = Training(optimiser=ours)
    weights = {name: w.requires_grad_() for name, w in training.weights()}
    optimizer = theirs(list(weights.values()))
    for _ in range(30):
        batch = training.batch()
        loss = nn.functional.cross_entropy(
            plain_logits(weights, batch.ids).flatten(0, 1), batch.targets.flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert training.step().loss == pytest.approx(loss.item(), abs=1e-10)
        for weight, update in training.updates.items():
            near = {"rtol": 0, "atol": 1e-10}
            torch.testing.assert_close(update.gradient, weights[weight].grad, **near)
            torch.testing.assert_close(update.after, weights[weight].detach(), **near)


def test_three_steps_of_adamw_by_hand():
    """Loshchilov and Hutter's algorithm 2 from 2, with lr and decay 0.1."""
    adamw = AdamW(lr=0.1, betas=(0.9, 0.999), weight_decay=0.1)
    weight, moments, rows = torch.tensor([2.0], dtype=torch.float64), None, []
    for gradient in (0.5, -0.5, 0.5):
        update = adamw.update(weight, torch.tensor([gradient]).double(), moments)
        weight, moments = update.after, update.moments
        numbers = update.m_hat, update.v_hat, update.ratio, weight
        rows.append([round(number.item(), 3) for number in numbers])
    assert rows[0] == [0.5, 0.25, 1.0, 1.88]
    assert rows[1] == [-0.026, 0.25, -0.053, 1.866]
    assert rows[2] == [0.168, 0.25, 0.336, 1.814]


def test_the_parts_of_an_update_add_up():
    training = Training()
    before = dict(training.weights())
    training.run(2)
    for name, update in training.updates.items():
        assert torch.equal(update.after, update.before - update.decayed - update.moved)
        assert torch.equal(update.after, training.model.get_parameter(name).detach())
        assert not torch.equal(update.before, before[name])
    assert training.update("positions").moments.step == 2


def test_a_first_step_moves_each_weight_by_lr():
    """Whatever its gradient: m_hat is the gradient and v_hat its square."""
    training = Training(optimiser=AdamW(lr=0.01, eps=0.0, weight_decay=0.0))
    training.step()
    for update in training.updates.values():
        room = {"rtol": 0, "atol": 1e-15}
        torch.testing.assert_close(update.moved.abs(), torch.full_like(update.moved, 0.01), **room)


def test_going_back_is_exact():
    training = Training()
    training.run(13)
    then, positions = training.maps(), training.update("positions")
    training.optimiser = SGD(lr=0.2)
    training.run(12)
    later = training.maps()
    assert list(training.film) == [0, 10, 20]
    training.rewind(17)
    assert training.optimiser == SGD(lr=0.2)
    training.run(8)
    assert all(map(torch.equal, training.maps(), later))
    training.rewind(12)
    assert training.optimiser == AdamW()
    assert list(training.film) == [0, 10]
    training.step()
    assert all(map(torch.equal, training.maps(), then))
    assert torch.equal(training.update("positions").after, positions.after)
    training.rewind(0)
    assert torch.equal(training.model.positions, AttentionOnly(8, 12).positions)


def test_a_change_of_optimiser_begins_its_moments_anew():
    training = Training(optimiser=SGD())
    training.run(5)
    training.optimiser = AdamW(weight_decay=0.0)
    training.step()
    assert training.update("positions").moments.step == 1
    training.optimiser = AdamW(lr=0.02)
    training.step()
    assert training.update("positions").moments.step == 2


def test_an_overflow_is_said_and_changes_nothing():
    training = Training()
    training.run(3)
    training.optimiser = SGD(lr=1e300)
    with pytest.raises(FloatingPointError) as error:
        training.run(9)
    assert str(error.value) == (
        "training must stay finite, got an overflow at step 5 with lr 1e+300: go back with "
        "rewind(…) and set an optimiser with a smaller lr"
    )
    assert training.count == 4
    assert all(weight.isfinite().all() for _, weight in training.weights())
    training.rewind(2)
    assert training.step().number == 3


@cache
def learned(task=RepeatedSegments(), num_layers=2, keep=None):  # noqa: B008
    """A training of 600 steps, and of each hundredth its shares."""
    model = AttentionOnly(len(task.vocabulary), task.length, num_layers=num_layers, keep=keep)
    training = Training(task, model)
    found = {}
    for step in range(100, 601, 100):
        training.run(100)
        found[step] = training.shares(training.batch(1000))
    return training, found


def repeats(training, *steps):
    return [training.history[step - 1].repeats for step in steps]


@pytest.mark.slow
def test_an_induction_head_is_born():
    """Chapter 13's story, seed 1: nothing until step 100, the turn before 200."""
    training, found = learned()
    first, before, turned, last = repeats(training, 1, 100, 200, 600)
    assert 2.0 < first < 2.3
    assert before > 1.6
    assert turned < 0.5
    assert last < 0.1
    assert found[100][1].copied < 0.45
    assert found[600][1].copied > 0.9
    assert found[200][0].previous < found[200][1].copied
    # What comes for the first time nobody can know.
    assert all(step.first > 1.7 for step in training.history)
    assert training.film.path("layers.1.attention").shape == (61, 1, 1, 12, 12)


@pytest.mark.slow
def test_one_layer_never_settles():
    training, _ = learned(num_layers=1)
    assert min(step.repeats for step in training.history[100:]) > 0.5


@pytest.mark.slow
def test_one_layer_copies_by_position_where_all_segments_are_alike():
    training, _ = learned(FIXED, num_layers=1)
    assert repeats(training, 600)[0] < 0.05


@pytest.mark.slow
def test_without_a_mask_the_loss_falls_below_what_is_possible():
    """A leak that one sees in a curve: letters that nobody can know are known."""
    training, _ = learned(keep=Keep())
    assert training.history[149].first < 0.1


@pytest.mark.slow
def test_a_sink_is_born():
    """Where there is nothing to copy, the weight goes to the start token, whose value shrinks."""
    training, found = learned(START)
    assert found[600][1].start_at_first > 0.8
    assert found[600][1].start_at_repeats < 0.05
    lengths = training.model.traces(training.batch(1000).ids)[1].v[:, 0].norm(dim=-1)
    assert lengths[:, 0].mean() < lengths[:, 1:].mean() / 5
    early = AttentionOnly(9, 13).traces(training.batch(1000).ids)[1].v[:, 0].norm(dim=-1)
    assert lengths[:, 0].mean() < early[:, 0].mean() / 2


class Attends(nn.Module):
    """An attention with dropout of torch and of ours, called twice."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, dropout=0.5)
        self.drop, self.norm = StepDropout(0.5), nn.BatchNorm1d(5)

    def forward(self, x, times=1):
        for _ in range(times):
            self.drop()
            x = self.norm(x + self.attention(x, x, x)[0])
        return x


def inputs():
    return torch.linspace(-1, 1, 40).sin().view(1, 5, 8)


def trained(model, watched, steps=6):
    """The model after a few steps, and its film."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    torch.manual_seed(3)

    def loop():
        for _ in range(steps):
            optimizer.zero_grad()
            model(inputs().repeat(4, 1, 1)).square().mean().backward()
            optimizer.step()

    if not watched:
        loop()
        return None
    with watch_training(model, optimizer, inputs(), every=3) as film:
        loop()
    optimizer.step()
    return film


def model_of(make):
    torch.manual_seed(7)
    return make()


def test_a_film_leaves_a_training_as_it_is():
    plain, filmed = model_of(Attends), model_of(Attends)
    filmed.norm.eval()
    plain.norm.eval()
    trained(plain, watched=False)
    film = trained(filmed, watched=True)
    assert list(film) == [0, 3, 6], "its hook is gone behind the block"
    assert filmed.training
    assert not filmed.norm.training
    assert filmed.drop.steps == plain.drop.steps
    for (name, weight), other in zip(
        plain.state_dict().items(), filmed.state_dict().values(), strict=True
    ):
        # One step more was done behind the film's block, by the same gradient.
        moved = weight.dtype != torch.int64 and "running" not in name
        assert torch.equal(weight, other) != moved, name


def test_a_film_has_the_maps_that_watch_sees():
    model = model_of(Attends)
    film = trained(model, watched=True)
    film.look(9)
    model.eval()
    with watch(model) as seen, torch.no_grad():
        model(inputs())
    torch.testing.assert_close(film[9]["attention"], seen["attention"].stage("weights"))
    assert film.path("attention").shape == (4, 1, 2, 5, 5)


def test_a_film_takes_arguments_as_a_model_does():
    model = model_of(Attends)
    twice = Film(model, {"x": inputs(), "times": 2})
    assert list(twice.first) == ["attention (1 of 2)", "attention (2 of 2)"]
    assert list(Film(model, [inputs(), 1]).first) == ["attention"]
    assert model.training


def test_a_long_film_thins_out():
    model = model_of(Attends)
    film = Film(model, inputs(), every=1, most_bytes=800)
    assert film.frame_bytes == 200
    for step in range(10):
        film.look(step)
    assert list(film) == [0, 4, 8]
    assert film.every == 4
    assert repr(film).splitlines()[0] == "3 frames, steps 0 to 8, every 4; 0.6 kB"
