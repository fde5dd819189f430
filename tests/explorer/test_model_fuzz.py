"""Sentences, addresses and data of a model that nobody thought of: 300 of them.

Whatever comes: no error that nobody caught, what can't be taken is said in a sentence in its place,
and the translation that is shown is the one that Python writes for the model's state.
"""

import copy
import json
from urllib.parse import quote

import hypothesis.strategies as st
import pytest
from hypothesis import given

from attn_core.steps import Changes
from attn_core.translators.grammar import CHINESE, END, ENGLISH
from attn_core.views import script
from benchmarks.switched import switches
from tests.explorer.conftest import heard_page
from tests.explorer.models import SAY, opened, steps, translated
from tests.explorer.test_fuzz import NASTY, check_sentence, fuzzed, listed

pytestmark = pytest.mark.slow

PAYLOAD = opened(switched=None).payload
KNOWN = st.sampled_from(ENGLISH[3:])
# Mostly sentences that it knows, of a few words: each is translated in Python, too.
SENTENCES = st.one_of(
    st.lists(KNOWN, min_size=1, max_size=7).map(" ".join),
    st.lists(st.one_of(KNOWN, KNOWN, NASTY), max_size=6).map(" ".join),
    st.lists(KNOWN, min_size=64, max_size=66).map(" ".join),
)
NUMBERS = st.one_of(st.integers(-2, 70).map(str), st.floats(0.1, 10).map(repr), NASTY)
PLACES = st.lists(st.integers(-1, 40).map(str), max_size=4).map(",".join)

# Opens the model with an address, types a sentence, and says what is shown.
TRY = """async ([payload, fragment, typed]) => {
  document.querySelector("main")?.remove();
  history.replaceState(null, "", location.pathname + fragment);
  const main = document.createElement("main");
  main.innerHTML = '<attention-model name="fuzzed"></attention-model>';
  const script = document.createElement("script");
  script.type = "application/json";
  script.textContent = JSON.stringify(payload);
  main.firstChild.append(script);
  document.body.append(main);
  const found = () => ({
    words: [...main.querySelectorAll(".am-written bdi")].map((one) => one.textContent),
    notices: [...main.querySelectorAll(".ax-notice")].map((one) => one.textContent).filter(Boolean),
    say: main.querySelector(".am-input")?.value,
    state: { ...window.last?.state },
    texts: main.textContent,
  });
  const opened = found();
  const input = main.querySelector(".am-input");
  if (input && typed !== null) {
    input.value = typed;
    input.dispatchEvent(new Event("input"));
    input.dispatchEvent(new Event("change"));
    await new Promise((done) => setTimeout(done)); // a press that left the field comes first
  }
  const after = found();
  main.remove();
  return { opened, after };
}"""


# The last model that was made is there to be asked for its state.
LAST = """const { parts } = attentionExplorer["core/parts.js"];
parts.model = class extends parts.model {
  constructor(...given) { super(...given); window.last = this; }
};"""


@pytest.fixture(scope="module")
def page(bare_folder, browser):
    folder, address = bare_folder
    steps()  # made here: Hypothesis wants no random number drawn beside its own
    text = script.files()["explorer.js"] + script.files()["explorer-model.js"]
    (folder / "fuzzed-model.js").write_text(text, encoding="utf-8")
    (folder / "fuzzed-last.js").write_text(LAST, encoding="utf-8")
    (folder / "fuzzed-model.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>fuzzed</title>'
        '<link rel="stylesheet" href="explorer.css">'
        '<script defer src="fuzzed-model.js"></script><script defer src="fuzzed-last.js"></script>',
        encoding="utf-8",
    )
    with heard_page(browser, f"{address}/fuzzed-model.html") as page:
        yield page


def changes_of(text):
    """The changes that an address names, as Python has them."""
    changes = {}
    for item in filter(None, text.split(",")):
        kind, _, name = item.partition(":")
        step, _, head = name.rpartition(".")
        changes.setdefault(kind, []).append((step, int(head)) if kind == "heads_off" else name)
    return Changes(**changes)


