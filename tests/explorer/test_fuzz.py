"""Addresses, typed changes and pasted texts that nobody thought of: 500 of them.

Whatever comes: no error that nobody caught, no wrong number. What can't be taken is said in a
sentence in its place, and what is shown is what Python computes for the explorer's state.
"""

import functools
import json
import math
import os
import re
import shutil
import string
from itertools import chain
from urllib.parse import quote

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
import traitlets
from hypothesis import HealthCheck, given, settings

from attn_core import Dropout, alibi, causal, diagnose, padding, toy, trace, window
from attn_core.arithmetic import Workings
from attn_core.digits import fixed
from attn_core.views import explore, script
from attn_core.views.paste import paste
from attn_core.views.state import number_in
from tests.explorer.cases import projected_record, settings_of
from tests.explorer.conftest import heard_page
from tests.explorer.test_numbers import ordered_dot

pytestmark = pytest.mark.slow
EDIT = re.compile(r"(\w+)\.([\d.]+):(.*)", re.ASCII | re.DOTALL)

# The same 500 each time, unless FUZZ=anew asks for others; what fails is then told with its seed.
fuzzed = functools.partial(
    settings,
    derandomize=os.environ.get("FUZZ") != "anew",
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    print_blob=True,
)


def float64_record():
    x = toy.journey().x.double()
    return trace(x, x, x, keep=causal())


def heads_record():
    made = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(2, 2, n, 3, generator=made) for n in (4, 5, 5))
    return trace(q, k, v, keep=padding([5, 3]), dropout=Dropout(0.25, 5))


def modern_record():
    """As today's models: a bias, a softcap, sinks, keys for two heads, padding on the left."""
    made = torch.Generator().manual_seed(4)
    q, k, v = (torch.randn(2, n, T, 3, generator=made) for n, T in ((2, 4), (1, 5), (1, 5)))
    bias = alibi([0.5, 0.25]) + torch.randn(4, 5, generator=made)
    keep = causal() & padding(starts=[0, 3])
    return trace(q, k, v, keep=keep, bias=bias, softcap=2.0, sinks=torch.tensor([0.5, -1.0]))


RECORDS = {
    "words": trace(*[toy.journey().x] * 3),
    "double": float64_record(),
    "heads": heads_record(),
    "modern": modern_record(),
    "learned": projected_record(3),
}
VIEWS = {name: explore(record, name="fuzzed") for name, record in RECORDS.items()}

NASTY = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "nan", "Infinity", "1e999", "-0", "0x10", "1/3", "−2", "1/0", "9" * 400, "٣"]
    ),
    st.sampled_from(
        ["<img src=x onerror=bad()>", "%", "%E0%A4%A", "constructor", "x" * 5000, "שלום"]
    ),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(
        ["1e30", "-1e30", "1e200", "-3.4e38", "1e308", "1e-200", "1/3", "−1/7", ".5", "5."]
    ),
)


def numbers_of(*sizes):
    return st.tuples(*(st.integers(0, size) for size in sizes)).map(lambda n: list(map(str, n)))


def edits_of(name):
    """Mostly places that there are, mostly numbers."""
    inputs = {
        "words": [("x", (0, 5, 2))],
        "double": [("x", (0, 5, 2))],
        "heads": [("q", (1, 1, 3, 2)), ("k", (1, 1, 4, 2)), ("v", (1, 1, 4, 2))],
        "modern": [("q", (1, 1, 3, 2)), ("k", (1, 0, 4, 2)), ("v", (1, 0, 4, 2))],
        "learned": [("x", (1, 4, 3)), ("w_query", (3, 5)), ("w_value", (3, 5)), ("b_key", (5,))],
    }[name]
    numbers = st.one_of(
        *(
            st.tuples(st.just(array), numbers_of(*sizes), st.one_of(NUMBERS, NUMBERS, NASTY))
            for array, sizes in inputs
        )
    )
    side = "queries" if name in ("heads", "modern") else "tokens"
    tokens = st.tuples(st.just(side), numbers_of(6), NASTY)
    return st.one_of(numbers, numbers, numbers, tokens).map(
        lambda edit: f"{edit[0]}.{'.'.join(edit[1])}:{escaped(edit[2])}"
    )


def escaped(text):
    return text.replace("%", "%25").replace(",", "%2C")


def listed(items, most):
    return st.lists(items, max_size=most).map(",".join)


