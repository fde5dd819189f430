"""A small grammar that writes English sentences with their Chinese translations, of any length."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from attn_core.checks import check_whole
from attn_core.dice import Dice, endless_words

NAMES = {"Tom": "汤姆", "Jerry": "杰瑞", "Spike": "斯派克", "Tyke": "泰克"}
ANIMALS = {"cat": "猫", "mouse": "老鼠", "dog": "狗", "duck": "鸭子"}
QUALITIES = {"big": "大", "small": "小", "old": "老", "grey": "灰", "quick": "快", "clever": "聪明"}
VERBS = {"chases": "追逐", "sees": "看见", "follows": "跟着", "helps": "帮助", "likes": "喜欢"}
PLACES = {"garden": "花园", "house": "房子", "street": "街道", "park": "公园"}
JOINTS = {"and": "而且", "but": "但是", "because": "因为"}
PAD, START, END = "<pad>", "<start>", "<end>"
MARKS = [PAD, START, END]

TRANSLATIONS = NAMES | ANIMALS | QUALITIES | VERBS | PLACES | JOINTS
ENGLISH = [*MARKS, *TRANSLATIONS, "the", "in"]
CHINESE = [*MARKS, *TRANSLATIONS.values(), "的", "在", "里"]


class Pair(NamedTuple):
    """A sentence and its translation, word by word."""

    english: list[str]
    chinese: list[str]


def ids(words: Sequence[str], vocabulary: Sequence[str]) -> Int[Tensor, "T"]:
    """The place of each word in the vocabulary.

    >>> ids(["Tom", "chases", "Jerry"], ENGLISH)
    tensor([ 3, 17,  4])
    """
    return torch.tensor([check_word(word, vocabulary) for word in words], dtype=torch.int64)


class Batch(NamedTuple):
    """Sentence pairs as numbers, padded: source [B, S], its lengths, target [B, T].

    A target begins with the start mark and ends with the end mark.
    """

    source: Int[Tensor, "B S"]
    lengths: list[int]
    target: Int[Tensor, "B T"]


def batch(pairs: Sequence[Pair]) -> Batch:
    """Pairs side by side, the shorter ones padded at their end.

    >>> batch([Pair(["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞"])]).target
    tensor([[ 1,  3, 17,  4,  2]])
    """
    pad = torch.nn.utils.rnn.pad_sequence
    source = [ids(pair.english, ENGLISH) for pair in pairs]
    target = [ids([START, *pair.chinese, END], CHINESE) for pair in pairs]
    lengths = [len(row) for row in source]
    return Batch(pad(source, batch_first=True), lengths, pad(target, batch_first=True))


def picked(dice: Dice, words: dict[str, str], count: int = 1) -> list[tuple[str, str]]:
    """Different words, each with its translation."""
    return dice.pick(list(words.items()), count)


def someone(dice: Dice) -> Pair:
    if dice.below(2):
        [(english, chinese)] = picked(dice, NAMES)
        return Pair([english], [chinese])
    qualities = picked(dice, QUALITIES, dice.below(3))
    [(english, chinese)] = picked(dice, ANIMALS)
    return Pair(
        ["the", *(word for word, _ in qualities), english],
        [word for _, translated in qualities for word in (translated, "的")] + [chinese],
    )


def clause(dice: Dice) -> Pair:
    """Someone does something to someone, often somewhere: Chinese names the place before the verb.

    >>> pair = clause(Dice(endless_words(seed=0, series=3)))
    >>> " ".join(pair.english), "".join(pair.chinese)
    ('Tyke chases the grey cat', '泰克追逐灰的猫')
    """
    who, whom = someone(dice), someone(dice)
    [(verb, verb_chinese)] = picked(dice, VERBS)
    where, where_chinese = [], []
    if dice.below(2):
        [(place, place_chinese)] = picked(dice, PLACES)
        where, where_chinese = ["in", "the", place], ["在", place_chinese, "里"]
    return Pair(
        [*who.english, verb, *whom.english, *where],
        [*who.chinese, *where_chinese, verb_chinese, *whom.chinese],
    )


def sentence(seed: int, number: int, longest: int) -> Pair:
    """Sentence `number` of a series: clauses, joined while they fit into `longest` English words.

    >>> " ".join(sentence(seed=0, number=4, longest=13).english)
    'the duck sees Jerry in the street'
    """
    check_whole("longest", longest, least=13)
    dice = Dice(endless_words(seed, number))
    wanted = 3 + dice.below(longest - 2)
    pair = clause(dice)
    while len(pair.english) < wanted:
        [(joint, joint_chinese)] = picked(dice, JOINTS)
        more = clause(dice)
        if len(pair.english) + 1 + len(more.english) > longest:
            break
        pair = Pair(
            [*pair.english, joint, *more.english], [*pair.chinese, joint_chinese, *more.chinese]
        )
    return pair


def check_word(word: str, vocabulary: Sequence[str]) -> int:
    """The place of a word in the vocabulary."""
    if word not in vocabulary:
        raise ValueError(f"word must be one of the {len(vocabulary)} known words, got {word!r}")
    return vocabulary.index(word)