def check_words(screen, case):
    """What is written is what Python writes for the state; long ones as far as they go."""
    state = screen["state"]
    assert "NaN" not in screen["texts"], case
    words = screen["words"]
    assert words, case
    if len(state["say"].split()) > 8 or len(words) > 16:
        return
    taken = {}
    for item in filter(None, state["taken"].split(",")):
        place, _, word = item.partition(":")
        taken[int(place)] = CHINESE.index(word)
    changes = changes_of(state["off"])
    right, _ = translated(state["say"], changes, taken=taken, most=len(words))
    assert words == right, case
    assert words[-1] == END or len(words) == state["written"] or len(words) >= 32, case


@st.composite
def addresses(draw):
    off = listed(st.one_of(st.sampled_from(switches(steps())), NASTY), 4)
    taken = listed(
        st.tuples(st.integers(0, 9), st.one_of(st.sampled_from(CHINESE[1:]), NASTY)).map(
            lambda choice: f"{choice[0]}:{choice[1]}"
        ),
        3,
    )
    place = st.tuples(st.sampled_from(list(steps())), st.integers(0, 9), st.integers(0, 40))
    stages = ["weights", "scores", "output", "mean", "grad_weight", "grad_input", "grad_scores"]
    parts = {
        "say": SENTENCES,
        "taken": taken,
        "off": off,
        "loss": st.one_of(place.map(lambda number: "{}:{},{}".format(*number)), NASTY),
        "written": NUMBERS,
        "temperature": NUMBERS,
        "at": st.one_of(st.sampled_from(list(steps())), NASTY),
        "stage": st.one_of(st.sampled_from(stages), NASTY),
        "head": NUMBERS,
        "select": st.one_of(PLACES, NASTY),
        "trail": st.one_of(PLACES, NASTY),
        "colour": NASTY,
    }
    names = draw(st.lists(st.sampled_from(list(parts)), unique=True, max_size=6))
    return {name: draw(parts[name]) for name in names}


@fuzzed(max_examples=120)
@given(addresses())
def test_addresses(page, wanted):
    page.heard.clear()
    query = "&".join(f"{name}={quote(text)}" for name, text in wanted.items())
    screen = page.evaluate(TRY, [PAYLOAD, f"#x-fuzzed?{query}", None])["opened"]
    assert page.heard == [], wanted
    check_words(screen, wanted)
    for notice in screen["notices"]:
        check_sentence(notice, True, wanted)
    assert len(screen["notices"]) <= 1, wanted
    if "colour" in wanted:
        assert "there is no setting called colour" in screen["notices"][0], wanted


@fuzzed(max_examples=120)
@given(SENTENCES)
def test_typed_sentences(page, text):
    page.heard.clear()
    screen = page.evaluate(TRY, [PAYLOAD, "#x-fuzzed", text])["after"]
    assert page.heard == [], text
    check_words(screen, text)
    said = screen["notices"]
    assert len(said) <= 1, text
    is_taken = screen["state"]["say"] != SAY or text.split() == SAY.split()
    assert is_taken or said, text
    if said:
        check_sentence(said[0], True, text)
        assert screen["state"]["say"] == SAY, text


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 70), st.text(max_size=4), st.just([]), st.just({})
)


@st.composite
def broken(draw):
    """The data with one thing in it replaced or taken away."""
    data = copy.deepcopy(PAYLOAD)
    inside, path = data, []
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        key = draw(st.sampled_from(keys))
        path.append(key)
        below = inside[key]
        if not isinstance(below, dict | list) or not below or draw(st.integers(0, 3)) == 0:
            break
        inside = below
    if draw(st.booleans()):
        del inside[key]
    else:
        inside[key] = draw(JUNK)
    return path, data


@fuzzed(max_examples=120)
@given(broken())
def test_broken_data(page, case):
    path, data = case
    page.heard.clear()
    screen = page.evaluate(TRY, [data, "#x-fuzzed", None])["opened"]
    assert page.heard == [], (path, json.dumps(data["view"]) if "view" in data else "")
    if not screen["words"]:
        assert len(screen["notices"]) == 1, path
        assert screen["notices"][0].startswith("This explorer cannot start: "), path
    else:
        assert "NaN" not in screen["texts"], path
