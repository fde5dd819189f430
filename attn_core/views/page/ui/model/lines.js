// The arithmetic of a number: its line, inside it the numbers that it is made of, and the way to where each was made.

import { say } from "../../words/words.js";
import { coloured, make } from "../dom.js";

/** @typedef {import("../../core/model/place.js").Term} Term */

export class Lines {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Record<string, boolean>} what is open, by its path */
    this.open = {};
    this.element = make("div", { class: "ax-tree", onpointerleave: () => model.plan.point(null) });
  }

  /** @param {Term} term @param {string} at */
  render(term, at) {
    this.element.replaceChildren(this.branch(term, at, true));
  }

  /** The place of a term, as the drawing marks it. @param {Term} term */
  placeOf({ step, index }) {
    const head = index.length === 3 ? index[0] : undefined;
    return { name: step, row: index.length === 3 ? index[1] : index[0], head };
  }

  /** @param {Term} term */
  lead(term) {
    const { model } = this;
    const go = () => {
      const { stages, operation } = model.machine.step(term.step);
      const isLast = term.stage === stages.at(-1);
      const head = operation === "attention" && term.index.length === 3 ? { head: term.index[0] } : {};
      model.go(term.step, {
        stage: isLast ? "" : term.stage,
        select: operation === "words" ? null : term.index,
        ...head,
      });
      model.station.focus();
    };
    return make(
      "button",
      { type: "button", class: "am-lead", "aria-label": say("goThere", { name: term.name }), onclick: go },
      "→",
    );
  }

  /**
   * @param {Term} term
   * @param {string} path
   * @param {boolean} [isFirst]
   * @returns {HTMLElement}
   */
  branch(term, path, isFirst = false) {
    const line = coloured(term.line);
    const onpointerover = (event) => {
      event.stopPropagation();
      this.model.plan.point(isFirst ? null : this.placeOf(term));
    };
    // Beside the line, not in it: a summary is a button itself.
    const led = (own) => (isFirst ? own : make("div", { class: "am-led", onpointerover }, this.lead(term), own));
    if (!term.parts) return led(make("div", { class: "ax-leaf", onpointerover }, ...line));
    const inside = make("div", { class: "ax-parts" });
    const fill = () => {
      if (!inside.firstChild) inside.append(...term.parts().map((part, n) => this.branch(part, `${path}.${n}`)));
    };
    const open = this.open[path] ?? isFirst;
    if (open) fill();
    const ontoggle = ({ target }) => {
      fill();
      this.open[path] = target.open;
    };
    const summary = make("summary", { onclick: fill, onpointerover }, ...line);
    return led(make("details", { open, ontoggle }, summary, inside));
  }
}
