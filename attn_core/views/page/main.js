// The element of the static page, and the widget of a live notebook.

import { Problem } from "./data.js";
import { Explorer } from "./explorer.js";
import { readAddress, writeAddress } from "./address.js";
import { make } from "./dom.js";
import { needed, withParts } from "./loading.js";
import { parts } from "./parts.js";
import { readBeside } from "./beside.js";

export const inNotebook = () => !!document.querySelector("#jupyter-config-data, body[data-jp-theme-name]");

export function start(element) {
  const name = element.getAttribute("name") || "";
  const script = element.querySelector('script[type="application/json"]');
  const beside = element.getAttribute("payload");
  if ((!script && !beside) || element.querySelector(".ax-root")) return;
  const fallback = [...element.children].filter((child) => child !== script);
  const begin = (payload) => {
    if (element.querySelector(".ax-root")) return;
    let timer = 0;
    const changed = (state, first) => {
      if (inNotebook()) return;
      clearTimeout(timer);
      timer = setTimeout(() => writeAddress(name, state, first), 150);
    };
    const here = inNotebook() ? null : readAddress(name);
    const explorer = new Explorer(element, payload, { start: here || {}, changed });
    for (const child of fallback) child.hidden = true;
    if (!inNotebook()) {
      if (here) element.scrollIntoView({ block: "nearest" });
      window.addEventListener("hashchange", () => {
        const wanted = readAddress(name);
        if (wanted) explorer.set({ ...explorer.first, ...wanted });
      });
    }
  };
  const fail = (error) => {
    const why = error instanceof Problem ? error.message : "its data cannot be read";
    element.querySelectorAll(".ax-root").forEach((root) => root.remove());
    element.append(make("p", { class: "ax-notice", role: "status" }, `This explorer cannot start: ${why}.`));
  };
  const go = (payload) => withParts(needed(payload), () => begin(payload), fail);
  try {
    if (script) go(JSON.parse(script.textContent));
    else readBeside(element, beside, go, fail);
  } catch (error) {
    fail(error);
  }
}

export class AttentionExplorer extends HTMLElement {
  connectedCallback() {
    if (document.readyState !== "loading") start(this);
    else document.addEventListener("DOMContentLoaded", () => start(this), { once: true });
  }
}

if (!customElements.get("attention-explorer")) {
  customElements.define("attention-explorer", AttentionExplorer);
}

// A live notebook: the state is the model's traits, both ways.
export function render({ model, el }) {
  const traits = ["stage", "batch", "head", "scale", "mask", "select"];
  const read = () => Object.fromEntries(traits.map((name) => [name, model.get(name)]));
  const changed = (state) => {
    for (const name of traits) {
      if (String(state[name]) !== String(model.get(name))) model.set(name, state[name]);
    }
    model.save_changes();
  };
  let explorer;
  el.classList.add("ax-host");
  try {
    explorer = new Explorer(el, model.get("payload"), { start: read(), changed });
    if (parts.tiles && explorer.isLong) explorer.grid.live(new parts.tiles(model));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    el.append(make("p", { class: "ax-notice", role: "status" }, `This explorer cannot start: ${error.message}.`));
    return undefined;
  }
  const update = () => {
    const wanted = read();
    if (!traits.some((name) => String(wanted[name]) !== String(explorer.state[name]))) return;
    explorer.set(wanted);
    changed(explorer.state); // a selection that lies outside the new stage was moved inside
  };
  for (const name of traits) model.on(`change:${name}`, update);
  return () => traits.forEach((name) => model.off(`change:${name}`, update));
}

export default { render };
