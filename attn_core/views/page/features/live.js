// Elements in the HTML of a live notebook: each is made alive by the widget whose id it has.

import { parts } from "../core/parts.js";
import { inNotebook } from "../ui/loading.js";

// How each widget of this page renders, by its id. Each widget's script is a module of its own: what
// they share is the page.
globalThis.attentionWidgets ??= new Map();

// What a widget or a script put into an element, beside what was stored there.
const RENDERED = ".ax-root, .ax-notice";
/** @type {WeakMap<HTMLElement, () => void>} */
const left = new WeakMap();

/**
 * Whether its widget is there, which then shows it.
 *
 * @param {HTMLElement} element
 */
function enter(element) {
  const render = globalThis.attentionWidgets.get(element.getAttribute("widget"));
  if (!render) return false;
  leave(element);
  clear(element);
  for (const child of element.children) child.toggleAttribute("hidden", true);
  left.set(element, render(element));
  return true;
}

/** @param {HTMLElement} element */
function leave(element) {
  const close = left.get(element);
  if (!close) return;
  left.delete(element);
  close();
  clear(element);
}

/** @param {HTMLElement} element */
function clear(element) {
  for (const child of element.querySelectorAll(`:scope > :is(${RENDERED})`)) child.remove();
}

parts.live = { enter, leave };

/**
 * A widget's `initialize`, which runs once on each page that knows its model, before it is shown.
 *
 * @param {(widget: { model: any, el: HTMLElement }) => any} render
 */
export function live(render) {
  return ({ model }) => {
    const id = model.get("widget_id");
    if (!id || !inNotebook()) return;
    globalThis.attentionWidgets.set(id, (el) => render({ model, el }));
    /** @type {NodeListOf<any>} */
    const elements = document.querySelectorAll(`[widget="${id}"]`);
    // Their class is of one script, which alone knows what they have to leave.
    for (const element of elements) element.connectedCallback();
    model.send({ kind: "live" });
    return () => globalThis.attentionWidgets.delete(id);
  };
}
