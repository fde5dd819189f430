// The film: the maps of both layers at some steps, side by side, and a slider over all steps.

import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { heading, part } from "../headings.js";
import { coloursOf, picture, show } from "./maps.js";

const MOST = 8; // frames, beside the one of now

export class Film {
  /** @param {import("./view.js").TrainingView} view */
  constructor(view) {
    this.view = view;
    this.sides = make("div", { class: "at-sides", "aria-hidden": "true" });
    this.frames = make("div", { class: "at-frames", role: "group", "aria-label": say("tr_film") });
    this.slots = Array.from({ length: MOST }, () => this.slot());
    this.now = { label: make("span", { class: "at-step" }, say("tr_filmNow")), maps: [] };
    this.nowBox = make("div", { class: "at-frame at-now" }, this.now.label);
    this.frames.append(...this.slots.map(({ button }) => button), this.nowBox);
    this.slider = make("input", {
      type: "range",
      class: "at-slider",
      min: 0,
      max: 0, // until it is painted; without it the knob would be in the middle
      step: 1,
      "aria-label": say("tr_showStep"),
      oninput: () => this.look(Number(this.slider.value)),
      onchange: () => this.settle(),
    });
    this.at = make("output", { class: "at-at" });
    this.hint = make("p", { class: "at-hint" }, say("tr_rewindHint"));
    this.element = part(
      "at-part",
      heading("at-title", say("tr_film")),
      make("div", { class: "at-strip" }, this.sides, this.frames),
      make("div", { class: "at-slide" }, this.slider, this.at),
      this.hint,
    );
    this.build();
  }

  slot() {
    const label = make("span", { class: "at-step" });
    const button = make("button", { type: "button", class: "at-frame", hidden: true }, label);
    const slot = { button, label, maps: [], step: -1, shown: undefined };
    button.addEventListener("click", () => this.view.goTo(slot.step));
    return slot;
  }

  /** A picture for each layer. */
  build() {
    const { layers } = this.view.state;
    if (layers === this.layers) return;
    this.layers = layers;
    for (const slot of [...this.slots, this.now]) {
      for (const map of slot.maps) map.remove();
      slot.maps = Array.from({ length: layers }, () => picture({ "aria-hidden": "true" }));
      slot.label.before(...slot.maps);
    }
    this.forget();
    const name = (layer) => make("span", {}, say("tr_filmLayer", { layer }));
    this.sides.replaceChildren(...Array.from({ length: layers }, (_, layer) => name(layer)));
  }

  /** While the slider is moved only its number follows. @param {number} step */
  look(step) {
    this.isHeld = true;
    this.tell(step);
  }

  settle() {
    this.isHeld = false;
    this.view.goTo(Number(this.slider.value));
  }

  /** @param {number} step */
  tell(step) {
    const said = say("tr_stepOf", { step });
    if (this.at.textContent === said) return;
    this.at.textContent = said;
    this.slider.setAttribute("aria-valuetext", said);
  }

  /** Everything is painted anew: it has become dark, or begins again. */
  forget() {
    for (const slot of this.slots) slot.shown = undefined;
  }

  paint() {
    const { past, tokens, numbers, root } = this.view;
    const colours = coloursOf(root);
    const columns = tokens.length;
    const steps = past.strip(MOST);
    for (const [n, slot] of this.slots.entries()) {
      const step = steps[n] ?? -1;
      slot.button.hidden = step < 0;
      slot.button.classList.toggle("at-later", step > past.count);
      slot.button.toggleAttribute("aria-current", step === past.count);
      const maps = past.frames.get(step);
      if (maps === slot.shown) continue;
      Object.assign(slot, { step, shown: maps });
      if (!maps) continue;
      slot.label.textContent = String(step);
      slot.button.setAttribute("aria-label", say("tr_filmFrame", { step }));
      for (const [layer, map] of maps.entries()) show(slot.maps[layer], map, columns, 1, colours);
    }
    for (const [layer, { weights }] of (numbers?.pass.layers ?? []).entries())
      if (this.now.maps[layer]) show(this.now.maps[layer], weights, columns, 1, colours);
    // Before the first step there is nothing to go back to; its line keeps its place.
    this.hint.classList.toggle("ax-none", !past.furthest);
    if (this.isHeld) return;
    this.slider.max = String(past.furthest);
    this.slider.value = String(past.count);
    this.slider.disabled = !past.furthest;
    this.tell(past.count);
  }
}