@st.composite
def addresses(draw):
    """The name of a record, and some settings as an address has them, in texts."""
    name = draw(st.sampled_from(list(RECORDS)))
    cells = numbers_of(6, 6).map(".".join)
    masks = st.sampled_from(["given", "none", "causal", "window:1,0", "padding:3", "padding:3,0"])
    good = {
        "stage": st.sampled_from(["scores", "scaled", "masked", "weights", "dropped", "output"]),
        "batch": st.sampled_from(["0", "1", "2"]),
        "head": st.sampled_from(["0", "1"]),
        "scale": NUMBERS,
        "mask": st.lists(masks, min_size=1, max_size=2).map("+".join),
        "select": numbers_of(6, 6).map(",".join),
        "drawn": listed(cells, 4),
        "dropout": st.sampled_from(["", "0.5,7", "1/3,9007199254740991", "0,0", "1,1", "0.1,-1"]),
        "edits": listed(edits_of(name), 5),
        "compare": st.sampled_from(["0", "1"]),
        "table": st.sampled_from(["0", "1"]),
        "lines": st.sampled_from(["0", "1"]),
        "sort": st.sampled_from(["layer", "entropy", "own"]),
        "all": st.just("1"),
    }
    names = draw(st.lists(st.sampled_from(list(good)), unique=True, max_size=5))
    wanted = {
        setting: draw(st.one_of(good[setting], good[setting], good[setting], NASTY))
        for setting in names
    }
    if draw(st.integers(0, 5)) == 0:
        wanted[draw(st.text(string.ascii_letters, min_size=1, max_size=8))] = draw(NASTY)
    return name, wanted


@pytest.fixture(scope="module")
def page(bare_folder, browser):
    with heard_page(browser, f"{bare_folder[1]}/opened.html") as page:
        page.wait_for_function("window.inside")
        page.evaluate(WATCH)
        yield page


WATCH = """() => {
  const { render } = inside.Explorer.prototype;
  inside.Explorer.prototype.render = function () { window.last = this; return render.call(this); };
  window.found = () => {
    const { state, view, noticeLine, root } = window.last;
    const attention = window.last.attention(state);
    const width = attention.data.columns(state.stage);
    return {
      state,
      notice: noticeLine.textContent,
      changes: root.querySelector(".ax-changes").textContent,
      texts: view.cells.map((line) => line.map((cell) => cell.textContent)),
      values: view.cells.map((_, i) => Array.from(attention.row(state.stage, i), String)),
    };
  };
}"""

# First as a reader opens the page, then as one follows a link on it.
OPEN = """async ([html, hash]) => {
  document.querySelector("main")?.remove();
  history.replaceState(null, "", location.pathname + hash);
  const main = document.createElement("main");
  main.innerHTML = html;
  document.body.append(main);
  const opened = found();
  const go = (to) => new Promise((done) => {
    addEventListener("hashchange", () => done(), { once: true });
    location.hash = to;
  });
  await go("#x-fuzzed");
  const first = found();
  const before = location.hash;
  location.hash = hash;
  if (location.hash !== before) await new Promise((done) => setTimeout(done));
  const followed = found();
  main.remove();
  return { opened, first, followed };
}"""


def finite(text):
    return float(text.replace("Infinity", "inf"))


def number_of(text):
    """A setting that is a number: in Python's traits an int if it is whole."""
    value = number_in(text)
    return (
        int(value) if value is not None and math.isfinite(value) and value == int(value) else value
    )


TYPED = {"batch": number_of, "head": number_of, "scale": number_in}
TRAITS = ("stage", "batch", "head", "scale", "mask", "select", "dropout")


def python_takes(name, wanted):
    """What the explorer of a live notebook takes of the settings, one after the other."""
    view = explore(RECORDS[name])
    taken = {}
    for trait in TRAITS:
        if trait not in wanted:
            continue
        text = wanted[trait]
        value = TYPED.get(trait, str)(text)
        if trait == "select":
            value = [number_of(part) for part in text.split(",")] if text else None
        try:
            setattr(view, trait, value)
        except traitlets.TraitError:
            continue
        taken[trait] = value
    return taken


def changed_record(record, state):
    """What Python computes for the state of an explorer, from the numbers that the page has."""
    parts = {name: getattr(record, name).clone() for name in "qkv"}
    source = record.source
    arrays, dirty = {}, set()
    if source is not None:
        arrays = {"x": source.x, "w_query": source.w_query, "w_key": source.w_key}
        arrays |= {"w_value": source.w_value}
        arrays |= dict(zip(("b_query", "b_key", "b_value"), source.biases or (), strict=False))
        arrays = {name: array.clone() for name, array in arrays.items()}
    for edit in filter(None, state["edits"].split(",")):
        name, place, text = EDIT.fullmatch(edit).groups()
        if name in ("tokens", "queries", "keys"):
            continue
        place = tuple(map(int, place.split(".")))
        value = number_in(text.replace("%2C", ",").replace("%25", "%"))
        if source is not None:
            arrays[name][place] = value
            dirty |= project_again(name, place, parts)
        elif name == "x":
            for part in parts.values():
                part[place[0], 0, place[1], place[2]] = value
        else:
            parts[name][place] = value
    for side, b, h, t, d in dirty:
        full, column = {"q": "query", "k": "key", "v": "value"}[side], h * parts[side].shape[3] + d
        bias = arrays[f"b_{full}"][column].item() if source.biases else 0.0
        row, weights = arrays["x"][b, t].tolist(), arrays[f"w_{full}"][:, column].tolist()
        parts[side][b, h, t, d] = ordered_dot(row, weights) + bias
    p, seed = map(number_in, state["dropout"].split(",")) if state["dropout"] else (0.0, 0.0)
    changed = {
        "keep": mask_of(record, state),
        "scale": float(state["scale"]),
        "dropout": Dropout(p, int(seed)) if p else None,
    }
    return trace(*(part.double() for part in parts.values()), **(settings_of(record) | changed))


