// A sentence whose words are joined by arcs: the thicker, the more one word takes from another. The word that
// is chosen fans its own; below stands the translation, each of its words joined to what it was made of.

import { plain } from "../../core/digits.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";
const TALLEST = 120; // pixels of the arcs
const LEAST_SEEN = 0.02; // weights below this have no arc
const THICKEST = 9;

const element = (tag, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
};

export class Arcs {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    const { within, across } = model.payload.view.arcs;
    this.within = within;
    this.across = across;
    this.svg = element("svg", { class: "am-arcs", "aria-hidden": "true" });
    this.words = make("div", { class: "am-arc-words", role: "group", "aria-label": say("arcWords") });
    this.said = make("p", { class: "am-arc-said", role: "status" });
    this.element = make("div", { class: "am-arcs-box" }, this.svg, this.words, this.said);
    /** @type {number | null} */
    this.chosen = null;
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /**
   * The weights of the head that is shown, a row for each word.
   * @type {(at: { step: string, head: number }) => Float64Array[]}
   */
  weights({ step, head }) {
    const { pass } = this.model;
    return Array.from({ length: pass.length(step) }, (_, t) => pass.row(step, "weights", t, head));
  }

  render() {
    const { translation, pass } = this.model;
    const english = pass.labels(this.within.step);
    const chinese = translation.words.filter(({ id }) => id !== this.model.machine.end).map(({ word }) => word);
    const key = JSON.stringify([english, chinese]);
    if (key !== this.key) {
      this.key = key;
      if (this.chosen !== null && this.chosen >= english.length) this.chosen = null;
      const button = (word, n) =>
        make(
          "button",
          {
            type: "button",
            class: "am-arc-word",
            lang: "en",
            onclick: () => this.choose(n),
            onpointerenter: () => this.look(n),
            onpointerleave: () => this.look(null),
            onfocus: () => this.look(n),
            onblur: () => this.look(null),
          },
          word,
        );
      this.tops = english.map(button);
      this.bottoms = chinese.map((word) => make("span", { class: "am-arc-word", lang: "zh" }, word));
      this.words.replaceChildren(
        make("div", { class: "am-arc-row" }, ...this.tops),
        make("div", { class: "am-arc-row am-arc-below" }, ...this.bottoms),
      );
    }
    this.draw();
  }

  /** @param {number} n */
  choose(n) {
    this.chosen = this.chosen === n ? null : n;
    this.draw();
  }

  /** @param {number | null} n */
  look(n) {
    this.pointed = n;
    this.draw();
  }

  draw() {
    if (!this.element.isConnected || !this.tops) return;
    const around = this.element.getBoundingClientRect();
    const middle = (box) => box.left + box.width / 2 - around.left;
    const [tops, bottoms] = [this.tops, this.bottoms].map((all) => all.map((each) => each.getBoundingClientRect()));
    const ground = (tops[0]?.top ?? 0) - around.top;
    const fan = this.pointed ?? this.chosen;
    const rows = this.weights(this.within);
    const paths = [];
    for (const [i, row] of rows.entries()) {
      if (fan !== null && i !== fan) continue;
      for (const [j, weight] of row.entries()) {
        if (weight < LEAST_SEEN || i === j) continue;
        const [x0, x1] = [middle(tops[i]), middle(tops[j])];
        const high = Math.min(TALLEST - 8, 14 + Math.abs(x1 - x0) * 0.32);
        const d = `M${x0} ${ground} C${x0} ${ground - high * 1.3} ${x1} ${ground - high * 1.3} ${x1} ${ground}`;
        paths.push(this.line(d, weight, fan === null ? "am-arc" : "am-arc am-arc-lit"));
      }
    }
    const below = this.weights(this.across);
    for (const [t, box] of bottoms.entries()) {
      for (const [j, weight] of (below[t] ?? []).entries()) {
        if (weight < LEAST_SEEN || (fan !== null && j !== fan)) continue;
        const [from, to] = [tops[j], box];
        const [y0, y1] = [from.bottom - around.top, to.top - around.top];
        const [x0, x1, half] = [middle(from), middle(to), (y0 + y1) / 2];
        const d = `M${x1} ${y1} C${x1} ${half} ${x0} ${half} ${x0} ${y0}`;
        paths.push(this.line(d, weight, "am-arc am-arc-across"));
      }
    }
    this.svg.replaceChildren(...paths);
    for (const [n, word] of this.tops.entries()) word.setAttribute("aria-pressed", String(n === this.chosen));
    this.tell(fan, rows);
  }

  /** @param {string} d @param {number} weight @param {string} kind */
  line(d, weight, kind) {
    return element("path", { d, class: kind, "stroke-width": (THICKEST * weight).toFixed(2) });
  }

  // The fan in words, for those who do not see it.
  tell(fan, rows) {
    const { pass } = this.model;
    const words = pass.labels(this.within.step);
    if (fan === null) {
      this.said.textContent = say("arcHint");
      return;
    }
    const order = [...rows[fan].keys()].sort((a, b) => rows[fan][b] - rows[fan][a]).slice(0, 3);
    const list = order.map((j) => say("arcShare", { word: words[j], share: plain(Number(rows[fan][j].toFixed(2))) }));
    this.said.textContent = say("arcSays", { word: words[fan], list: list.join(", ") });
  }
}
