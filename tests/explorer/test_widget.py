"""The widget of a live notebook, on a page of its own: what it shows beside the explorer."""

import pytest
import torch

from attn_core import trace
from attn_core.digits import fixed
from attn_core.views import explore
from tests.explorer.test_numbers import payload

# What a widget shows of a payload, and what it says when Python sets its trait `edits`, and keeps.
RENDER = """([payload, wanted]) => {
  const el = document.createElement("div");
  document.body.append(el);
  const [traits, heard] = [{ payload, stage: "weights", edits: "" }, {}];
  const model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes() {},
    on: (event, act) => { heard[event] = act; },
    off() {},
  };
  inside.render({ model, el });
  const shown = [...el.children].map((child) => [child.className, child.textContent]);
  const said = wanted.map((edits) => {
    traits.edits = edits;
    heard["change:edits"]();
    return [el.querySelector(".ax-notice").textContent, traits.edits];
  });
  el.remove();
  return { shown, said };
}"""


def rendered(inside, data, *wanted):
    return inside.evaluate(RENDER, [data, wanted])


def test_what_python_asks_for_in_vain_is_said_and_not_kept(inside):
    x = torch.eye(3)
    asked = ["x.0.0.0:2", "x.0.0.0:3,nonsense", "x.0.0.0:4"]
    said = "Not taken: edits must be one of x, tokens, got nonsense. The rest is shown."
    answers = rendered(inside, payload(trace(x, x, x)), *asked)["said"]
    assert answers == [["", asked[0]], [said, "x.0.0.0:3"], ["", asked[2]]]


@pytest.mark.parametrize("store", [None, "float16"])
def test_what_shorter_numbers_cost_stands_below_the_figure(inside, store):
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    view = explore(trace(x, x, x), store=store)
    children = rendered(inside, view.payload)["shown"]
    assert "ax-root" in children[0][0]
    if store is None:
        assert len(children) == 1
        return
    error = fixed(view.payload["error"], 6)
    said = f"Numbers stored in float16: no weight is off by more than {error}."
    assert children[1:] == [["ax-stored", said]]
    assert said in view.html, "the page says the same"


def test_data_that_fail_are_said_and_nothing_else(inside):
    x = torch.eye(3)
    data = payload(trace(x, x, x)) | {"version": 2, "error": 0.5}
    said = "This explorer cannot start: its version must be 1."
    assert rendered(inside, data)["shown"] == [["ax-notice", said]]
