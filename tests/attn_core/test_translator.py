"""Chapter 09's Transformer: what the stored weights can, word by word, and that they come again."""

import pytest
import torch

from attn_core.masks import padding
from attn_core.translators import training
from attn_core.translators.grammar import CHINESE, END, START, batch, sentence
from attn_core.translators.training import TESTING, store
from attn_core.translators.transformer import (
    LONGEST,
    WEIGHTS,
    alignment,
    stored,
    train,
    translate,
    untrained,
)
from tests.attn_core.step_models import one_pass

PAIRS = [sentence(TESTING, number, LONGEST) for number in range(300)]


def share_right(model):
    """How many test sentences have every next word right, given the right words so far.

    The likeliest words, one by one, are then the translation itself.
    """
    source, lengths, target = batch(PAIRS)
    with torch.no_grad():
        likeliest = model(source, target[:, :-1], source_keep=padding(lengths)).argmax(-1)
    wanted = target[:, 1:]
    return ((likeliest == wanted) | (wanted == 0)).all(1).double().mean().item()


def check_claims(model):
    """What chapter 09 says of it."""
    assert share_right(model) > 0.97
    for text, wanted in (
        ("Tom chases Jerry", "汤姆追逐杰瑞"),
        ("Jerry chases Tom", "杰瑞追逐汤姆"),
        ("Tom chases Jerry in the garden", "汤姆在花园里追逐杰瑞"),
    ):
        words, probabilities = translate(model, text.split())
        assert "".join(words) == wanted + END
        assert probabilities.amax(1).min() > 0.99
    words = ["汤姆", "在", "花园", "里", "追逐", "杰瑞"]
    record = alignment(model, ["Tom", "chases", "Jerry", "in", "the", "garden"], words)[-1]
    best = record.stage("weights")[0].amax(0)
    assert best.argmax(1)[[0, 4, 5]].tolist() == [0, 1, 2]


def test_the_stored_model_does_what_the_chapter_says():
    check_claims(stored())


def test_each_word_is_the_likeliest_after_those_before():
    model, pair = stored(), PAIRS[3]
    words, probabilities = translate(model, pair.english)
    assert words == [*pair.chinese, END]
    assert [CHINESE[i] for i in probabilities.argmax(1)] == words
    torch.testing.assert_close(probabilities.sum(1), torch.ones(len(words)).double())
    source, _, target = batch([pair])
    all_at_once = torch.softmax(model(source, target[:, :-1])[0], dim=-1).detach()
    torch.testing.assert_close(all_at_once, probabilities)


def test_it_stops_at_the_end_mark_or_at_the_longest():
    model, (source, _, _) = stored(), batch(PAIRS[:1])
    start, end = CHINESE.index(START), CHINESE.index(END)
    assert len(model.generate(source, start=start, end=end, longest=2).ids) == 2
    whole = model.generate(source, start=start, end=end).ids
    assert whole.index(end) == len(whole) - 1
    assert len(model.generate(source, start=end, end=end, longest=1).ids) == 1


def test_the_recorded_attention_is_that_of_the_pass():
    model, pair = stored(), PAIRS[0]
    seen = []
    for layer in model.decoder:
        layer.cross_attention.register_forward_pre_hook(lambda module, args: seen.append(args))
    records = alignment(model, pair.english, [*pair.chinese, END])
    assert len(records) == len(seen) == 2
    for layer, record, args in zip(model.decoder, records, seen, strict=True):
        wanted = layer.cross_attention.trace(*args)
        torch.testing.assert_close(record.stage("weights"), wanted.stage("weights"))


def cross_records(model, *words, **keeps):
    with torch.no_grad():
        steps = one_pass(model, *words, **keeps)
    return [steps.record(f"decoder.{n}.cross_attention") for n in range(len(model.decoder))]


def test_padding_changes_no_record():
    model, pairs = stored(), PAIRS[:4]
    source, lengths, target = batch(pairs)
    written = [len(pair.chinese) + 1 for pair in pairs]
    assert len(set(lengths)) > 1
    assert len(set(written)) > 1
    keeps = {"source_keep": padding(lengths), "target_keep": padding(written)}
    together = cross_records(model, source, target[:, :-1], **keeps)
    for row, pair in enumerate(pairs):
        alone = alignment(model, pair.english, [*pair.chinese, END])
        for ours, wanted in zip(together, alone, strict=True):
            weights = ours.stage("weights")[row, :, : written[row]]
            assert (weights[..., lengths[row] :] == 0).all()
            torch.testing.assert_close(weights[..., : lengths[row]], wanted.stage("weights")[0])


def test_without_positions_two_orders_are_one():
    model = stored()
    model.source_places.positions.zero_()
    first, second = (translate(model, text.split()) for text in ("Tom sees Tyke", "Tyke sees Tom"))
    assert first.words == second.words
    torch.testing.assert_close(first.probabilities, second.probabilities)


def test_the_weights_are_small():
    assert (training.WEIGHTS / f"{WEIGHTS}.npz").stat().st_size < 120_000


def test_what_is_stored_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "WEIGHTS", tmp_path)
    model = untrained()
    store(model, WEIGHTS)
    for ours, theirs in zip(stored().parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs.half().double())


def test_what_is_loaded_is_stored_as_it_was(tmp_path, monkeypatch):
    model = stored()
    monkeypatch.setattr(training, "WEIGHTS", tmp_path)
    store(model, WEIGHTS)
    for ours, theirs in zip(stored().parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("large", [65520.0, -1e6, float("nan")])
def test_what_float16_cannot_hold_is_not_stored(large, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "WEIGHTS", tmp_path)
    model = untrained()
    model.words_out.bias.data[2] = large
    with pytest.raises(ValueError, match=r"words_out\.bias must lie within ±65504"):
        store(model, WEIGHTS)
    assert not list(tmp_path.iterdir())


# Not compared with the stored weights: the last bit of a processor's rounding grows over the steps.
@pytest.mark.deep
def test_training_again_gives_what_the_chapter_says():
    check_claims(train())
