// A few texts that a language model reads: what their words take from each other in one head, as arcs, and what may
// come next, with that head and without it. The explorer below has the head's numbers.

import { fixed } from "../core/digits.js";
import { features, parts } from "../core/parts.js";
import { Problem } from "../core/problem.js";
import { flag, oneOf } from "../core/state.js";
import { arc, boxIn, roomAbove } from "../ui/arcs.js";
import { fill, make, once, svg, token } from "../ui/dom.js";
import { refill } from "../ui/refill.js";
import { percent } from "../ui/shares.js";
import { addWords, say, sayParts } from "../words/words.js";
import { Feature } from "./feature.js";

addWords({
  prompts: "a language model reads a text",
  promptTry: "try",
  promptText: "another text",
  promptWords: "The words of the text. Press one to see what it takes from those before it.",
  promptShare: "what {query} takes from {key}: {share}",
  promptTakes:
    "Of what {query} takes in this head, {share} comes from {key}. Press the number to see how it is computed.",
  promptNext: "what comes next",
  promptNextAbout: "What may come next, and its chance",
  promptWas: "Striped: the chances with all heads on.",
  promptHead: "head {head} of layer {layer}, one of {count} heads",
  promptOn: "With all heads on, “{word}” comes next with a chance of {chance}. Switch this head off.",
  promptOff: "Without this head the chance of “{word}” falls from {was} to {chance}.",
  promptRises: "Without this head the chance of “{word}” rises from {was} to {chance}.",
  promptNow: "Now “{word}” is the likeliest, with {chance}.",
  promptChance: "How the chance of “{word}” came about",
  promptSum:
    "Each of the {count} tokens has a score. {most} is the largest of them; after it is subtracted, the exponentials add up to {sum}.",
});

const LEAST_SEEN = 0.02; // shares below this have no arc
const THICKEST = 10;
const PLACES = 2;
const FEW = 8; // words whose weights have room beside the panel
const SIDES = ["on", "off"];

/**
 * @typedef {{ scores: number[], chances: number[], most: number, sum: number }} Side
 * @typedef {{ text: string, tokens: string[], next: string[], words: number, on: Side, off: Side }} Text
 */

/** A token without the blank in front of it. @type {(piece: string) => string} */
const word = (piece) => piece.trim() || "␣";

/**
 * What tells the texts apart: the words at the only place where they differ, or else the texts.
 *
 * @param {Text[]} texts
 */
export function namesOf(texts) {
  const [first] = texts;
  const differ = [...first.tokens.keys()].filter((at) => texts.some(({ tokens }) => tokens[at] !== first.tokens[at]));
  return texts.map(({ text, tokens }) => (differ.length === 1 ? tokens[differ[0]] : text));
}

/**
 * The likeliest tokens of a side, as places in the text's list.
 *
 * @param {Text} text
 * @param {string} side
 * @param {number} count
 */
export function likeliest(text, side, count) {
  const { chances } = text[side];
  return [...chances.keys()].sort((a, b) => chances[b] - chances[a] || a - b).slice(0, count);
}

export class Prompts extends Feature {
  static fits(explorer) {
    return Feature.fits(explorer) && !!explorer.payload.prompts;
  }

  /** @type {number | null} the word that is pointed at */
  pointed = null;
  /** @type {Map<number, import("../core/data.js").Data>} the data of each text, with its words */
  named = new Map();

  constructor(explorer) {
    super(explorer);
    const { head, heads, count, texts } = explorer.payload.prompts;
    const { B, L } = explorer.data;
    if (texts.length !== B) throw new Problem(`it must have ${B} texts`);
    if (texts.some(({ tokens }) => tokens.length !== L)) throw new Problem(`its texts must have ${L} tokens`);
    const [layer, at] = head;
    this.place = { layer, head: at, count: heads };
    this.count = count;
    /** @type {Text[]} */
    this.texts = texts;
    const most = Math.max(...texts.map(({ next }) => next.length));
    this.settings = { off: flag, chance: oneOf("", ["", ...Array.from({ length: most }, (_, n) => String(n))]) };
  }

  get text() {
    return this.texts[this.explorer.state.batch];
  }

  derive(made, { batch }) {
    if (!this.named.has(batch)) {
      const words = this.texts[batch].tokens;
      const data = Object.assign(Object.create(Object.getPrototypeOf(made.data)), made.data);
      this.named.set(batch, Object.assign(data, { queries: words, keys: words }));
    }
    return { ...made, data: this.named.get(batch) };
  }

