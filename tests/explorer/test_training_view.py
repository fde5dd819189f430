"""open_training in Python: what it asks of the page, its table, its still, and its errors."""

import json
import re

import pytest
import torch
from bs4 import BeautifulSoup

from attn_core.learning import SGD, AdamW, AttentionOnly, RepeatedSegments, Training
from attn_core.masks import Keep, window
from attn_core.views import open_training
from attn_core.views.training import loss_at


def made(**how):
    return Training(RepeatedSegments(), AttentionOnly(8, 12, **how))


def test_the_page_is_asked_for_the_same_training():
    task = RepeatedSegments(letters=6, shortest=2, longest=4, has_start=True)
    model = AttentionOnly(7, 13, width=8, num_layers=1, keep=Keep(), seed=3)
    training = Training(task, model, AdamW(lr=0.02, betas=(0.8, 0.99)), seed=3, texts=4)
    training.optimiser = SGD()  # the page begins as it began, unless no step was done
    asked = open_training(training).payload["asked"]
    assert asked == {
        "seed": 3, "texts": 4, "width": 8, "layers": 1, "isMasked": False, "every": 10,
        "task": {"letters": 6, "places": 12, "shortest": 2, "longest": 4, "hasStart": True},
        "optimiser": {"kind": "sgd", "lr": 0.3, "weightDecay": 0.0},
    }  # fmt: skip
    training.run(1)
    training.optimiser = AdamW()
    assert open_training(training).payload["asked"] == asked


def test_what_stands_there_without_scripts_is_the_losses():
    training = Training()
    assert "with scripts" in open_training(training).html
    training.run(30)
    page = BeautifulSoup(open_training(training, name="mine").html, "html.parser")
    root = page.select_one("attention-training")
    assert root["name"] == "mine"
    assert json.loads(root.script.string)["form"] == "training"
    rows = [[cell.text for cell in row.select("th, td")] for row in root.select("tr")]
    assert [row[0] for row in rows] == ["0", "10", "20", "30"]
    last = training.history[20:]
    first, repeats = (sum(getattr(s, w) for s in last) / 10 for w in ("first", "repeats"))
    assert rows[-1][1:] == [f"{first:.2f}", f"{repeats:.2f}"]
    assert loss_at(training, 0, "first") == training.history[0].first


def test_its_still_is_the_film():
    training = Training()
    view = open_training(training)
    assert view.still() is None
    training.run(20)
    assert view.still().alt.startswith("A film strip of 2 layers at the steps 0, 10, 20: ")
    data, metadata = view._repr_mimebundle_()
    assert data["text/plain"] == "Training to play with: 2,496 weights, 2 layers"
    assert "image/png" in data
    assert metadata["image/png"]["width"] == 520
    assert str(open_training(made(num_layers=1))).endswith("weights, 1 layer")


def spoiled():
    model = AttentionOnly(8, 12)
    with torch.no_grad():
        model.positions[0, 0] += 1
    return Training(RepeatedSegments(), model)


@pytest.mark.parametrize(
    ("training", "why"),
    [
        (lambda: 5, "training must be a Training, got 5"),
        (lambda: made(num_layers=3), "layers of training must be at most 2, got 3"),
        (lambda: made(width=65), "width of training must be at most 64, got 65"),
        (
            lambda: made(keep=window(2)),
            "layers of training must all have keep=causal(), or all keep=Keep(), got window(2, 0)",
        ),
        (
            lambda: made(seed=2),
            "training must begin with the weights that seed 1 draws, got others in positions: "
            "make the model with AttentionOnly(…, seed=1)",
        ),
        (spoiled, "training must begin with the weights that seed 1 draws, got others in "),
    ],
)
def test_what_the_page_cannot_train_is_said(training, why):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(why)}"):
        open_training(training())


def test_a_name_is_one_of_an_address():
    with pytest.raises(ValueError, match=r"name must be of letters.*got 'a b'"):
        open_training(name="a b")
