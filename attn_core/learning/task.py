"""Texts that repeat a segment: a small model learns to copy them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attn_core.checks import check_index, check_whole
from attn_core.dice import Dice, random_words

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
START = "<start>"
MOST_TEXTS = 2**32 - 1  # a counter of the dice has 32 bits; the last number is the example's


class Text(NamedTuple):
    """The ids of a text, one more than a model reads, and how many letters its segment has."""

    ids: list[int]
    segment: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts side by side: the ids that a model reads, and the id that each place predicts."""

    ids: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]
    segments: Int[Tensor, "B"]  # how many letters the segment of each text has
    start: int  # how many start tokens a text has

    @property
    def is_first(self) -> Bool[Tensor, "B T"]:
        """Places that predict a letter that their text has not had.

        The first repeated letter is neither this nor a repeat: nobody can know that the segment
        ends there.
        """
        place = self.letter_places
        return (place >= 0) & (place < self.segments[:, None] - 1)

    @property
    def is_repeat(self) -> Bool[Tensor, "B T"]:
        """Places that predict a letter which follows from the text before."""
        return self.letter_places >= self.segments[:, None]

    @property
    def letter_places(self) -> Int[Tensor, "T"]:
        """0 for the first letter; a start token before it has −1."""
        return torch.arange(self.ids.shape[1]) - self.start


@dataclass(frozen=True)
class RepeatedSegments:
    """Texts that each repeat a segment of different letters, longer in some than in others.

    >>> task = RepeatedSegments()
    >>> [task.written(task.text(seed=1, number=n)) for n in range(2)]
    ['H E F D G B H E F D G B', 'B A C H F B A C H F B A']

    letters: how many different letters there are, A, B, C, …
    places: how many letters of a text the model reads.
    shortest: the fewest letters of a segment.
    longest: the most letters. If both are the same, one layer can copy by position alone.
    has_start: whether each text begins with a start token (BOS), the last of the vocabulary.

    A text follows from the seed and its number by Philox, the same on every machine and in the
    page. Olsson et al., "In-context Learning and Induction Heads" (2022), measure models on such
    texts. Taught in chapter 13.
    """

    letters: int = 8
    places: int = 12
    shortest: int = 3
    longest: int = 6
    has_start: bool = False

    def __post_init__(self) -> None:
        check_whole("letters", self.letters, least=2)
        if self.letters > len(LETTERS):
            raise ValueError(f"letters must be at most {len(LETTERS)}, got {self.letters}")
        check_whole("places", self.places, least=2)
        check_whole("shortest", self.shortest, least=1)
        check_whole("longest", self.longest, least=self.shortest)
        if self.longest > self.letters:
            raise ValueError(
                f"longest must be at most the {self.letters} letters, as those of a segment "
                f"differ, got {self.longest}"
            )

    @property
    def vocabulary(self) -> list[str]:
        """What each id stands for."""
        return [*LETTERS[: self.letters], *([START] if self.has_start else [])]

    @property
    def length(self) -> int:
        """How many tokens of a text a model reads."""
        return self.places + self.has_start

    def text(self, seed: int, number: int) -> Text:
        """Text `number` of a seed."""
        return self.texts(seed, range(check_index("number", number, 2**32), number + 1))[0]

    def texts(self, seed: int, numbers: range) -> list[Text]:
        """Several texts of a seed."""
        words = random_words(check_whole("seed", seed), numbers, self.longest + 1)
        return [self.made(Dice(iter(row))) for row in words.tolist()]

    def made(self, dice: Dice) -> Text:
        segment = self.shortest + dice.below(self.longest - self.shortest + 1)
        picked = dice.pick(range(self.letters), segment)
        repeated = [picked[i % segment] for i in range(self.places + 1)]
        return Text([self.letters, *repeated] if self.has_start else repeated, segment)

    def batch(self, texts: Sequence[Text]) -> Batch:
        """Texts side by side, as a model reads them."""
        ids = torch.tensor([text.ids for text in texts])
        segments = torch.tensor([text.segment for text in texts])
        return Batch(ids[:, :-1], ids[:, 1:], segments, int(self.has_start))

    def example(self, seed: int) -> Text:
        """A text that no training of this seed reaches."""
        return self.text(seed, MOST_TEXTS)

    def written(self, text: Text) -> str:
        """The tokens that a model reads of a text, with a space between two."""
        return " ".join(self.vocabulary[id_] for id_ in text.ids[:-1])