  build() {
    const { explorer, texts } = this;
    this.choices = namesOf(texts).map((name, batch) =>
      make("button", { type: "button", lang: "en", onclick: () => this.explorer.choose({ batch, chance: "" }) }, name),
    );
    const choose = make(
      "div",
      { class: "ax-texts", role: "group", "aria-label": say("promptText"), hidden: texts.length < 2 },
      make("span", { class: "ax-label", "aria-hidden": "true" }, say("promptTry")),
      ...this.choices,
    );
    this.svg = svg("svg", { class: "ax-arcs", "aria-hidden": "true" });
    this.line = make("div", { class: "ax-text-line", role: "group", "aria-label": say("promptWords") });
    this.arcs = make("div", { class: "ax-arcs-box" }, this.svg, this.line);
    this.taken = make("p", { class: "ax-hint" });
    this.input = make("input", {
      type: "checkbox",
      onchange: () => this.explorer.choose({ off: !this.input.checked }),
    });
    const toggle = make("label", { class: "ax-of-head" }, this.input, make("span", {}, say("promptHead", this.place)));
    this.list = make("div", { class: "ax-next", role: "group", "aria-label": say("promptNextAbout") });
    this.heard = make("p", { class: "ax-heard", role: "status" });
    this.sum = make("div", { class: "ax-chance", hidden: true });
    const title = make("p", { class: "ax-label", "aria-hidden": "true" }, say("promptNext"));
    this.element = make(
      "div",
      {
        class: explorer.data.L > FEW ? "ax-prompts" : "ax-prompts ax-few",
        role: "group",
        "aria-label": say("prompts"),
      },
      make("div", {}, choose, this.arcs, this.taken),
      make("div", {}, title, this.list, this.sum, toggle, this.heard),
    );
    explorer.root.prepend(this.element);
    new ResizeObserver(() => this.paint()).observe(this.arcs);
  }

  // The word whose row is lit: the one that is pointed at, or that of the open number, or the last.
  get row() {
    return this.pointed ?? this.chosen;
  }

  get chosen() {
    const { data, state } = this.explorer;
    return data.queryAt(state.stage, state.select) ?? data.L - 1;
  }

  draw(shown) {
    this.shown = shown;
    const { state } = this.explorer;
    for (const [n, button] of this.choices.entries()) button.setAttribute("aria-pressed", String(n === state.batch));
    this.input.checked = !state.off;
    this.arcs.classList.toggle("ax-is-off", state.off);
    this.drawWords();
    this.drawNext();
    this.paintSoon();
  }

  // Each word, and below it what the lit one takes from it.
  drawWords() {
    const { text, line } = this;
    if (this.drawn !== text) {
      const { data } = this.shown;
      this.drawn = text;
      this.pointed = null;
      this.words = data.queries.map((name, n) => this.wordButton(name, n));
      this.shares = data.keys.map((_, n) => this.shareButton(n));
      this.next = make("bdi", { class: "ax-comes", lang: "en" });
      const places = this.words.map((button, n) => make("span", { class: "ax-place" }, button, this.shares[n]));
      line.replaceChildren(...places, make("span", { class: "ax-place" }, this.next));
    }
    const [best] = likeliest(text, this.side, 1);
    this.next.textContent = word(text.next[best]);
  }

  get side() {
    return SIDES[Number(this.explorer.state.off)];
  }

  wordButton(name, n) {
    const look = (/** @type {number | null} */ at) => () => {
      this.pointed = at;
      this.paintSoon();
    };
    return make(
      "button",
      {
        type: "button",
        class: "ax-word",
        lang: "en",
        onclick: () => this.open(n),
        onpointerenter: look(n),
        onpointerleave: look(null),
        onfocus: look(n),
        onblur: look(null),
      },
      name,
    );
  }

  shareButton(n) {
    const act = () => this.explorer.choose({ stage: "weights", select: [this.chosen, n] });
    return make("button", { type: "button", class: "ax-of-word", onclick: act });
  }

  /** The row of a word: its largest share is selected, and the words stay in sight. @param {number} n */
  open(n) {
    const row = this.shown.row("weights", n);
    this.explorer.choose({ stage: "weights", select: [n, row.indexOf(Math.max(...row))] }, false);
  }

  paintSoon = once(() => this.paint());

