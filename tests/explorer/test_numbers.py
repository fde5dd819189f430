"""The page's numbers are attn_core's: digits, dropout's bits, cells, lines of arithmetic."""

import math
import random
import re
from collections import Counter

import pytest
import torch

from attn_core import Dropout, causal, padding, toy, trace, window, workings
from attn_core.arithmetic import Workings
from attn_core.checks import STAGES
from attn_core.digits import fixed, plain, written
from attn_core.views import explore
from attn_core.views.labels import selection_text
from generate.page_vectors import payload
from tests.explorer.cases import ROTATED, projected_record, random_record, settings_of, words

ROW_STAGES = STAGES[:-1]

DERIVE = """([payload, settings]) => {
  const data = new inside.Data(payload);
  const found = {};
  for (let batch = 0; batch < data.B; batch++) for (let head = 0; head < data.H; head++) {
    const given = { batch, head, scale: data.scale, mask: "given" };
    const attention = new inside.Attention(data, { ...given, ...settings });
    for (const stage of ["scores", "scaled", "masked", "weights", "dropped", "output"]) {
      const width = stage === "output" ? data.Dv : data.S;
      const rows = Array.from({ length: data.L }, (_, i) =>
        Array.from({ length: width }, (_, j) => attention.cell(stage, i, j)));
      found[[stage, batch, head]] = rows.map((row) => row.map((x) => [inside.fixed(x), String(x)]));
    }
  }
  return found;
}"""

TREE = """([payload, stage, i, j, batch, head]) => {
  const data = new inside.Data(payload);
  const attention = new inside.Attention(data, { batch, head, scale: data.scale, mask: "given" });
  const lines = [];
  const walk = (term, depth) => {
    lines.push("  ".repeat(depth) + term.line.map(([text]) => text).join(""));
    if (term.parts) term.parts().forEach((part) => walk(part, depth + 1));
  };
  walk(new inside.Workings(attention, i)[stage](j), 0);
  return lines.join("\\n");
}"""


def hard_numbers():
    """Ties, their neighbours, −0, what prints as zero, what reaches a million."""
    numbers = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 0.125, 0.375, -0.125, 0.00005, 0.00015, 0.03125]
    numbers += [999999.99995, 1e6, 1250000.0, 1350000.0, 2.5e6, 9.5e6, 95e5, 9999999.0, 1e22, 3e300]
    numbers += [6e-6, 9.96e-6, -4.9e-5, 5e-324, 1e-300, 0.43, float(torch.tensor(0.43)), 1 / 3]
    numbers += [n / 2**p for p in range(1, 14) for n in (1, 3, 5, 77, 1001, 9999)]
    for number in list(numbers):
        numbers += [math.nextafter(number, math.inf), math.nextafter(number, -math.inf), -number]
    draw = random.Random(4)
    numbers += [draw.uniform(-1, 1) * 10 ** draw.randint(-9, 9) for _ in range(4000)]
    numbers += [round(draw.uniform(-9, 9), 5) for _ in range(2000)]
    return numbers


def first_and_slow(cases):
    """All of them, the first one alone in a quick run."""
    first, *others = cases
    return [first, *(pytest.param(case, marks=pytest.mark.slow) for case in others)]


@pytest.mark.parametrize("places", [0, 1, 2, 3, 4, 7])
def test_digits_are_pythons(inside, places):
    numbers = [*hard_numbers(), -math.inf]
    for name, rule in (("fixed", fixed), ("plain", plain)):
        digits = inside.evaluate(
            f"([numbers, places]) => numbers.map((x) => inside.{name}(Number(x), places))",
            [[repr(x).replace("inf", "Infinity") for x in numbers], places],
        )
        wanted = [rule(x, places) for x in numbers]
        wrong = [t for t in zip(numbers, digits, wanted, strict=True) if t[1] != t[2]]
        assert wrong == []


def test_digits_of_arithmetic_are_pythons(inside):
    numbers = [*hard_numbers(), 99999999999.03125, 1e11, 1e15 + 0.25, math.inf, -math.inf]
    draw = random.Random(5)
    numbers += [draw.randint(1, 2**40) / 2**12 for _ in range(2000)]
    pairs = [(x, draw.choice([0.0, 999.5, -1000.0, 4e4, 1e6, 1e300])) for x in numbers]
    digits = inside.evaluate(
        "(pairs) => pairs.map(([x, beside]) => inside.written(Number(x), beside))",
        [[repr(x).replace("inf", "Infinity"), beside] for x, beside in pairs],
    )
    wanted = [written(*pair) for pair in pairs]
    assert [t for t in zip(pairs, digits, wanted, strict=True) if t[1] != t[2]] == []


@pytest.mark.parametrize("first", first_and_slow(range(0, 200, 50)))
def test_every_cell_is_attn_cores(inside, first):
    for seed in range(first, first + 50):
        record = random_record(seed)
        compare_all(inside.evaluate(DERIVE, [payload(record), {}]), record, seed)


