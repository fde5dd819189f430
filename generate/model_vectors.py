"""What the page's model core must give, as attn_core.steps gives it: vectors for `node --test`.

    python -m generate.model_vectors    # writes them again, after a formula or a line has changed

A test compares what is stored with what attn_core gives now, and finds in it each operation of the
list with each of its settings. The small models are made of whole numbers and their sixteenths; the
stored translator is the one of chapter 09, rounded to float16.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from unittest import mock

import torch
from torch import Tensor, nn

from attn_core.arithmetic import Term
from attn_core.language import LanguageLayer
from attn_core.layers import DecoderLayer, EncoderLayer, WordEmbedding
from attn_core.masks import Keep, causal, window
from attn_core.modules import (
    CausalAttention,
    MultiHeadAttention,
    SelfAttention,
    SelfAttentionV1,
    StackedHeads,
)
from attn_core.pretrained import all_minilm
from attn_core.rotary import Rotary
from attn_core.steps import Changes, Pass, Step, Steps, backward, recording, run, workings
from attn_core.steps.operation import REQUIRED, Operation, Setting
from attn_core.steps.operations import OPERATIONS
from attn_core.transformer import Transformer
from attn_core.translators import transformer
from attn_core.translators.grammar import CHINESE, END, ENGLISH, PAD, START, ids
from attn_core.translators.recurrent import Translator
from attn_core.views.model_pass import word_ids
from attn_core.views.model_payload import model_payload

STORED = Path(__file__).parents[1] / "attn_core" / "views" / "page" / "test" / "model-vectors.json"
ROUNDING = 1e-12
MARKS = {"start": START, "end": END, "pad": PAD}
WORDS = {
    "source": [PAD, START, END, "Tom", "Jerry", "chases"],
    "target": [PAD, START, END, "汤姆", "杰瑞", "追逐"],
}
ENCODER, DECODER = "encoder.0", "decoder.0"
CHANGES = {
    "heads_off": Changes(heads_off=[(f"{ENCODER}.attention", 1), (f"{DECODER}.self_attention", 0)]),
    "positions_off": Changes(positions_off=["source_places"]),
    "residuals_off": Changes(residuals_off=[f"{DECODER}.residuals.1.sum"]),
    "norms_off": Changes(norms_off=[f"{ENCODER}.residuals.1.norm"]),
    "mask_off": Changes(mask_off=[f"{DECODER}.self_attention"]),
    "scale_off": Changes(scale_off=[f"{DECODER}.cross_attention"]),
}
CHANGES["all"] = Changes(**{name: getattr(change, name) for name, change in list(CHANGES.items())})


# As somebody types them.
SENTENCES = [
    "Tom chases Jerry",
    "tom CHASES jerry",
    " Tom, chases;\n Jerry. ",
    "Tom chases。Jerry！",
]
SENTENCES += ["", " . ", "Tom barks", "<start> Tom", "<pad>", "Tom's", "Tom " * 64, "Tom " * 65]


def filled(model: nn.Module) -> nn.Module:
    """The model with weights from a rule."""
    with torch.no_grad():
        for k, (name, weight) in enumerate(model.named_parameters()):
            weight.copy_(by_rule(k, name, weight.shape))
    return model.double().eval()


def by_rule(k: int, name: str, shape: Sequence[int]) -> Tensor:
    """Weight k: its numbers are sixteenths of whole numbers; gains are near 1."""
    n = torch.arange(math.prod(shape), dtype=torch.float64) + 31 * k
    numbers = ((7 * n * n + 3 * n) % 17 - 8) / 16
    return (numbers + name.endswith("gain")).view(*shape)


def recorded(model: nn.Module, words: Mapping[str, list[str]], lengths: bool = False) -> Steps:
    source, target = torch.tensor([[3, 5, 4]]), torch.tensor([[1, 3]])
    with recording(model, words) as steps:
        _ = model(source, [3], target) if lengths else model(source, target)
    return steps.with_softmax()


class Between(nn.Module):
    """A module between the words that go in and the scores that come out.

    how: calls it with what the target's words became, and what the source's did.
    """

    def __init__(
        self, part: nn.Module, how: Callable[[nn.Module, Tensor, Tensor], Tensor], width: int = 4
    ) -> None:
        super().__init__()
        self.source_words, self.target_words = nn.Embedding(6, 4), WordEmbedding(6, 4)
        self.part, self.how, self.words_out = part, how, nn.Linear(width, 6)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.source_words(source)
        return self.words_out(self.how(self.part, self.target_words(target), memory))


def alone(part: nn.Module, x: Tensor, memory: Tensor) -> Tensor:
    return part(x)


def across(part: nn.Module, x: Tensor, memory: Tensor) -> Tensor:
    return part(x, memory)


def both_ways(part: nn.Module, x: Tensor, memory: Tensor) -> Tensor:
    return part(x, memory, right_to_left=memory)


class Reader(nn.Module):
    """all-MiniLM-L6-v2 with few and small layers, which reads the target's words itself."""

    def __init__(self) -> None:
        super().__init__()
        sizes = {"WIDTH": 4, "HEADS": 2, "LAYERS": 1, "HIDDEN": 8, "VOCABULARY": 6, "LONGEST": 8}
        with mock.patch.multiple(all_minilm, **sizes):
            self.model = all_minilm.MiniLM(tokenizer=None)
        self.source_words, self.words_out = nn.Embedding(6, 4), nn.Linear(4, 6)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        self.source_words(source)
        return self.words_out(self.model(target))


