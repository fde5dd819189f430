// What one does: step, run, pause, go back to the start, and the settings.

import { OPTIMISERS } from "../../core/training/optimisers.js";
import { say } from "../../words/words.js";
import { field } from "../controls.js";
import { make } from "../dom.js";

/**
 * A control with its word beside it, which a screen reader has from its label.
 *
 * @param {string} word
 * @param {HTMLElement} control
 */
export const named = (word, control) =>
  make("span", { class: "at-setting" }, make("span", { class: "ax-label", "aria-hidden": "true" }, say(word)), control);

export class Controls {
  /** @param {import("./view.js").TrainingView} view */
  constructor(view) {
    this.view = view;
    const button = (word, onclick, more = {}) => make("button", { type: "button", onclick, ...more }, say(word));
    this.once = button("tr_oneStep", () => view.stepOnce());
    this.run = button("tr_runOn", () => view.toggle(), { class: "at-run" });
    this.back = button("tr_toStart", () => view.goTo(0));
    this.rate = field("tr_rate", () => view.choose({ rate: this.rate.value }), { inputmode: "decimal" });
    this.seed = field("tr_seed", () => view.choose({ seed: this.seed.value }, true), { inputmode: "numeric" });
    this.optimiser = this.pick(
      "tr_optimiser",
      Object.keys(OPTIMISERS),
      (kind) => say(`tr_option_${kind}`),
      (kind) => view.choose({ optimiser: kind, rate: this.firstRate(kind) }),
    );
    this.layers = this.pick("tr_layers", [1, 2], String, (count) => view.choose({ layers: Number(count) }, true));
    this.mask = this.box("tr_causalMask", "mask");
    this.start = this.box("tr_startToken", "start");
    this.element = make(
      "div",
      { class: "at-controls" },
      make("div", { class: "at-buttons" }, this.once, this.run, this.back),
      make(
        "div",
        { class: "at-settings" },
        named("tr_rate", this.rate),
        named("tr_optimiser", this.optimiser),
        named("tr_seed", this.seed),
        named("tr_layers", this.layers),
        this.mask.label,
        this.start.label,
      ),
    );
  }

  /**
   * @param {string} word
   * @param {(string | number)[]} values
   * @param {(value: any) => string} name
   * @param {(value: string) => void} act
   */
  pick(word, values, name, act) {
    const options = values.map((value) => make("option", { value }, name(value)));
    const select = make("select", { "aria-label": say(word), onchange: () => act(select.value) }, ...options);
    return select;
  }

  /**
   * @param {string} word
   * @param {string} setting
   */
  box(word, setting) {
    const onchange = () => this.view.choose({ [setting]: input.checked }, true);
    const input = make("input", { type: "checkbox", onchange });
    return { input, label: make("label", { class: "at-check" }, input, say(word)) };
  }

  /** @param {string} kind */
  firstRate(kind) {
    const { optimiser } = this.view.asked;
    return kind === optimiser.kind ? optimiser.lr : OPTIMISERS[kind].lr;
  }

  /** @param {boolean} isNoticed a text that could not be taken stays to be mended */
  render(isNoticed) {
    const { state, isRunning, isReady, past, isFull } = this.view;
    const word = say(isRunning ? "tr_pauseRun" : "tr_runOn");
    if (this.run.textContent !== word) this.run.textContent = word;
    this.once.disabled = !isReady || isRunning || isFull;
    this.run.disabled = !isReady || (!isRunning && isFull);
    this.back.disabled = !isReady || !past.count;
    for (const [input, text] of /** @type {const} */ ([
      [this.rate, String(state.rate)],
      [this.seed, String(state.seed)],
    ]))
      if (!(isNoticed && document.activeElement === input) && input.value !== text) input.value = text;
    this.optimiser.value = state.optimiser;
    this.layers.value = String(state.layers);
    this.mask.input.checked = state.mask;
    this.start.input.checked = state.start;
  }
}
