"""A whole model in Chromium, Firefox and WebKit: every number of every step, the same clicks."""

import base64

import numpy as np
import pytest

from attn_core.digits import fixed
from attn_core.steps import Changes, backward, run, workings
from attn_core.translators.grammar import CHINESE, ENGLISH, START, ids
from attn_core.views.model_payload import model_payload
from tests.explorer.conftest import write_three
from tests.explorer.models import CROSS, SAY, opened, passed, percent, steps, translated
from tests.test_page_model import (
    MARKS,
    MODELS,
    check_equal,
    numbers,
    passes_of,
    recorded,
    switches,
)

SENTENCES = ["Tom chases Jerry", "the big old dog sees Spike in the park but Tyke helps the cat"]
NORM = "encoder.0.residuals.0.norm"
AT_ONCE = 10  # sentences whose numbers the page is asked for together

# Asks the page for a model's numbers: of some passes all of them, as bytes, in the order of
# tests/test_page_model.py, and as they are printed.
MODULES = """import { fixed } from "./page/core/digits.js";
import { changesOf } from "./page/core/model/changes.js";
import { Gradients } from "./page/core/model/backward/gradients.js";
import { Machine } from "./page/core/model/machine.js";
window.modules = { changesOf, fixed, Gradients, Machine };"""
# All gradients of one number, step by step, in the order of their names.
GRADIENTS = """([source, target, name, index]) => {
  const { machine, modules: { Gradients } } = window;
  const gradients = new Gradients(machine.read({ source, target }), name, index);
  const found = {};
  for (const step of gradients.steps.keys()) {
    for (const [stage, { numbers }] of Object.entries(gradients.stages(step))) {
      found[`${step} ${stage}`] = [...numbers];
    }
  }
  return found;
}"""
PREPARE = """(payload) => {
  window.machine = new window.modules.Machine(payload);
}"""
DERIVE = """([passes, isPrinted]) => {
  const { machine, modules: { changesOf, fixed } } = window;
  function* rowsOf(pass, { name, operation, stages, statistics, heads }) {
    for (const stage of stages) {
      const isOfHeads = operation === "attention" && stage !== "merged";
      const all = isOfHeads ? heads : 1;
      for (let head = 0; head < all; head++) yield* pass.rows(name, stage, head);
    }
    for (const stage of statistics) {
      const [rows, height = 0] = pass.shape(name, stage).reverse();
      for (let n = 0; n < (height || 1) * rows; n++) {
        const index = height ? [Math.floor(n / rows), n % rows] : [n];
        yield [pass.value(name, index, stage)];
      }
    }
  }
  return passes.map(({ source, target, changes }) => {
    const pass = machine.read({ source, target, changes: changesOf(machine, changes) });
    const found = [];
    for (const step of machine.steps) for (const row of rowsOf(pass, step)) found.push(...row);
    const bytes = new Uint8Array(Float64Array.from(found).buffer);
    let text = "";
    for (let n = 0; n < bytes.length; n += 8192) {
      text += String.fromCharCode(...bytes.subarray(n, n + 8192));
    }
    return [btoa(text), isPrinted ? found.map((x) => fixed(x)).join(" ") : ""];
  });
}"""
CELLS = """() => Array.from(document.querySelectorAll(".am-numbers .ax-grid tbody tr"),
  (row) => Array.from(row.cells, (cell) => cell.textContent).slice(1))"""


@pytest.fixture
def shown(tab, bare_folder, address):
    """shown(fragment) is the tab with a bare page that has the translator, started."""
    folder = bare_folder[0]

    def shown(fragment="", over="http"):
        (folder / "modules.js").write_text(MODULES, encoding="utf-8")
        asked = '<script type="module" src="modules.js"></script>' if over == "http" else ""
        page = write_three(folder, "model-three.html", opened().html + asked, over)
        tab.open("about:blank")
        start = page.as_uri() if over == "file" else f"{address}/{page.name}"
        tab.open(start + (fragment or "#x-translator"))
        tab.until_there(".am-root")
        return tab

    return shown


def check_passes(tab, passes, is_printed=False):
    """Each pass has in the page the numbers that it has in Python; the digits too, if asked for."""
    answers = tab.evaluate(DERIVE, [[question for _, question in passes], is_printed])
    for (forward, _), (encoded, printed) in zip(passes, answers, strict=True):
        page, python = np.frombuffer(base64.b64decode(encoded), dtype="<f8"), numbers(forward)
        check_equal(page, python)
        if is_printed:
            assert printed == " ".join(map(fixed, python.tolist()))