# Each of the chapters' own classes.
PARTS: dict[str, Callable[[], nn.Module]] = {
    "SelfAttentionV1": lambda: Between(SelfAttentionV1(4, 4), alone),
    "SelfAttention": lambda: Between(SelfAttention(4, 3), alone, 3),
    "SelfAttention with a bias": lambda: Between(SelfAttention(4, 3, bias=True), alone, 3),
    "CausalAttention": lambda: Between(CausalAttention(4, 3), alone, 3),
    "one stacked head": lambda: Between(StackedHeads(4, 2, 1), alone, 2),
    "two stacked heads": lambda: Between(StackedHeads(4, 2, 2), alone, 4),
    "three stacked heads": lambda: Between(StackedHeads(4, 2, 3), alone, 6),
    "MultiHeadAttention": lambda: Between(MultiHeadAttention(4, 6, 3, keep=Keep()), alone, 6),
    "MultiHeadAttention with a bias and a mask": lambda: Between(
        MultiHeadAttention(4, 4, 2, keep=causal() & window(1), bias=True), alone
    ),
    "MultiHeadAttention across": lambda: Between(
        MultiHeadAttention(4, 4, 2, keep=window(1, 1)), across
    ),
    "EncoderLayer": lambda: Between(EncoderLayer(4, 2, 8), alone),
    "EncoderLayer, norm first, with GELU": lambda: Between(
        EncoderLayer(4, 2, 8, norm_first=True, activation=nn.functional.gelu), alone
    ),
    "DecoderLayer": lambda: Between(DecoderLayer(4, 2, 8), across),
    "DecoderLayer, norm first, right to left": lambda: Between(
        DecoderLayer(4, 2, 8, norm_first=True, right_to_left=True), both_ways
    ),
    "MiniLM": Reader,
    "LanguageLayer, interleaved": lambda: Between(
        LanguageLayer(4, 1, 1, 6, rotary=Rotary(4, 100.0, "interleaved")), alone
    ),
    "LanguageLayer without positions": lambda: Between(
        LanguageLayer(4, 2, 2, 6, keep=window(1)), alone
    ),
}


def rows(tensor: torch.Tensor) -> list:
    """The first sentence's numbers to 13 digits, without −∞, which JSON has not: null."""
    cells = tensor[0].double()
    nested = [None if x == -math.inf else float(f"{x:.13g}") for x in cells.flatten().tolist()]
    for size in reversed(cells.shape[1:]):
        nested = [nested[n : n + size] for n in range(0, len(nested), size)]
    return nested


def values(done: Pass, names: list[str]) -> dict[str, dict[str, list]]:
    """All stages of some steps."""
    return {
        name: {stage: rows(done.value(name, stage)) for stage in done.steps[name].arrays}
        for name in names
    }


def addresses(done: Pass, names: list[str], each: int) -> Iterator[tuple[str, str, list[int]]]:
    """Some places of every stage, in no order that one would see."""
    n = 0
    for name in names:
        for stage in done.steps[name].arrays:
            shape = done.value(name, stage).shape[1:]
            for _ in range(each):
                n += 1
                yield (
                    name,
                    stage,
                    [(n * n + 5 * n + axis) % size for axis, size in enumerate(shape)],
                )


def lines(done: Pass, names: list[str], each: int = 1) -> list[dict]:
    """The lines of some numbers, and the names of the numbers that they are made of."""
    made = []
    for name, stage, index in addresses(done, names, each):
        term = workings(done, name, index, stage)
        if is_rounding(term):
            continue
        parts = [f"{part.name}{list(part.index)}" for part in term.parts]
        place = {"step": name, "stage": stage, "index": index}
        made.append({**place, "text": term.text, "parts": parts})
    return made


def is_rounding(term: Term) -> bool:
    """Whether its terms cancel, so that it is what this processor's rounding leaves."""
    if abs(term.value) >= ROUNDING:
        return False
    return any(abs(part.value) >= ROUNDING or is_rounding(part) for part in term.parts)


