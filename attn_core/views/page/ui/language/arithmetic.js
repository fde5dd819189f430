// The arithmetic of a number: its line, the numbers that it is made of, and the way down to it, as the source explains
// them. A line that is pressed takes the place of the one above it.

import { ALL } from "../../core/model/trail.js";
import { Problem } from "../../core/problem.js";
import { listOf } from "../../core/state.js";
import { say } from "../../words/words.js";
import { coloured, make } from "../dom.js";
import { heading } from "../headings.js";
import { crumbs } from "../model/crumbs.js";
import { refill } from "../refill.js";

/** @param {number} x an error, as it is said */
const small = (x) => (x ? x.toExponential(1).replace("e-", " · 10^−").replace("e+", " · 10^") : "0");

export class Arithmetic {
  /** @param {import("./model.js").LanguageModel} model */
  constructor(model) {
    this.model = model;
    this.asked = "";
    /** @type {string[]} */
    this.trail = [];
    this.title = heading("ax-unseen", say("arithmeticOf"));
    this.path = make("ol", { class: "am-trail", "aria-label": say("trail") });
    this.line = make("p", { class: "am-line", tabindex: -1 });
    this.near = make("p", { class: "am-look" });
    this.parts = make("div", { class: "ax-parts" });
    this.hint = make("p", { class: "am-look" });
    this.element = make(
      "div",
      { class: "ax-tree lm-arithmetic" },
      this.title,
      this.path,
      this.line,
      this.near,
      this.parts,
      this.hint,
    );
  }

  async render() {
    const { model } = this;
    const number = model.number();
    const asked = number ? JSON.stringify([number, model.state.trail, model.stamp]) : "";
    if (asked === this.asked) return;
    this.asked = asked;
    if (!number) {
      this.clear();
      this.hint.textContent = "";
      return;
    }
    try {
      const explained = await model.source?.explain({ ...number, trail: listOf(model.state.trail) });
      if (explained && asked === this.asked) this.fill(explained);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (asked !== this.asked) return;
      this.clear();
      this.hint.textContent = `${error.message}.`;
    }
  }

  clear() {
    for (const box of [this.path, this.line, this.parts]) box.replaceChildren();
    this.near.textContent = "";
    this.title.hidden = this.path.hidden = this.parts.hidden = this.near.hidden = true;
  }

  /** @param {import("../../core/language/workings.js").Explained} explained */
  fill({ above, trail, line, hasMore, parts, near, value }) {
    this.trail = trail;
    this.title.hidden = false;
    this.path.hidden = !above.length;
    this.path.replaceChildren(...crumbs(above, (trail) => this.move(trail)));
    const all = hasMore ? () => this.move([...trail, ALL]) : undefined;
    this.line.replaceChildren(...coloured(line, all));
    this.near.hidden = !near;
    this.near.textContent = near
      ? say("nearSaid", { gap: small(Math.abs(near.exact - value)), bound: small(near.bound) })
      : "";
    refill(this.parts, ...parts.map((part, n) => this.part(part, n)));
    this.parts.hidden = !parts.length;
    const isWhole = this.model.source?.isWhole;
    this.hint.textContent = say(parts.some(({ opens }) => opens) ? "hintParts" : isWhole ? "hintLeaf" : "hintLight");
    if (this.isWanted) this.scroll();
  }

  /** Comes into sight once it is there. */
  show() {
    this.isWanted = true;
    this.scroll();
  }

  scroll() {
    if (!this.line.firstChild) return;
    this.isWanted = false;
    this.line.scrollIntoView({ block: "nearest" });
  }

  /** Shows another level, and the keyboard goes with it. @param {string[]} trail */
  move(trail) {
    this.model.choose({ trail: trail.join(",") }, true);
    this.line.focus({ preventScroll: true });
    if (this.element.getBoundingClientRect().top < 0) this.element.scrollIntoView({ block: "start" });
  }

  /**
   * @param {{ line: import("../../core/workings.js").Line, opens: boolean }} part
   * @param {number} n
   */
  part({ line, opens }, n) {
    if (!opens) return make("div", { class: "ax-leaf" }, ...coloured(line));
    const open = () => this.move([...this.trail, String(n)]);
    return make("button", { type: "button", class: "am-opens", onclick: open }, ...coloured(line));
  }
}
