// The arithmetic of a number: its line, below it the numbers that it is made of, each with the way to where it was
// made. One level at a time: a number that is opened takes the place of the line, below the path that led to it.

import { ALL, opened } from "../../core/model/trail.js";
import { listOf } from "../../core/state.js";
import { say } from "../../words/words.js";
import { coloured, make } from "../dom.js";
import { crumbs } from "./crumbs.js";
import { stationOf } from "./gradients.js";

/** @typedef {import("../../core/model/place.js").Term} Term */

export class Lines {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {string[]} the way down to the number that is open, as far as the words that are read have its numbers */
    this.trail = [];
    this.path = make("ol", { class: "am-trail", "aria-label": say("trail") });
    this.line = make("p", { class: "am-line", tabindex: -1 });
    this.parts = make("div", { class: "ax-parts" });
    this.hint = make("p", { class: "am-look" }, say("hintLine"));
    this.element = make(
      "div",
      { class: "ax-tree", onpointerleave: () => model.plan.point(null) },
      this.path,
      this.line,
      this.parts,
      this.hint,
    );
  }

  /** @param {Term} selected */
  render(selected) {
    const levels = opened(selected, listOf(this.model.state.trail));
    const { term, trail } = levels.at(-1);
    this.trail = trail;
    this.path.hidden = levels.length < 2;
    const above = levels.slice(0, -1).map(({ term, trail }) => ({ name: this.lineOf(term)[0][0], trail }));
    this.path.replaceChildren(...crumbs(above, (trail) => this.move(trail)));
    this.line.replaceChildren(...coloured(this.lineOf(term), () => this.move([...this.trail, ALL])));
    this.parts.replaceChildren(...(term.parts?.() ?? []).map((part, n) => this.part(part, n)));
    this.parts.hidden = this.hint.hidden = !this.parts.firstChild;
  }

  /** Shows another level, and the keyboard goes with it. @param {string[]} trail */
  move(trail) {
    this.model.choose({ trail: trail.join(",") }, true);
    this.model.plan.point(null);
    this.line.focus({ preventScroll: true });
    if (this.element.getBoundingClientRect().top < 0) this.element.scrollIntoView({ block: "start" });
  }

  /**
   * Its line; where a page shows one attention alone, without that one's name.
   *
   * @param {Term} term
   * @returns {import("../../core/workings.js").Line}
   */
  lineOf({ line, step }) {
    const { arcs } = this.model.payload.view;
    const [[name, colour], ...rest] = line;
    const isOwn = step === arcs?.within.step && name.startsWith(`${step}.`);
    return isOwn ? [[name.slice(step.length + 1), colour], ...rest] : line;
  }

  /** The place of a term, as the drawing marks it. @param {Term} term */
  placeOf({ step, stage, index }) {
    const { gradients, machine } = this.model;
    const name = machine.byName.has(step) ? step : stationOf(gradients, step, stage).at;
    const head = index.length === 3 ? index[0] : undefined;
    return { name, row: index.length === 3 ? index[1] : index[0], head };
  }

  /** Where a term is made, as a state. @param {Term} term */
  stateOf({ step, stage, index }) {
    const { gradients, machine } = this.model;
    if (!machine.byName.has(step)) {
      const found = stationOf(gradients, step, stage);
      const { kind, heads, keyHeads } = machine.step(found.at);
      const side = kind.isOfHeads && /^grad_[qkv]$/.test(stage);
      if (!side) return { ...found, select: index, head: index.length === 3 ? index[0] : undefined };
      // The explorer has a table for each head.
      const { shape } = gradients.tensor({ name: step, stage });
      const count = stage === "grad_q" ? heads : keyHeads;
      const each = shape[1] / count;
      const head = (Math.floor(index[1] / each) * heads) / count;
      return { ...found, select: [head, index[0], index[1] % each], head };
    }
    const { stages, kind } = machine.step(step);
    const isLast = stage === stages.at(-1);
    const head = kind.isOfHeads && index.length === 3 ? index[0] : undefined;
    return { at: step, stage: isLast && !gradients ? "" : stage, select: kind.isOfWords ? null : index, head };
  }

  /** @param {Term} term */
  lead(term) {
    const { model } = this;
    const go = () => {
      const { at, stage, select, head } = this.stateOf(term);
      model.go(at, { stage, select, ...(head === undefined ? {} : { head }) });
      model.station.focus();
    };
    return make(
      "button",
      { type: "button", class: "am-lead", "aria-label": say("goThere", { name: term.name }), onclick: go },
      "→",
    );
  }

  /** @param {Term} term @param {number} n */
  part(term, n) {
    const onpointerover = () => this.model.plan.point(this.placeOf(term));
    const opens = term.parts || term.whole;
    const open = () => this.move([...this.trail, String(n)]);
    const line = opens
      ? make("button", { type: "button", class: "am-opens", onclick: open }, ...coloured(this.lineOf(term)))
      : make("div", { class: "ax-leaf" }, ...coloured(this.lineOf(term)));
    return make("div", { class: "am-led", onpointerover }, this.lead(term), line);
  }
}