def a_pass(
    steps: Steps,
    source: list[int],
    target: list[int],
    changes: Changes | None = None,
    names: list[str] | None = None,
    each: int = 1,
) -> dict:
    changes = changes or Changes()
    done = run(steps, changes, source=source, target=target)
    loss, index = list(steps)[-1], [len(target) - 1, 3]
    gradients = backward(done, (loss, index))
    names = list(steps) if names is None else names
    back = [name for name in gradients.steps if name not in done.steps and names_of(name) in names]
    return {
        "source": source,
        "target": target,
        "changes": changes.to_json(),
        "values": values(done, names),
        "lines": lines(done, names, each),
        "loss": {"step": loss, "index": index},
        # Of the weights, at the end of every way back; a line says the number of each other stage.
        "gradients": values(gradients, [name for name in back if name.endswith(".grad")]),
        "gradient_lines": lines(gradients, back, each),
    }


def names_of(name: str) -> str:
    """The step of the forward pass that a step of the backward pass belongs to.

    >>> names_of("words_out.backward"), names_of("words_out.weight.grad")
    ('words_out', 'words_out')
    """
    return re.sub(r"\.(backward|grad_output|\w+\.grad)$", "", name)


def touched(changes: Changes) -> list[str]:
    """The steps that a change names, and the last ones."""
    named = [
        change if isinstance(change, str) else change[0]
        for of in vars(changes).values()
        for change in of
    ]
    return [*dict.fromkeys(named), "words_out", "probabilities"]


def small(norm_first: bool) -> dict:
    sizes = {"width": 4, "num_heads": 2, "hidden": 8, "num_layers": 1, "longest": 8}
    steps = recorded(filled(Transformer(6, 6, **sizes, norm_first=norm_first)), WORDS)
    passes = [a_pass(steps, [3, 5, 4], [1, 3, 5]), a_pass(steps, [4], [1])]
    if norm_first:
        return {"program": model_payload(steps, MARKS, 8), "passes": passes[:1]}
    for change in CHANGES.values():
        passes.append(a_pass(steps, [3, 5, 4, 5], [1, 3, 5], change, touched(change)))
    return {"program": model_payload(steps, MARKS, 8), "passes": passes}


def recurrent(attends: bool) -> dict:
    steps = recorded(filled(Translator(6, 6, width=3, attends=attends)), WORDS, lengths=True)
    passes = [a_pass(steps, [3, 5, 4], [1, 3, 5], each=2), a_pass(steps, [4], [1])]
    return {"program": model_payload(steps, MARKS, 8), "passes": passes}


def part(make: Callable[[], nn.Module]) -> dict:
    steps = recorded(filled(make()), WORDS)
    return {"program": model_payload(steps, MARKS, 8), "passes": [a_pass(steps, [5, 4], [1, 3, 5])]}


def language() -> dict:
    """A layer whose heads share keys, whole and with something switched off."""
    layer = LanguageLayer(4, 2, 1, 6, rotary=Rotary(2))
    steps = recorded(filled(Between(layer, alone)), WORDS)
    off = Changes(positions_off=["part.attention.rotated_key"], norms_off=["part.attention_norm"])
    passes = [a_pass(steps, [5, 4], [1, 3, 5])]
    passes.append(a_pass(steps, [5, 4], [1, 3, 5], off, touched(off)))
    return {"program": model_payload(steps, MARKS, 8), "passes": passes}


SIZES = {"E": 4, "F": 4, "H": 4, "N": 8}  # of what an operation's parameters are long
# A value that a step may have of each kind of setting, beside its default.
OTHER: dict[str, list] = {
    "number": [0.5, 2.0],
    "flag": [True, False],
    "mask": [causal(), window(1), causal() & window(1)],
}


def others(setting: Setting) -> list:
    """Values of a setting; a whole number is the smallest that it may be."""
    least = setting.least
    if setting.kind == "whole":
        return [int(least or 0)]
    of_kind = OTHER[setting.kind]
    return of_kind if least is None else [value for value in of_kind if value >= least]


def cases(operation: Operation) -> Iterator[tuple[int, set[str], dict]]:
    """Steps that differ in one thing: how many inputs, which parameters, which settings."""
    least, most = operation.takes
    known = {
        name: setting.choices or others(setting)
        for name, setting in operation.settings.items()
        if not setting.is_switch
    }
    needed = {
        name: values[0]
        for name, values in known.items()
        if operation.settings[name].default is REQUIRED
    }
    roles = set(operation.parameters)
    for count in range(least, (least + 1 if most is None else most) + 1):
        yield count, roles, needed
    for role, parameter in operation.parameters.items():
        if parameter.is_optional:
            yield least, roles - {role}, needed
    for name, values in known.items():
        for value in values:
            left = {role for role, of in operation.parameters.items() if of.unless == (name, value)}
            yield least, roles - left, {**needed, name: value}


