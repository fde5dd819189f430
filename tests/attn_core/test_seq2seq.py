"""Chapter 01's grammar and translators: the same everywhere, and what the stored weights can."""

import pytest
import torch

from attn_core.grammar import CHINESE, ENGLISH, Dice, batch, ids, sentence
from attn_core.seq2seq import TESTING, Translator, stored, train, weights_file


def test_the_grammar_is_the_same_everywhere():
    pair = sentence(seed=1, number=0, longest=30)
    assert " ".join(pair.english) == (
        "Spike likes Spike but the quick duck chases Tom and Spike sees Tom and the dog follows "
        "Jerry in the street because Tyke helps Tom in the garden"
    )
    assert "".join(pair.chinese) == (
        "斯派克喜欢斯派克但是快的鸭子追逐汤姆而且斯派克看见汤姆而且狗在街道里跟着杰瑞因为泰克在花园里帮助汤姆"
    )


def test_sentences_have_every_length_up_to_the_longest():
    lengths = {len(sentence(TESTING, number, 30).english) for number in range(400)}
    assert max(lengths) == 30
    assert min(lengths) == 3
    assert len(lengths) >= 26


def test_vocabularies_have_no_word_twice():
    assert len(set(ENGLISH)) == len(ENGLISH)
    assert len(set(CHINESE)) == len(CHINESE)


def test_dice_are_fair():
    faces = torch.tensor([Dice(0, n).below(6) for n in range(3000)]).bincount()
    assert faces.min() > 420


def test_an_unknown_word_is_said():
    with pytest.raises(ValueError, match="word must be one of the 31 known words, got 'Bob'"):
        ids(["Bob"], ENGLISH)


def test_padding_changes_no_translation():
    pairs = [sentence(TESTING, number, 30) for number in range(6)]
    for attends in (False, True):
        model = stored(attends)
        source, lengths, target = batch(pairs)
        together = model(source, lengths, target[:, :-1])
        for row, pair in enumerate(pairs):
            alone = model(*batch([pair])[:2], batch([pair]).target[:, :-1])[0]
            torch.testing.assert_close(together[row, : len(alone)], alone)


def test_both_translators_have_the_same_weights_to_train():
    shapes = [
        [p.shape for p in Translator(20, 20, width=8, attends=attends).parameters()]
        for attends in (False, True)
    ]
    assert shapes[0] == shapes[1]


def test_the_stored_translator_with_attention_is_right_where_the_fixed_vector_fails():
    pairs = [sentence(TESTING, number, 30) for number in range(60)]
    long = [pair for pair in pairs if len(pair.english) > 18]
    right = {
        attends: sum(stored(attends).translate(pair.english) == pair.chinese for pair in long)
        for attends in (False, True)
    }
    assert right[True] >= 0.95 * len(long)
    assert right[False] <= 0.1 * len(long)


def test_the_alignment_follows_the_words():
    english, chinese = ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞"]
    weights = stored(True).alignment(english, chinese).stage("weights")
    assert weights.argmax(1).tolist() == [0, 1, 2]
    assert weights.diagonal().min() > 0.9


def test_the_weights_are_small():
    assert sum(weights_file(attends).stat().st_size for attends in (False, True)) < 500_000


@pytest.mark.slow
@pytest.mark.parametrize("attends", [False, True])
def test_training_again_gives_the_stored_weights(attends):
    fresh, kept = train(attends).state_dict(), stored(attends).state_dict()
    for name, weight in fresh.items():
        torch.testing.assert_close(weight.float().double(), kept[name], rtol=1e-4, atol=1e-5)
