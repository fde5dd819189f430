// What can be switched off in a model, and how it is told.

import { changesIn, changesText, isOff, switched, switchesOf } from "../../core/model/changes.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { refill } from "../refill.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 * @typedef {import("../../core/model/changes.js").Switch} Switch
 */

/** As an address has it. @type {(toggle: Switch) => string} */
const textOf = ({ kind, step, head }) => `${kind}:${head === undefined ? step : `${step}.${head}`}`;
/** "head 2", "residual". @type {(toggle: Switch) => string} */
const nameOf = ({ kind, head }) => (kind === "heads_off" ? say("headOn", { head }) : say(`on_${kind}`));

/**
 * What was counted with this alone switched off, in a sentence; "" where nobody counted.
 *
 * @param {{ words: number, order: number, endless: number } | undefined} counted
 * @param {number} all
 */
export function countedText(counted, all) {
  if (!counted) return "";
  const kinds = /** @type {const} */ (["words", "order", "endless"]).filter((kind) => counted[kind] > 0);
  const sum = counted.words + counted.order + counted.endless;
  if (!sum) return say("countedNone", { all });
  const isOne = kinds.length === 1;
  const list = kinds.map((kind) => say(`counted${isOne ? "All" : ""}_${kind}`, { n: counted[kind] }));
  return say("counted", { sum, all, list: list.join(say("listed")) });
}

let count = 0; // for the names of sentences

/** The switches of a station, and below its numbers what was counted with each alone. */
export class Switches {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    this.id = `am-counted-${++count}`;
    this.element = make("div", { class: "am-switches", role: "group", "aria-label": say("switches") });
    this.counted = make("div", { class: "am-counts" });
    /** @type {HTMLInputElement[]} */
    this.inputs = [];
    /** The station whose switches stand here. @type {Step | null} */
    this.step = null;
  }

  /** @param {Step} step */
  render(step) {
    const all = switchesOf(step);
    if (step !== this.step) this.build(all);
    this.step = step;
    const { changes } = this.model.pass;
    all.forEach(({ kind, step: name, head }, n) => {
      this.inputs[n].checked = !isOff(changes, kind, name, head);
    });
  }

  /** @param {Switch[]} all */
  build(all) {
    this.element.hidden = !all.length;
    const kinds = [...new Set(all.map(({ kind }) => kind))];
    const looks = kinds.map((kind) => make("p", { class: "am-look" }, say(`look_${kind}`)));
    this.inputs = all.map((toggle, n) => this.input(toggle, n));
    const boxes = all.map((toggle, n) => make("label", { class: "am-switch" }, this.inputs[n], nameOf(toggle)));
    refill(this.element, ...boxes, ...looks);
    const lines = all.flatMap((toggle, n) => this.line(toggle, n));
    this.counted.hidden = !lines.length;
    refill(this.counted, ...lines);
  }

  /** @param {Switch} toggle @param {number} n */
  input(toggle, n) {
    return make("input", {
      type: "checkbox",
      "aria-describedby": this.id + n,
      onchange: () => this.model.flip(toggle),
    });
  }

  /** @param {Switch} toggle @param {number} n */
  line(toggle, n) {
    const { model } = this;
    const { switched: measured } = model.payload.view;
    const counted = measured?.counts?.[textOf(toggle)];
    const text = countedText(counted, measured?.sentences);
    if (!text) return [];
    const { example } = counted;
    const see = () => model.choose({ say: example, off: textOf(toggle), taken: "", written: 0 }, true);
    const show = make("button", { type: "button", class: "am-try", lang: "en", onclick: see }, example);
    return [
      make("span", { class: "ax-label" }, nameOf(toggle)),
      make("span", { id: this.id + n }, text, ...(example ? [" ", say("tryIt"), " ", show] : [])),
    ];
  }
}

/** All that is off, wherever it is, each to be switched on again. */
export class Offs {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    this.list = make("ul", {});
    this.said = make("p", { class: "am-look" }, say("howFar"));
    this.element = make(
      "div",
      { class: "am-offs", role: "group", "aria-label": say("offs") },
      make("p", { class: "ax-label", "aria-hidden": "true" }, say("offs")),
      this.list,
      this.said,
    );
  }

  render() {
    const { model } = this;
    const { changes } = model.pass;
    const all = model.machine.steps
      .flatMap(switchesOf)
      .filter(({ kind, step, head }) => isOff(changes, kind, step, head));
    this.element.hidden = !all.length;
    const on = (words, act) => make("button", { type: "button", onclick: act }, words);
    const lines = all.map((toggle) => {
      const step = model.machine.step(toggle.step);
      const text = say("stationIn", { place: model.placeOf(step), station: nameOf(toggle) });
      const lead = make("button", { type: "button", class: "am-way", onclick: () => model.go(toggle.step) }, text);
      return make(
        "li",
        {},
        lead,
        " ",
        on(say("onAgain"), () => model.flip(toggle)),
      );
    });
    if (all.length > 1)
      lines.push(
        make(
          "li",
          {},
          on(say("allOnAgain"), () => model.choose({ off: "" }, true)),
        ),
      );
    refill(this.list, ...lines);
  }
}

/**
 * The changes with one thing switched, as an address has them.
 *
 * @param {import("../../core/model/machine.js").Machine} machine
 * @param {string} off
 * @param {Switch} toggle
 */
export const flipped = (machine, off, { kind, step, head }) =>
  changesText(switched(machine, changesIn(machine, off), kind, step, head));