def repeated(operation: Operation) -> Steps:
    """The steps of an operation one after the other, between the words and the scores.

    For those that make of rows as many of the same width, whatever the number of rows.
    """
    steps, weights = [], {}
    for side in WORDS:
        steps.append(Step(side, "words", settings={"side": side}, value=torch.tensor([[1, 3]])))
        steps.append(Step(f"{side}_words", "embed", (side,), {"weight": f"{side}_words.weight"}))
        weights[f"{side}_words.weight"] = [6, SIZES["E"]]
    for n, (count, roles, settings) in enumerate(cases(operation)):
        name = f"{operation.name}.{n}"
        names = {role: f"{name}.{role}" for role in sorted(roles)}
        for role, weight in names.items():
            weights[weight] = [SIZES[size] for size in operation.parameters[role].shape.split()]
        steps.append(Step(name, operation.name, (steps[-1].name,) * count, names, settings))
    steps.append(Step("words_out", "linear", (steps[-1].name,), {"weight": "words_out.weight"}))
    weights["words_out.weight"] = [6, SIZES["E"]]
    tensors = {name: by_rule(k, name, shape) for k, (name, shape) in enumerate(weights.items())}
    return Steps(steps, tensors, WORDS).with_softmax()


def switched(operation: Operation) -> list[Changes]:
    """Each thing that can be switched off in the first of these steps, alone."""
    name = f"{operation.name}.0"
    return [
        Changes(**{kind: [name if sets else (name, 0)]})
        for kind, sets in operation.switches.items()
    ]


def by_itself(operation: Operation) -> dict:
    made = repeated(operation)
    passes = [a_pass(made, [5, 4], [1, 3, 5])]
    for changes in switched(operation):
        passes.append(a_pass(made, [5, 4], [1, 3, 5], changes, touched(changes)))
    return {"program": model_payload(made, MARKS, 8), "passes": passes}


def stored_translator() -> dict:
    model = transformer.stored()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half())
    steps = recorded(model, {"source": ENGLISH, "target": CHINESE})
    names = ["source", "source_words", "source_places", "encoder.1.attention"]
    names += ["encoder.1.residuals.1.norm", "decoder.1.self_attention", "decoder.1.cross_attention"]
    names += ["decoder.1.feed_forward.activation", "words_out", "probabilities"]
    passes = []
    for english, chinese in (
        ("Tom chases Jerry", "汤姆 追逐 杰瑞"),
        ("the big old cat sees Spike in the garden", "大 的 老 的 猫 在 花园 里 看见 斯派克"),
    ):
        source = ids(english.split(), ENGLISH).tolist()
        target = ids([START, *chinese.split()], CHINESE).tolist()
        passes.append(a_pass(steps, source, target, names=names[-2:]))
        passes[-1]["lines"] = lines(run(steps, source=source, target=target), names)
    program = model_payload(steps, MARKS)
    sentences = [[text, ids_in(text, program)] for text in SENTENCES]
    return {"program": program, "passes": passes, "sentences": sentences}


def ids_in(text: str, program: dict) -> list[int] | None:
    """None where a word is not known, or none is there."""
    try:
        return word_ids(text, program)
    except ValueError:
        return None


MODELS = {
    "small": partial(small, norm_first=False),
    "small, norm first": partial(small, norm_first=True),
    "recurrent with attention": partial(recurrent, attends=True),
    "recurrent with one vector": partial(recurrent, attends=False),
    "LanguageLayer with grouped keys": language,
    "translator": stored_translator,
    **{name: partial(part, make) for name, make in PARTS.items()},
}


def models() -> dict[str, dict]:
    """Each model, and each operation that is in none of them by itself."""
    made = {name: make() for name, make in MODELS.items()}
    seen = {step["operation"] for model in made.values() for step in model["program"]["steps"]}
    of_page = [operation for operation in OPERATIONS.values() if operation.is_on_page]
    return made | {each.name: by_itself(each) for each in of_page if each.name not in seen}


def text() -> str:
    """A line for the program of each model and one for each pass: what changes, shows."""
    parts = []
    for name, made in models().items():
        passes = ",\n".join(
            json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in made["passes"]
        )
        program = json.dumps(made["program"], allow_nan=False, ensure_ascii=False)
        more = f',\n"sentences": {json.dumps(made["sentences"])}' if "sentences" in made else ""
        parts.append(
            f'{json.dumps(name)}: {{\n"program": {program},\n"passes": [\n{passes}\n]{more}}}'
        )
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    STORED.write_text(text(), encoding="utf-8")
