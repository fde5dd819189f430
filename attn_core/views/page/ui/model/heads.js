// An attention station: the explorer of one attention, fed by the machine.

import { parts, views } from "../../core/parts.js";
import { Explorer } from "../../explorer.js";
import { make } from "../dom.js";
import { OF_OUTPUT } from "./gradients.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 * @typedef {import("../../core/data.js").Data} Data
 * @typedef {import("../../core/state.js").State} State
 */

// What the machine decides, not the explorer of one of its stations: there it would change one map alone.
// The lines below the station lead on to where each number was made: the explorer's own would say them twice.
const HIDDEN = ["scale", "mask", "inputs", "link", "all", "arithmetic"];

/**
 * Whether two attentions have the same numbers, so that what is shown of one can stay.
 * @type {(a: Data, b: Data) => boolean}
 */
function isSame(a, b) {
  if (a === b) return true;
  const said = ({ scale, keepJson, queries, keys }) => JSON.stringify([scale, keepJson, queries, keys]);
  const numbers = ({ q, k, v, gradOutput }) => [q, k, v, gradOutput].map((array) => array?.numbers ?? []);
  const others = numbers(b);
  return said(a) === said(b) && isAlike(a, b) && numbers(a).every((all, n) => all.every((x, i) => x === others[n][i]));
}

/**
 * Whether an explorer of one attention can show another: its controls are made for what these have in common.
 * @type {(a: Data, b: Data, payload?: any) => boolean}
 */
export function isAlike(a, b, payload = {}) {
  const form = ({ B, H, D, Dv, scale, keepJson, dropout, headNames, view, q, source, further }) =>
    JSON.stringify([B, H, D, Dv, scale, keepJson, dropout, headNames, view, q.dtype, !source, Object.keys(further)]);
  return form(a) === form(b) && ![a, b].some((data) => views.some((view) => view.fits(data, payload)));
}

export class Heads {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    this.element = make("div", { class: "am-explorer" });
    /** @type {Step | null} */
    this.step = null;
    /** @type {Data | null} */
    this.data = null;
    /** With the gradients of a number. @type {{ of: object, name: string, data: Data } | null} */
    this.back = null;
    this.element.addEventListener("ax-point", () => {
      const { point, state } = this.explorer;
      model.plan.point(point && { name: model.state.at, row: point[0], head: state.head });
    });
  }

  /** Of its heads, with what flows back through them while that is shown. @param {Step} step @returns {Data} */
  dataOf(step) {
    const { gradients, pass } = this.model;
    if (!gradients?.address(step.name) || !parts.gradients) return pass.data(step.name);
    if (this.back?.of !== gradients || this.back.name !== step.name) {
      const { shape, numbers } = gradients.tensor({ name: `${step.name}.backward`, stage: "grad_output" });
      const sent = { dtype: "float64", shape: [1, ...shape], numbers };
      const data = parts.gradients.dataOf({ ...pass.payload(step.name), grad_output: sent });
      this.back = { of: gradients, name: step.name, data };
    }
    return this.back.data;
  }

  /** The stage that is shown unless another is asked for. @param {Data} data */
  usual = (data) => ("grad_scores" in data.further ? "grad_scores" : "weights");

  /** What the explorer is to show. @param {Step} step @param {Data} data @returns {State} */
  wanted(step, data) {
    const { stage, select, head } = this.model.state;
    const place = select && select.length === 3 ? select.slice(1) : null;
    if (select?.length === 2) {
      // A number of the heads side by side: that head's own.
      const width = step.width / step.settings.num_heads;
      return { stage: "output", head: Math.floor(select[1] / width), select: [select[0], select[1] % width] };
    }
    const isNamed = stage && stage !== "merged" && stage !== OF_OUTPUT && data.stages.includes(stage);
    return { stage: isNamed ? stage : this.usual(data), head, select: place };
  }

  /** @param {Step} step */
  render(step) {
    const data = this.dataOf(step);
    const wanted = this.wanted(step, data);
    if (!this.data || !isSame(data, this.data)) this.take(step, data, wanted);
    else if (!this.shows(wanted)) this.explorer.apply(wanted);
  }

  /** @param {State} wanted */
  shows(wanted) {
    const { state } = this.explorer;
    return Object.keys(wanted).every((name) => String(wanted[name]) === String(state[name]));
  }

  /** The selected gradient as a number of the step's way back; null for what is not of it. @param {Step} step */
  backPlace(step) {
    const { select, stage } = this.model.state;
    const data = this.dataOf(step);
    const named = stage in data.further ? stage : this.usual(data);
    if (!(named in data.further) || select?.length !== 3) return null;
    const address = { name: `${step.name}.backward`, stage: named };
    const side = /** @type {import("../../core/data.js").Side | undefined} */ (/^grad_([qkv])$/.exec(named)?.[1]);
    if (!side) return { address, index: select };
    // There the heads are side by side.
    const [head, row, column] = select;
    return { address, index: [row, data.headOf(side, head) * data.columns(named) + column] };
  }

  /** @param {Step} step @param {Data} data @param {State} start */
  take(step, data, start) {
    const { step: stepBefore, data: before } = this;
    Object.assign(this, { step, data });
    const { hide = [], ...view } = this.model.payload.view.explorer ?? {};
    data.view = { ...view, hide: [...new Set([...HIDDEN, ...hide])] };
    if (step === stepBefore && isAlike(before, data)) this.explorer.take(data, start);
    else this.make(start);
  }

  /** @param {State} start */
  make(start) {
    const { model, step, data } = this;
    const place = this.focused();
    this.element.replaceChildren();
    /** @param {State} state */
    const chosen = ({ stage, head, select }) => {
      const wanted = {
        stage: stage === this.usual(data) ? "" : stage,
        head,
        select: select ? [head, ...select] : null,
      };
      // A stage as it is shown, with a number in it, has its name.
      if (select) wanted.stage = stage;
      model.choose(wanted, true);
      if (select) model.station.showLine();
    };
    this.explorer = new Explorer(this.element, { data, name: step.name }, { start, chosen });
    if (place) this.element.querySelector(place)?.focus({ preventScroll: true });
  }

  // Where the focus is in the explorer, as a selector that the next one has, too.
  focused() {
    const active = /** @type {HTMLElement} */ (document.activeElement);
    if (!this.element.contains(active)) return "";
    const { row, col } = active.dataset;
    if (row) return `[data-row="${row}"][data-col="${col}"]`;
    return active.matches("select") ? "select" : ".ax-stage input:checked";
  }
}
