// A sentence whose words are joined by arcs: the thicker, the more one word takes from another, and a loop is what it
// takes from itself. The row of the selected number is lit; below is the translation, each of its words joined to what
// it was made of.

import { fixed } from "../../core/digits.js";
import { say } from "../../words/words.js";
import { arc, boxIn, joined, roomAbove } from "../arcs.js";
import { make, once, svg } from "../dom.js";

const LEAST_SEEN = 0.02; // weights below this have no arc
const THICKEST = 9;

export class Arcs {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    const { within, across } = model.payload.view.arcs;
    this.within = within;
    this.across = across;
    this.svg = svg("svg", { class: "ax-arcs", "aria-hidden": "true" });
    this.words = make("div", { class: "am-arc-words", role: "group", "aria-label": say("arcWords") });
    this.said = make("p", { class: "am-arc-said", role: "status" });
    this.element = make("div", { class: "am-arcs-box" }, this.svg, this.words, this.said);
    /** @type {number | null} the word that is pointed at */
    this.pointed = null;
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

  /** The word whose row has the selected number. @returns {number | null} */
  get chosen() {
    const { at, select } = this.model.state;
    const { row, head } = this.model.selectedRow();
    return select && at === this.within.step && head === this.within.head ? row : null;
  }

  render() {
    const { translation, pass } = this.model;
    const english = pass.labels(this.within.step);
    const chinese = translation.words.filter(({ id }) => id !== this.model.machine.end).map(({ word }) => word);
    const key = JSON.stringify([english, chinese]);
    if (key !== this.key) {
      this.key = key;
      this.pointed = null; // its button goes without a word
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
    this.drawSoon();
  }

  /** Selects the largest share of a word, or no number if it was that word's. @param {number} n */
  choose(n) {
    const { step, head } = this.within;
    const row = this.model.pass.row(step, "weights", n, head);
    const select = this.chosen === n ? null : [head, n, row.indexOf(Math.max(...row))];
    this.model.choose({ at: step, stage: "weights", head, select }, true);
  }

  /** @param {number | null} n */
  look(n) {
    this.pointed = n;
    this.drawSoon();
  }

  drawSoon = once(() => this.draw());

  draw() {
    if (!this.element.isConnected || !this.tops) return;
    const around = this.element.getBoundingClientRect();
    const [tops, bottoms] = [this.tops, this.bottoms].map((all) => all.map((each) => boxIn(around, each)));
    const fan = this.pointed ?? this.chosen;
    const rows = this.weights(this.within);
    const kind = (isLit) => (fan === null ? "" : isLit ? " am-arc-lit" : " am-arc-faint");
    const paths = [];
    for (const [i, row] of rows.entries()) {
      const room = roomAbove(tops[i], tops);
      for (const [j, weight] of row.entries()) {
        if (weight < LEAST_SEEN) continue;
        paths.push(this.line(arc(tops[i], tops[j], room), weight, `am-arc${kind(i === fan)}`));
      }
    }
    const below = this.weights(this.across);
    for (const [t, to] of bottoms.entries()) {
      for (const [j, weight] of (below[t] ?? []).entries()) {
        if (weight < LEAST_SEEN) continue;
        const from = tops[j];
        const d = joined(to.x, to.top, from.x, from.bottom);
        paths.push(this.line(d, weight, `am-arc am-arc-across${kind(j === fan)}`));
      }
    }
    // What is lit lies over what is not.
    paths.sort((a, b) => Number(b.matches(".am-arc-faint")) - Number(a.matches(".am-arc-faint")));
    this.svg.replaceChildren(...paths);
    for (const [n, word] of this.tops.entries()) word.setAttribute("aria-pressed", String(n === this.chosen));
    this.tell(fan, rows);
  }

  /** @param {string} d @param {number} weight @param {string} kind */
  line(d, weight, kind) {
    return svg("path", { d, class: kind, "stroke-width": (THICKEST * weight).toFixed(2) });
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
    const list = order.map((j) => say("arcShare", { word: words[j], share: fixed(rows[fan][j], 2) }));
    this.said.textContent = say("arcSays", { word: words[fan], list: list.join(say("listed")) });
  }
}
