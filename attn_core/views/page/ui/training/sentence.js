// The text of the example with arcs: above, from which letters each takes, as wide as the weight; below, what comes
// back to the same scores, solid where a step raises the score and dashed where it lowers it. Below that, the loss of
// each letter that comes next.

import { decimals } from "../../core/digits.js";
import { hundredths } from "../../core/training/lines.js";
import { START } from "../../core/training/task.js";
import { say } from "../../words/words.js";
import { make, svg } from "../dom.js";
import { heading, part } from "../headings.js";
import { largest } from "./maps.js";

const [STEP, HIGH] = [100, 100]; // of the drawing: between two letters, and its height
const LEAST_SEEN = 0.02; // of the widest arc
const THICKEST = 7;
const MOST_LOSS = 4; // nats: the height of the bars
const [MOST_NAMED, LEAST_NAMED] = [3, 0.005]; // keys in a sentence, and the weight that two digits show

/**
 * From letter i to letter j, over the letters between; a loop from a letter to itself. It begins at the lower edge.
 *
 * @param {number} i
 * @param {number} j
 * @param {number} count of letters
 */
function arc(i, j, count) {
  const [from, to] = [(i + 0.5) * STEP, (j + 0.5) * STEP];
  if (i === j) return `M${from} ${HIGH}C${from - 45} ${HIGH - 34} ${from + 45} ${HIGH - 34} ${from} ${HIGH}`;
  const peak = HIGH - (26 + (98 * Math.abs(i - j)) / (count - 1));
  return `M${from} ${HIGH}C${from} ${peak} ${to} ${peak} ${to} ${HIGH}`;
}

/** The arcs of all pairs: their places stay, and their widths follow the numbers. */
class Arcs {
  /** @param {string} kind */
  constructor(kind) {
    this.svg = svg("svg", { class: `at-arcs at-${kind}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    this.kind = kind;
    this.count = 0;
    /** @type {SVGElement[]} */
    this.paths = [];
  }

  /** @param {number} count of letters */
  build(count) {
    if (count === this.count) return;
    this.count = count;
    this.svg.setAttribute("viewBox", `0 0 ${count * STEP} ${HIGH}`);
    this.paths = Array.from({ length: count * count }, (_, n) =>
      svg("path", { d: arc(Math.floor(n / count), n % count, count), class: "at-arc" }),
    );
    this.svg.replaceChildren(...this.paths);
  }

  /**
   * @param {ArrayLike<number>} numbers
   * @param {number} most the widest
   * @param {number | null} lit the row that is looked at
   */
  paint(numbers, most, lit) {
    const { count } = this;
    for (const [n, path] of this.paths.entries()) {
      const share = Math.min(1, Math.abs(numbers[n]) / most);
      const isDrawn = share >= LEAST_SEEN;
      path.style.display = isDrawn ? "" : "none";
      if (!isDrawn) continue;
      const row = Math.floor(n / count);
      path.style.strokeWidth = `${(0.5 + THICKEST * share).toFixed(2)}px`;
      path.classList.toggle("at-falls", this.kind === "back" && numbers[n] > 0);
      path.classList.toggle("at-lit", row === lit);
      path.classList.toggle("at-faint", lit !== null && row !== lit);
    }
  }
}

export class Sentence {
  /** @param {import("./view.js").TrainingView} view */
  constructor(view) {
    this.view = view;
    this.forward = new Arcs("forward");
    this.back = new Arcs("back");
    this.letters = make("div", { class: "at-letters", role: "group", "aria-label": say("tr_sentence") });
    this.losses = make("div", { class: "at-losses", "aria-hidden": "true" });
    this.said = make("p", { class: "at-hint", id: `${view.id}-said` });
    this.layers = make("div", { class: "at-layers", role: "group", "aria-label": say("tr_chooseLayer") });
    const title = (word) => make("p", { class: "at-hint" }, say(word));
    this.element = part(
      "at-part",
      heading("at-title", say("tr_sentence")),
      this.layers,
      title("tr_takes"),
      this.forward.svg,
      this.letters,
      this.back.svg,
      title("tr_comesBack"),
      this.losses,
      title("tr_wordLosses"),
      this.said,
    );
  }

  /** Another text, or another number of layers. */
  build() {
    const { view } = this;
    const { tokens, targets, state } = view;
    const count = tokens.length;
    for (const arcs of [this.forward, this.back]) arcs.build(count);
    for (const box of [this.letters, this.losses]) box.style.setProperty("--at-count", String(count));
    this.buttons = tokens.map((token, place) =>
      make(
        "button",
        {
          type: "button",
          class: token === START ? "at-letter at-start" : "at-letter",
          "aria-label": say("tr_wordAbout", { word: token, place }),
          "aria-describedby": this.said.id,
          onclick: () => this.choose(place),
        },
        token,
      ),
    );
    this.letters.replaceChildren(...this.buttons);
    this.bars = targets.map((token) => {
      const bar = make("i");
      const number = make("span");
      return { bar, number, box: make("div", { class: "at-loss" }, make("b", {}, token), make("u", {}, bar), number) };
    });
    this.losses.replaceChildren(...this.bars.map(({ box }) => box));
    const layer = (n) =>
      make(
        "button",
        { type: "button", onclick: () => view.choose({ layer: n, select: null }) },
        say("tr_layer", { layer: n }),
      );
    this.layerButtons = Array.from({ length: state.layers }, (_, n) => layer(n));
    this.layers.replaceChildren(...this.layerButtons);
    this.layers.hidden = state.layers < 2;
  }

  /** The row of a letter alone, or of all again. @param {number} place */
  choose(place) {
    const { view } = this;
    view.row = view.row === place ? null : place;
    view.choose({ select: null });
    this.tell();
  }

  paint() {
    const { view } = this;
    const { numbers, row, layer } = view;
    for (const [n, button] of this.buttons.entries()) button.setAttribute("aria-pressed", String(n === row));
    for (const [n, button] of this.layerButtons.entries()) button.setAttribute("aria-pressed", String(n === layer));
    const pass = numbers?.pass.layers[layer];
    if (!pass) return;
    const back = numbers.gradients.layers[layer].scaled;
    this.forward.paint(pass.weights, 1, row);
    // The gradients of a row alone may be small beside those of others.
    const rows = row === null ? back : back.subarray(row * this.buttons.length, (row + 1) * this.buttons.length);
    this.back.paint(back, largest(rows) || 1, row);
    for (const [n, { bar, number }] of this.bars.entries()) {
      const loss = numbers.loss.losses[n];
      bar.style.height = `${Math.min(100, (100 * loss) / MOST_LOSS || 0).toFixed(1)}%`;
      number.textContent = loss < 99 ? decimals(loss, 1) : "…";
    }
  }

  /** The row in words, when nothing moves. */
  tell() {
    const { numbers, row, layer, tokens, targets, isBroken } = this.view;
    const pass = numbers?.pass.layers[layer];
    if (isBroken || row === null || !pass) {
      this.said.textContent = say(isBroken ? "tr_overflowedNow" : "tr_wordHint");
      return;
    }
    const weights = pass.weights.subarray(row * tokens.length, (row + 1) * tokens.length);
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, MOST_NAMED);
    const list = order
      .filter((n) => weights[n] >= LEAST_NAMED)
      .map((n) => say("tr_wordShare", { word: tokens[n], place: n, share: hundredths(weights[n]) }));
    this.said.textContent = say("tr_wordSaid", {
      word: tokens[row],
      place: row,
      list: list.join(say("tr_listed")),
      next: targets[row],
      loss: hundredths(numbers.loss.losses[row]),
    });
  }
}
