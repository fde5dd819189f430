// The widget of a training in a live notebook. The reader trains in the page: Python learns nothing of it.

import { parts } from "./core/parts.js";
import { live } from "./features/live.js";
import { fail, speakAs } from "./main.js";

/** @param {{ model: any, el: HTMLElement }} widget see anywidget */
export function render({ model, el }) {
  el.classList.add("ax-host");
  try {
    speakAs(model.get("payload"));
    const view = new parts.training(el, model.get("payload"));
    return () => view.close();
  } catch (error) {
    return fail(el, /** @type {Error} */ (error));
  }
}

export default { initialize: live(render), render };
