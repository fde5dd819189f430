// The widget of a live notebook: the state is the model's traits, both ways.

import { fixed } from "./core/digits.js";
import { parts } from "./core/parts.js";
import { Problem } from "./core/problem.js";
import { Explorer } from "./explorer.js";
import { live } from "./features/live.js";
import { fail, speakAs } from "./main.js";
import { make } from "./ui/dom.js";
import { addWords, say } from "./words/words.js";

addWords({
  stored: "Numbers stored in {kind}: no weight is off by more than {error}.",
});

const TRAITS = [
  "stage",
  "batch",
  "head",
  "scale",
  "mask",
  "select",
  "drawn",
  "dropout",
  "edits",
  "mistake",
  "compare",
  "hide",
];

/** @param {{ model: any, el: HTMLElement }} widget see anywidget */
export function render({ model, el }) {
  const traits = TRAITS.filter((name) => model.get(name) !== undefined);
  const read = () => Object.fromEntries(traits.map((name) => [name, model.get(name)]));
  const chosen = (state) => {
    for (const name of traits) {
      if (name in state && String(state[name]) !== String(model.get(name))) model.set(name, state[name]);
    }
    model.save_changes();
  };
  el.classList.add("ax-host");
  let explorer;
  try {
    speakAs(model.get("payload"));
    explorer = new Explorer(el, model.get("payload"), { start: read(), chosen });
    explorer.view.live?.(new parts.tiles(model));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return fail(el, error);
  }
  const { q, weights, error } = model.get("payload");
  // In HTML this line is in the stored output, as views/markup.py writes it.
  if (error !== undefined && el.localName !== "attention-explorer")
    el.append(make("p", { class: "ax-stored" }, say("stored", { kind: (weights ?? q).dtype, error: fixed(error, 6) })));
  const update = () => {
    const wanted = read();
    if (!traits.some((name) => String(wanted[name]) !== String(explorer.state[name]))) return;
    explorer.apply(wanted);
    chosen(explorer.state); // a selection that lies outside the new stage was moved inside
  };
  for (const name of traits) model.on(`change:${name}`, update);
  return () => {
    for (const name of traits) model.off(`change:${name}`, update);
  };
}

export default { initialize: live(render), render };