def compare_all(derived, record, where):
    B, H, L, _ = record.shape
    for batch in range(B):
        for head in range(H):
            values = record.v[batch, head // record.group].double().mT.tolist()
            rows = [Workings(record, batch, head, i) for i in range(L)]
            for stage in ROW_STAGES:
                wanted = [getattr(row, stage) for row in rows]
                compare(derived[f"{stage},{batch},{head}"], wanted, (where, stage))
            wanted = [[ordered_dot(row.dropped, v) for v in values] for row in rows]
            compare(derived[f"output,{batch},{head}"], wanted, (where, "output"))


def reader_settings(seed):
    """A record, what a reader changes in the page, and the record that attn_core makes of that."""
    record, draw = random_record(5000 + seed), random.Random(seed)
    B, H, L, S = record.shape
    lengths = [draw.randrange(S + 1) for _ in range(B)]
    before, after = draw.randrange(4), draw.randrange(3)
    rules = {
        "given": record.keep,
        "causal": causal(),
        f"window:{before},{after}": window(before, after),
        f"padding:{','.join(map(str, lengths))}": padding(lengths),
    }
    chosen = [name for name in rules if draw.random() < 0.55]
    keep = torch.ones(B, H, L, S, dtype=torch.bool)
    for name in chosen:
        if rules[name] is not None:
            keep &= rules[name].dense(L, S)
    drawn = [[draw.randrange(L), draw.randrange(S)] for _ in range(draw.choice([0, 0, 1, 5]))]
    drawn = [list(cell) for cell in dict.fromkeys(map(tuple, drawn))]
    for i, j in drawn:
        keep[..., i, j] ^= True
    scale = draw.choice([record.scale, 1.0, -1.5, 0.0, 0.125])
    dropout = draw.choice([None, Dropout(0.3, draw.randrange(2**53)), record.dropout])
    settings = {"scale": scale, "mask": "+".join(chosen) or "none", "drawn": drawn}
    settings["dropout"] = dropout and {"p": dropout.p, "seed": dropout.seed}
    changed = {"keep": keep, "scale": scale, "dropout": dropout}
    wanted = trace(record.q, record.k, record.v, **(settings_of(record) | changed))
    return record, settings, wanted


@pytest.mark.gate
@pytest.mark.parametrize("first", first_and_slow(range(0, 150, 50)))
def test_every_cell_is_attn_cores_whatever_the_reader_sets(inside, first):
    met = Counter()
    for seed in range(first, first + 50):
        record, settings, wanted = reader_settings(seed)
        derived = inside.evaluate(DERIVE, [payload(record), settings])
        compare_all(derived, wanted, (seed, settings))
        dead = (
            (wanted.row_max == 0) & (wanted.row_sum == 1) & (wanted.stage("weights").sum(-1) == 0)
        )
        kinds = settings["mask"].partition(":")[0].split("+")
        met["dead rows"] += bool(dead.any())
        met["dropout"] += settings["dropout"] is not None
        met["drawn over padding and causal"] += (
            bool(settings["drawn"]) and "padding" in settings["mask"] and "causal" in kinds
        )
        met["scale 0"] += settings["scale"] == 0
    assert min(met.values()) >= 3, met


def test_ties_and_minus_zero_in_cells(inside):
    # Such as 16/512 = 0.03125: exact, with a 5 after the fourth decimal and nothing after it.
    made = torch.Generator().manual_seed(1)
    q, k, v = (torch.randint(-7, 8, (1, 1, n, 2), generator=made) / 4 for n in (9, 11, 11))
    met = Counter()
    for scale in (1 / 32, -1 / 32, -1.0):
        record = trace(q, k, v, scale=scale, keep=causal())
        compare_all(inside.evaluate(DERIVE, [payload(record), {}]), record, scale)
        for x in record.stage("scaled").double().flatten().tolist():
            met["ties"] += abs(x) * 10**4 % 1 == 0.5
            met["minus zero"] += x == 0 and math.copysign(1, x) < 0
    assert min(met["ties"], met["minus zero"]) >= 5, met


def ordered_dot(a, b):
    result = 0.0
    for x, y in zip(a, b, strict=True):
        result += x * y
    return result


def compare(rows, wanted, where):
    """Each number is attn_core's but for its last bits, where a browser's exp and tanh differ."""
    for row, wanted_row in zip(rows, wanted, strict=True):
        for (text, exact), x in zip(row, wanted_row, strict=True):
            page = float(exact.replace("Infinity", "inf"))
            assert page == x or abs(page - x) <= 1e-12 * max(1, abs(x)), where
            assert text == fixed(page), where


@pytest.mark.gate
@pytest.mark.parametrize("dropout", [None, Dropout(0.4, 2**40 + 9)])
def test_the_torch_stages_are_within_a_millionth(inside, dropout):
    """Of numbers of the book's size, in float32 as a chapter prints them."""
    words = toy.journey()
    for seed in range(50):
        made = torch.Generator().manual_seed(seed)
        x = words.x + 0.1 * torch.randn(4, 6, 3, generator=made)
        lengths = torch.randint(0, 7, (4,), generator=made).tolist()
        keep = (None, causal(), causal() & padding(lengths), window(1, 1))[seed % 4]
        record = trace(x, x, x, keep=keep, dropout=dropout)
        derived = inside.evaluate(DERIVE, [payload(record), {}])
        for stage in STAGES:
            cells = record.stage(stage)
            for b in range(4):
                rows = derived[f"{stage},{b},0"]
                page = [[float(cell[1].replace("Infinity", "inf")) for cell in row] for row in rows]
                apart = (torch.tensor(page) - cells[b]).nan_to_num(0.0).abs().max().item()
                assert apart <= 1e-6, (seed, stage)
                assert torch.equal(torch.tensor(page).isinf(), cells[b].isinf()), (seed, stage)


@pytest.mark.parametrize("seed", range(40))
def test_the_arithmetic_is_pythons_line_by_line(inside, seed):
    record = random_record(1000 + seed)
    draw = random.Random(seed)
    data = payload(record)
    B, H, L, S = record.shape
    for stage in STAGES:
        width = record.v.shape[-1] if stage == "output" else S
        i, j, b, h = (draw.randrange(size) for size in (L, width, B, H))
        text = inside.evaluate(TREE, [data, stage, i, j, b, h])
        assert text == str(workings(record, stage, i, j, batch=b, head=h)), (seed, stage)


@pytest.mark.parametrize("size", [1e3, 3e4, 1e7, 1e15])
@pytest.mark.parametrize("p", [0.3, 0.99999])
def test_the_arithmetic_of_large_numbers_is_pythons(inside, size, p):
    x = toy.journey().x * size
    for scale in (None, 1.0, size**-2):
        record = trace(x, x * 0.7, x, keep=causal(), dropout=Dropout(p, 3360), scale=scale)
        for i in range(6):
            text = inside.evaluate(TREE, [payload(record), "output", i, 1, 0, 0])
            assert text == str(workings(record, "output", i, 1))


@pytest.mark.parametrize("rotary", ROTATED, ids=repr)
@pytest.mark.parametrize("biased", [True, False])
def test_with_a_source_the_arithmetic_goes_down_to_x(inside, biased, rotary):
    record = projected_record(3, biased=biased, rotary=rotary)
    for stage, i, j, b, h in (
        ("scores", 2, 1, 1, 1),
        ("output", 4, 1, 0, 1),
        ("weights", 1, 0, 1, 0),
    ):
        text = inside.evaluate(TREE, [payload(record), stage, i, j, b, h])
        assert text == str(workings(record, stage, i, j, batch=b, head=h))
        assert text.count("\n") >= 8
        assert ("cos(" in text) == (rotary is not None)


SAY = """([payload, places]) => {
  const data = new inside.Data(payload);
  const text = (part) => part.textContent ?? part;
  return places.map(([stage, i, j, batch, head]) => {
    const attention = new inside.Attention(data, { batch, head, scale: data.scale, mask: "given" });
    return inside.sentence(attention, stage, [i, j]).map(text).join("");
  });
}"""


def test_a_sentence_about_a_number_is_pythons(inside):
    """Dead rows, hidden keys and dropped weights too."""
    met = Counter()
    for seed in range(40):
        record = random_record(7000 + seed)
        view = explore(record)
        labels, cols = view.payload["tokens"], [str(d) for d in range(record.v.shape[-1])]
        places, wanted = [], []
        draw = random.Random(seed)
        for stage in STAGES:
            for _ in range(8):
                sizes = (record.shape[2], record.columns(stage), *record.shape[:2])
                i, j, b, h = (draw.randrange(size) for size in sizes)
                places.append([stage, i, j, b, h])
                keys = cols if stage == "output" else labels["keys"]
                said = selection_text(record, stage, [i, j], labels["queries"], keys, b, h)
                wanted.append(said)
                for kind in ("keeps nothing", "from seeing", "takes away", "After dropout"):
                    met[kind] += kind in said
                if "keeps nothing" in said:
                    assert stage in ("weights", "dropped")
        # The page computes in float64.
        sentences = inside.evaluate(SAY, [payload(record), places])
        number = re.compile(r"-?(\d+\.\d{4}|\d\.\de[+-]\d+)")
        for sentence, other in zip(sentences, wanted, strict=True):
            assert number.sub("#", sentence) == number.sub("#", other), seed
    assert min(met.values()) >= 5, met


def test_the_sentences_of_a_dead_row(inside):
    keep = torch.ones(6, 6, dtype=torch.bool)
    keep[0] = False
    data = payload(words(keep=keep))
    data["tokens"] = {"queries": list("abcdef"), "keys": list("uvwxyz")}
    assert inside.evaluate(SAY, [data, [[stage, 0, 1, 0, 0] for stage in STAGES]]) == [
        "Query a and key v have the score 0.9544.",
        "Query a and key v have the scaled score 0.5510.",
        "The mask keeps query a from seeing key v.",
        "The mask keeps nothing for query a: its weights are 0.",
        "The mask keeps nothing for query a: its weights are 0.",
        "For query a, column 1 of the values averages to 0.0000.",
    ]
