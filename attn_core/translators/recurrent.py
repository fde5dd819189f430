"""Chapter 01's translators: the same two recurrent networks, with one fixed vector or attention."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_core.api import attention, trace
from attn_core.checks import check_whole, check_words
from attn_core.masks import padding
from attn_core.record import AttentionTrace
from attn_core.steps import ModuleCall, Steps, explain, recording
from attn_core.translators import training
from attn_core.translators.grammar import CHINESE, END, ENGLISH, START, Batch, Pair, batch, ids

WIDTH = 48
LONGEST = 30
STEPS = 800


class Translator(nn.Module):
    """Reads a sentence word by word, then writes another one word by word.

    >>> model = Translator(20, 25, width=8, attends=True)
    >>> model(torch.tensor([[3, 4, 5]]), [3], torch.tensor([[1, 7]])).shape
    torch.Size([1, 2, 25])

    Each word is chosen from the writer's state and a context. Without attention the context is
    the reader's last state, the same vector c for every word; with attention it is c_i, the
    average of all of the reader's states that word i asks for. Nothing else differs, and both
    have the same weights to train. Sutskever, Vinyals, Le (2014); Bahdanau, Cho, Bengio (2015);
    the scores are the dot products of Luong, Pham, Manning (2015), 3.1. Taught in chapter 01.
    """

    def __init__(
        self, source_vocabulary: int, target_vocabulary: int, *, width: int, attends: bool
    ) -> None:
        super().__init__()
        self.attends = attends
        self.source_words = nn.Embedding(source_vocabulary, width)
        self.target_words = nn.Embedding(target_vocabulary, width)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.writer = nn.GRU(width, width, batch_first=True)
        self.ask = nn.Linear(width, width, bias=False)
        self.blend = nn.Linear(2 * width, width)
        self.words_out = nn.Linear(width, target_vocabulary)

    def read(
        self, source: Int[Tensor, "B S"], lengths: list[int]
    ) -> tuple[Float[Tensor, "B S E"], Float[Tensor, "B E"]]:
        """The reader's state after each word, and its last one: c."""
        words = nn.utils.rnn.pack_padded_sequence(
            self.source_words(source), lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.reader(words)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        return states, last[0]

    def write(
        self,
        words: Int[Tensor, "B T"],
        memory: Float[Tensor, "1 B E"],
        states: Float[Tensor, "B S E"],
        c: Float[Tensor, "B E"],
        lengths: list[int],
    ) -> tuple[Float[Tensor, "B T words"], Float[Tensor, "1 B E"]]:
        """Scores for the word after each of `words`, and the writer's memory after the last."""
        written, memory = self.writer(self.target_words(words), memory)
        if self.attends:
            keep = padding(lengths)
            context = attention(self.ask(written), states, states, keep=keep)
        else:
            context = c[:, None].expand_as(written)
        blended = torch.tanh(self.blend(torch.cat((written, context), -1)))
        return self.words_out(blended), memory

    def forward(
        self, source: Int[Tensor, "B S"], lengths: list[int], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T words"]:
        """A score for each word that may follow each word of the target."""
        states, c = self.read(source, lengths)
        return self.write(target, c[None], states, c, lengths)[0]

    def translate(self, english: Sequence[str], longest: int = 60) -> list[str]:
        """Writes the likeliest next word until the end mark, or `longest` words.

        ValueError for a sentence without words or with an unknown one, and if `longest` is below 1.
        """
        return self.translate_all([english], longest)[0]

    @torch.no_grad()
    def translate_all(
        self, sentences: Sequence[Sequence[str]], longest: int = 60
    ) -> list[list[str]]:
        """Translates several sentences in one batch, each as `translate` does."""
        if not sentences:
            return []
        for english in sentences:
            check_words("english", english)
        source, lengths, _ = batch([Pair(list(english), []) for english in sentences])
        return self.write_out(*self.read(source, lengths), lengths, longest)

    @torch.no_grad()
    def write_out(
        self,
        states: Float[Tensor, "B S E"],
        c: Float[Tensor, "B E"],
        lengths: list[int],
        longest: int = 60,
    ) -> list[list[str]]:
        """The likeliest words, from what `read` gave: the writer alone."""
        check_whole("longest", longest, least=1)
        words, memory = ids([START] * len(lengths), CHINESE)[:, None], c[None]
        written: list[Tensor] = []
        end = CHINESE.index(END)
        has_ended = torch.zeros(len(lengths), dtype=torch.bool)
        while len(written) < longest and not has_ended.all():
            scores, memory = self.write(words, memory, states, c, lengths)
            words = scores.argmax(-1)
            has_ended |= words[:, 0] == end
            written.append(words[:, 0])
        rows = [[CHINESE[word] for word in row] for row in torch.stack(written, 1).tolist()]
        return [row[: [*row, END].index(END)] for row in rows]

    @torch.no_grad()
    def alignment(self, english: Sequence[str], chinese: Sequence[str]) -> AttentionTrace:
        """The record of the attention: a row for each Chinese word, at the moment it is chosen.

        ValueError if either sentence has no words, or one that is not known.
        """
        record = recorded(self, english, chinese).record("attention")
        return trace(*(heads[0, 0] for heads in (record.q, record.k, record.v)))


@torch.no_grad()
def recorded(model: Translator, english: Sequence[str], chinese: Sequence[str]) -> Steps:
    """The steps of the pass that chooses each Chinese word, down to the probabilities of the words.

    >>> steps = recorded(stored(attends=False), ["Tom", "sees", "Jerry"], ["汤姆", "看见"])
    >>> steps["context"]
    context = repeat(c, writer) [1, 2, 48]

    ValueError if either sentence has no words, or one that is not known. Taught in chapter 10.
    """
    check_words("english", english)
    check_words("chinese", chinese)
    before = ids([START, *chinese[:-1]], CHINESE)
    with recording(model, {"source": ENGLISH, "target": CHINESE}) as steps:
        model(ids(english, ENGLISH)[None], [len(english)], before[None])
    return steps.with_softmax()


def untrained(attends: bool) -> Translator:
    """One of the two before its training, in float64: 48 numbers a word."""
    torch.manual_seed(0)
    return Translator(len(ENGLISH), len(CHINESE), width=WIDTH, attends=attends).double()


def train(
    attends: bool, *, steps: int = STEPS, report: Callable[[int, float], None] | None = None
) -> Translator:
    """Trains one of the two on 6,400 sentence pairs of up to 30 words, in a minute or two."""
    model = untrained(attends)

    def scores(learned: Batch) -> Tensor:
        return model(learned.source, learned.lengths, learned.target[:, :-1])

    return training.train(
        model,
        scores,
        longest=LONGEST,
        steps=steps,
        max_lr=0.01,
        longest_gradient=1.0,
        report=report,
    )


def stored(attends: bool) -> Translator:
    """The trained translator that comes with the book, in float64.

    >>> "".join(stored(attends=True).translate(["Tom", "chases", "Jerry"]))
    '汤姆追逐杰瑞'

    `make train` trains both again and stores them. Taught in chapter 01.
    """
    return training.loaded(untrained(attends), weights_name(attends))


def weights_name(attends: bool) -> str:
    """The name of their file."""
    return "attention" if attends else "fixed"


@explain(Translator)
def of_translator(module: Translator, call: ModuleCall, value: object, child: str | None) -> None:
    """What it does itself between its modules."""
    if child == "reader":
        call.know(value, call.child("source_words"))  # packed
    elif child == "writer" and isinstance(value, Tensor):
        last = value.transpose(0, 1)  # [1, B, E]
        call.know(value, call.add("c", "last_row", [call.child("reader")], made=last))
    elif child == "blend":
        written = call.child("writer")
        if module.attends:
            states = call.child("reader")
            settings = {"num_heads": 1, "scale": module.ask.out_features**-0.5, "keep": None}
            inputs = [call.child("ask"), states, states]
            context = call.add("attention", "attention", inputs, settings=settings)
        else:
            context = call.add("context", "repeat", ["c", written])
        call.add("beside", "concat", [written, context], made=value)
    elif child == "words_out":
        call.add("blended", "tanh", [call.child("blend")], made=value)