def project_again(name, place, parts):
    """Of which numbers of q, k and v a changed number of the source is a part."""
    places = set()
    for side, full in (("q", "query"), ("k", "key"), ("v", "value")):
        B, H, T, D = parts[side].shape
        for b in range(B):
            for h in range(H):
                for t in range(T):
                    for d in range(D):
                        of_x = name == "x" and (b, t) == place[:2]
                        if of_x or (name.endswith(full) and h * D + d == place[-1]):
                            places.add((side, b, h, t, d))
    return places


def mask_of(record, state):
    B, H, L, S = record.shape
    keep = torch.ones(B, H, L, S, dtype=torch.bool)
    for part in state["mask"].split("+"):
        kind, _, sizes = part.partition(":")
        sizes = [int(size) for size in sizes.split(",") if size]
        rule = {
            "given": lambda _: record.keep,
            "none": lambda _: None,
            "causal": lambda _: causal(),
            "window": lambda sizes: window(*sizes),
            "padding": lambda sizes: padding([min(size, S) for size in sizes]),
        }[kind](sizes)
        if rule is not None:
            keep &= rule.dense(L, S)
    for cell in filter(None, state["drawn"].split(",")):
        i, j = map(int, cell.split("."))
        keep[..., i, j] ^= True
    return keep


