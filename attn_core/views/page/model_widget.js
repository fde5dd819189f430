// The widget of a model in a live notebook: what is chosen is the model's traits, both ways.

import { parts } from "./core/parts.js";
import { Problem } from "./core/problem.js";
import { live } from "./features/live.js";
import { fail, speakAs } from "./main.js";

const TRAITS = ["say", "taken", "written", "off", "temperature", "loss", "at", "stage", "head", "select"];

/** @param {{ model: any, el: HTMLElement }} widget see anywidget */
export function render({ model, el }) {
  const read = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const chosen = (state) => {
    for (const name of TRAITS) if (String(state[name]) !== String(model.get(name))) model.set(name, state[name]);
    model.save_changes();
  };
  el.classList.add("ax-host");
  let shown;
  try {
    speakAs(model.get("payload"));
    shown = new parts.model(el, model.get("payload"), { start: read(), chosen });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return fail(el, error);
  }
  const update = () => {
    const wanted = read();
    if (!TRAITS.some((name) => String(wanted[name]) !== String(shown.state[name]))) return;
    shown.apply(wanted);
    chosen(shown.state); // what could not be taken is as it was
  };
  for (const name of TRAITS) model.on(`change:${name}`, update);
  return () => {
    for (const name of TRAITS) model.off(`change:${name}`, update);
  };
}

export default { initialize: live(render), render };