@pytest.mark.slow
def test_every_number_of_every_step_under_every_switch(shown):
    tab = shown()
    tab.evaluate(PREPARE, opened().payload)
    for n, say in enumerate(SENTENCES):
        source = ids(say.split(), ENGLISH).tolist()
        target = ids([START, *translated(say)[0][:-1]], CHINESE).tolist()
        all_of_them = [Changes(), *switches(steps())]
        # Each switch with the short sentence, some of them with the long one.
        for change in all_of_them if n == 0 else all_of_them[::6]:
            forward = run(steps(), change, source=source, target=target)
            question = {"source": source, "target": target, "changes": change.to_json()}
            check_passes(tab, [(forward, question)], is_printed=n == 0)


@pytest.mark.slow
def test_every_gradient_of_a_score(shown):
    tab = shown()
    tab.evaluate(PREPARE, opened().payload)
    source = ids(SENTENCES[1].split(), ENGLISH).tolist()
    target = ids([START, *translated(SENTENCES[1])[0][:-1]], CHINESE).tolist()
    number = "words_out", (2, CHINESE.index("狗"))
    back = backward(run(steps(), source=source, target=target), number)
    answers = tab.evaluate(GRADIENTS, [source, target, number[0], list(number[1])])
    compared = 0
    for place, found in answers.items():
        name, stage = place.split()
        if stage in back.steps[name].arrays:
            python = back.value(name, stage)[0].flatten().numpy()
            np.testing.assert_allclose(found, python, rtol=1e-9, atol=1e-12, err_msg=place)
            compared += len(found)
    assert compared > 100_000


# In each long run tests/test_page_model.py asks node for sixty, which has Chromium's JavaScript.
TEN = pytest.param(range(10), marks=pytest.mark.slow, id="ten")
ALL = pytest.param(range(300), marks=pytest.mark.deep, id="300")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sentences", [TEN, ALL])
def test_every_number_of_many_sentences(shown, name, sentences):
    """Of each sentence a pass with everything on, and one with a switch: all of them in turn."""
    tab = shown()
    tab.evaluate(PREPARE, model_payload(recorded(name)[1], MARKS))
    for first in range(sentences.start, sentences.stop, AT_ONCE):
        passes = [
            case
            for number in range(first, first + AT_ONCE)
            for case in passes_of(name, number, switched=1)
        ]
        check_passes(tab, passes)


@pytest.mark.slow
@pytest.mark.parametrize("over", ["http", "file"])
def test_a_sentence_a_number_and_a_switch(shown, over):
    tab = shown(over=over)
    translation, chances = translated(SAY)
    assert tab.texts(".am-written bdi") == translation
    assert tab.texts(".am-written small") == [percent(share) for share in chances]
    tab.click(f'.am-station[data-step="{NORM}"]')
    done = passed(SAY, translation[:-1])
    rows = tab.evaluate(CELLS)
    assert [float(x) for x in rows[1]] == pytest.approx(done.value(NORM)[0, 1].tolist(), abs=6e-5)
    tab.click('.am-table [data-row="1"][data-col="5"]')
    assert tab.text(".am-panel .am-line") == workings(done, NORM, (1, 5)).text
    tab.press("ArrowRight")
    tab.press("Enter")
    assert tab.text(".am-panel .am-line") == workings(done, NORM, (1, 6)).text
    tab.click(".am-lead")
    assert tab.text(".am-panel .am-line").startswith(f"{NORM}.normed[1, 6] = ")
    off = Changes(norms_off=[NORM])
    tab.click(".am-switches input")
    assert tab.texts(".am-written bdi") == translated(SAY, off)[0]
    assert tab.texts(".am-right bdi") == translation
    tab.wait("() => location.hash.includes('norms_off')")
    tab.reload()
    tab.until_there(".am-offs li")
    assert tab.texts(".am-written bdi") == translated(SAY, off)[0]


@pytest.mark.slow
def test_a_sentence_is_typed_and_an_attention_opened(shown):
    tab = shown(f"#x-translator?at={CROSS}")
    tab.click(".am-input")
    tab.evaluate("() => document.activeElement.select()")
    tab.type("Jerry follows Tom")
    translation, _ = translated("Jerry follows Tom")
    tab.wait("(words) => document.querySelector('.am-written').textContent.includes(words)", "跟着")
    assert tab.texts(".am-written bdi") == translation
    tab.click('.am-explorer [data-row="2"][data-col="1"]')
    done = passed("Jerry follows Tom", translation[:-1])
    assert tab.text(".am-panel .am-line") == workings(done, CROSS, (0, 2, 1), "weights").text
    tab.click(".am-input")
    tab.type(" xyl")  # which is refused once the field is left
    tab.click(".am-written .am-word:nth-child(2)")  # leaving the field must not lose the press
    tab.wait("() => document.querySelectorAll('.am-written .am-word')[1].ariaPressed === 'true'")
    tab.click(".am-line")
    tab.type("x")  # a key that means nothing changes nothing
    assert tab.texts(".am-written bdi") == translation