def check_numbers(record, screen, where):
    """The cells' texts and numbers are Python's."""
    state = screen["state"]
    assert not any(text == "nan" or "NaN" in text for row in screen["texts"] for text in row), where
    values = [[finite(x) for x in row] for row in screen["values"]]
    if state["stage"] != "masked":
        assert all(map(math.isfinite, chain(*values))), where
    try:
        changed = changed_record(record, state)
    except ValueError as error:
        # Python refuses what may overflow by a bound, the page what does.
        if "must give" not in str(error):
            raise
        return
    batch, head, stage = int(state["batch"]), int(state["head"]), state["stage"]  # JSON has -0
    rows = [Workings(changed, batch, head, i) for i in range(record.shape[2])]
    if stage == "output":
        columns = changed.v[batch, head // changed.group].mT.tolist()
        wanted = [[ordered_dot(row.dropped, v) for v in columns] for row in rows]
    else:
        wanted = [list(getattr(row, stage)) for row in rows]
    for page, right in zip(values, wanted, strict=True):
        for x, y in zip(page, right, strict=True):
            assert x == y or abs(x - y) <= 1e-12 * max(1, abs(y)), (where, x, y)
    shown = list(chain(*values))
    is_whole = all(not math.isfinite(x) or x == int(x) for x in shown)
    for texts, row in zip(screen["texts"], values, strict=True):
        assert texts == [fixed(x, 0 if is_whole and abs(x) < 1e6 else 4) for x in row], where


def check_sentence(notice, is_wanted, where):
    assert len(notice) < 2000, where
    if notice:
        assert notice.endswith("."), (where, notice)
    if is_wanted is not None:
        assert bool(notice) == is_wanted, (where, notice)


@fuzzed(max_examples=200)
@given(addresses())
def test_addresses(page, case):
    name, wanted = case
    page.heard.clear()
    query = "&".join(f"{key}={quote(text)}" for key, text in wanted.items())
    screens = page.evaluate(OPEN, [VIEWS[name].html, f"#x-fuzzed?{query}"])
    assert page.heard == [], case
    record = RECORDS[name]
    for when in ("opened", "followed"):
        check_numbers(record, screens[when], (case, when))
        check_sentence(screens[when]["notice"], None, (case, when))
    assert screens["opened"]["state"] == screens["followed"]["state"], case
    assert screens["opened"]["notice"] == screens["followed"]["notice"], case
    assert not screens["first"]["notice"], case
    check_numbers(record, screens["first"], (case, "first"))
    state, first = screens["opened"]["state"], screens["first"]["state"]
    taken = python_takes(name, wanted)
    overflows = "must give numbers below" in screens["opened"]["notice"]
    has_values = state["stage"] == taken.get("stage", state["stage"])
    for trait in TRAITS:
        if trait in taken and not overflows and has_values:
            # JavaScript writes a large whole number with digits that no float has.
            shown = float(state[trait]) if trait == "scale" else state[trait]
            assert shown == taken[trait], (case, trait)
        elif trait not in taken:
            assert state[trait] == first[trait], (case, trait)
    unknown = wanted.keys() - state.keys()
    refused = unknown or any(trait in wanted and trait not in taken for trait in TRAITS)
    if refused:
        check_sentence(screens["opened"]["notice"], True, case)


TYPE = """([html, changes]) => {
  document.querySelector("main")?.remove();
  history.replaceState(null, "", location.pathname + "#x-fuzzed?all=1");
  const main = document.createElement("main");
  main.innerHTML = html;
  document.body.append(main);
  main.querySelector(".ax-inputs").open = true;
  const steps = [];
  const { last } = window;
  last.features.find(({ tables }) => tables).draw();
  for (const [nth, text] of changes) {
    const cells = [...main.querySelectorAll(".ax-inputs [data-edit]")];
    const cell = cells[nth % cells.length];
    const before = last.state.edits;
    cell.click();
    const input = cell.querySelector("input");
    input.value = text;
    const press = (key) =>
      input.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    press("Enter");
    const note = main.querySelector(".ax-inputs .ax-notice")?.textContent || "";
    if (note) press("Escape");
    const { edits: after } = last.state;
    steps.push({ edit: cell.dataset.edit, text: input.value, note, before, after });
  }
  const all = found();
  main.remove();
  return { ...all, steps };
}"""


@fuzzed(max_examples=200)
@given(
    st.sampled_from(list(RECORDS)),
    st.lists(st.tuples(st.integers(0, 200), st.one_of(NUMBERS, NASTY)), min_size=1, max_size=5),
)
def test_typed_changes(page, name, changes):
    page.heard.clear()
    screen = page.evaluate(TYPE, [VIEWS[name].html, changes])
    where = (name, changes)
    assert page.heard == [], where
    check_numbers(RECORDS[name], screen, where)
    for step in screen["steps"]:
        is_token = step["edit"].startswith(("tokens", "queries", "keys"))
        value = number_in(step["text"])
        check_sentence(step["note"], None, where)
        if step["note"]:
            assert step["before"] == step["after"], where
        elif not is_token:
            assert value is not None, where
            assert math.isfinite(value), where
        if not is_token and (value is None or not math.isfinite(value)):
            assert step["note"], where


ASK = """(text) => {
  const box = document.querySelector("attention-diagnosis");
  box.text.value = text;
  box.ask();
  return box.said.querySelector(".ax-notice, .ax-verdict")?.textContent || "";
}"""


@pytest.fixture(scope="module")
def box(bare_folder, browser):
    folder, address = bare_folder
    shutil.copyfile(script.BUILT / "diagnosis.js", folder / "fuzzed-box.js")
    (folder / "fuzzed-box.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>box</title>'
        f'<script defer src="fuzzed-box.js"></script>{paste(RECORDS["words"]).html}',
        encoding="utf-8",
    )
    with heard_page(browser, f"{address}/fuzzed-box.html") as page:
        yield page


WRITERS = {
    "torch": lambda a: str(torch.tensor(a, dtype=torch.float64)),
    "named": lambda a: f"weights = {torch.tensor(a, dtype=torch.float64)};",
    "numpy": lambda a: repr(np.array(a)),
    "bare": lambda a: "\n".join(" ".join(map(str, row)) for row in a),
    "json": json.dumps,
}
PIECES = ["[", "]", "[[", "]]", " ", "  " * 999, ",", "\n", "1", "-.5", "1e9", "nan", "-inf"]
PIECES += ["tensor(", "array(", ")", ";", ", dtype=torch.float32", "grad_fn=<A>", "..."]
PIECES += ["1" * 3000, "a" * 3000]


@fuzzed(max_examples=70)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join))
def test_pasted_texts(box, text):
    box.heard.clear()
    said = box.evaluate(ASK, text)
    assert box.heard == [], text
    assert said.endswith("."), text
    assert len(said) < 600, text


@fuzzed(max_examples=30)
@given(st.sampled_from(list(WRITERS)), st.sampled_from([-1, 1, 2, 0]), st.integers(0, 5))
def test_pasted_tables(box, writer, factor, row):
    """A stage, times something whole in one row, as it is printed: the answer is Python's."""
    cells = torch.round(RECORDS["words"].stage("weights").double(), decimals=4)
    cells[row] *= factor
    said = box.evaluate(ASK, WRITERS[writer](cells.tolist()))
    assert box.heard == []
    assert said == f"{diagnose(cells.tolist(), RECORDS['words']).text}."