  paint() {
    if (!this.element.isConnected || !this.words) return;
    const around = this.arcs.getBoundingClientRect();
    const boxes = this.words.map((button) => boxIn(around, button));
    const { row, shown } = this;
    const { L, queries } = shown.data;
    const paths = [];
    for (let i = 0; i < L; i++) {
      const room = roomAbove(boxes[i], boxes);
      for (const [j, share] of shown.row("weights", i).entries()) {
        if (share < LEAST_SEEN) continue;
        const look = i === row ? "ax-arc ax-arc-lit" : "ax-arc";
        paths.push(svg("path", { d: arc(boxes[i], boxes[j], room), class: look, "stroke-width": THICKEST * share }));
      }
    }
    paths.sort((a, b) => Number(a.matches(".ax-arc-lit")) - Number(b.matches(".ax-arc-lit")));
    this.svg.replaceChildren(...paths);
    const shares = shown.row("weights", row);
    const most = shares.indexOf(Math.max(...shares));
    for (const [n, button] of this.shares.entries()) {
      const share = fixed(shares[n], PLACES);
      button.textContent = share;
      button.style.visibility = n > row ? "hidden" : "";
      button.classList.toggle("ax-most", n === most);
      button.setAttribute("aria-label", say("promptShare", { query: queries[row], key: queries[n], share }));
    }
    for (const [n, button] of this.words.entries()) button.setAttribute("aria-pressed", String(n === row));
    const places = { query: token(queries[row], "q"), key: token(queries[most], "k") };
    fill(this.taken, ...sayParts("promptTakes", { ...places, share: make("b", {}, fixed(shares[most], PLACES)) }));
  }

  drawNext() {
    const { text, side, count } = this;
    const { chance: chosen, off } = this.explorer.state;
    const best = likeliest(text, side, count);
    const rows = best.map((n) => {
      const bar = (/** @type {string} */ of, /** @type {string} */ look) => {
        const filled = make("i", { class: look });
        filled.style.width = `${100 * text[of].chances[n]}%`;
        return make("span", { class: "ax-track" }, filled);
      };
      const before = off ? [bar("on", "ax-was")] : [];
      const bars = make("span", { class: "ax-tracks" }, bar(side, ""), ...before);
      const isOpen = chosen === String(n);
      return make(
        "button",
        {
          type: "button",
          class: "ax-likely",
          "aria-expanded": String(isOpen),
          title: say("promptChance", { word: word(text.next[n]) }),
          onclick: () => this.explorer.choose({ chance: isOpen ? "" : String(n) }),
        },
        make("bdi", { lang: "en" }, word(text.next[n])),
        bars,
        make("b", {}, percent(text[side].chances[n])),
      );
    });
    refill(this.list, ...rows);
    this.drawSum(chosen);
    this.tell(best[0]);
  }

  /** The arithmetic of a chance. @param {string} chosen */
  drawSum(chosen) {
    const { text, side } = this;
    const n = Number(chosen);
    this.sum.hidden = chosen === "" || n >= text.next.length;
    if (this.sum.hidden) return;
    const { scores, chances, most, sum } = text[side];
    const write = (/** @type {number} */ x) => fixed(x, 4);
    const line = `exp(${write(scores[n])} − ${write(most)}) / ${write(sum)} = ${write(chances[n])}`;
    const count = text.words.toLocaleString("en");
    const about = say("promptSum", { count, most: write(most), sum: write(sum) });
    fill(this.sum, make("p", { class: "ax-code" }, `${word(text.next[n])}: ${line}`), make("p", {}, about));
  }

  /** What the switch did, in words. @param {number} now the likeliest */
  tell(now) {
    const { text } = this;
    const [was] = likeliest(text, "on", 1);
    const [on, off] = SIDES.map((side) => text[side].chances);
    const name = word(text.next[was]);
    const said = [];
    if (!this.explorer.state.off) said.push(say("promptOn", { word: name, chance: percent(on[was]) }));
    else {
      const phrase = off[was] < on[was] ? "promptOff" : "promptRises";
      said.push(say(phrase, { word: name, was: percent(on[was]), chance: percent(off[was]) }), say("promptWas"));
      if (now !== was) said.splice(1, 0, say("promptNow", { word: word(text.next[now]), chance: percent(off[now]) }));
    }
    if (this.heard.textContent !== said.join(" ")) this.heard.textContent = said.join(" ");
  }

  light(place) {
    const { data, state, point, pointed } = this.explorer;
    const row = point ? (data.queryAt(pointed.stage ?? state.stage, place) ?? null) : null;
    if (row === this.lit || !this.shown) return;
    this.lit = row;
    this.pointed = row;
    this.paintSoon();
  }
}

parts.prompts = true;
features.push(Prompts);
