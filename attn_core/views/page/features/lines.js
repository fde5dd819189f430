// The weights of a head as lines between two columns of tokens: the wider and the darker, the larger.

import { decimals } from "../core/digits.js";
import { flag } from "../core/state.js";
import { bdi, fill, make, svg, token } from "../ui/dom.js";
import { say, sayParts } from "../words/words.js";
import { Feature } from "./feature.js";
import { lookOf, Over } from "./over.js";

const MOST = 64; // tokens of a side; of more, only the selected row has lines
const MOST_SAID = 3; // ends of lines in the sentence
const LEAST_SEEN = 0.01; // of one head, twice that of several: weights below this have a line only where those of one token are alone
const THICKEST = 7; // pixels, for a weight of 1
const [FAINTEST, FAINTEST_ALONE] = [0.05, 0.3]; // opacity
const [QUERIES, KEYS] = [0, 1]; // the two sides

/** @type {(size: number) => number[]} */
const all = (size) => [...Array(size).keys()];
/** @type {(numbers: ArrayLike<number>) => number[]} */
const largestFirst = (numbers) => all(numbers.length).sort((a, b) => Math.abs(numbers[b]) - Math.abs(numbers[a]));
const written = (x) => (Number.isFinite(x) ? (x < 0 ? "-" : "") + decimals(Math.abs(x), 2) : "nan");

/**
 * @param {number[]} place
 * @param {number} weight
 * @param {number} faintest
 * @param {string} look the class of its colour, "" for that of query and key
 */
function lineOf([i, j], weight, faintest, look) {
  const share = Math.min(1, Math.abs(weight));
  return svg("line", {
    x1: 0,
    y1: i + 0.5,
    x2: 1,
    y2: j + 0.5,
    "stroke-width": (0.5 + (THICKEST - 0.5) * share).toFixed(2),
    "stroke-opacity": Math.max(faintest, share).toFixed(3),
    ...(look && { class: look }),
  });
}

/**
 * The lines of one token, which are shown alone.
 *
 * @typedef {{ side: number, n: number }} Fan
 */

export class Lines extends Feature {
  onRequest = ["lines"];
  /** @type {Fan | null} the token that is pointed at, or has the focus */
  looked = null;
  /** @type {number | undefined} the row that is pointed at or selected in the matrix */
  row;
  /** @type {import("../core/attention.js").Attention | undefined} */
  attention;
  stage = "weights";
  /** @type {number | "all" | null} the row that has lines, null if none is selected of a long text */
  only = "all";
  /** @type {number[][]} the rows and the columns of the matrix whose tokens are shown */
  shown = [[], []];
  /** @type {number[][]} their weights, the mean of the heads that are shown */
  cells = [];
  /** @type {{ colour: number, cells: number[][] }[]} the same of each head */
  sheets = [];
  heads = ""; // which ones are shown
  /** @type {HTMLButtonElement[][]} */
  tokens = [[], []];

  constructor(explorer) {
    super(explorer);
    this.over = new Over(explorer);
    this.settings = { lines: flag, ...this.over.settings };
  }

  build(controls) {
    const { explorer } = this;
    controls.box("lines", "", controls.toggle("lines"));
    const colour = `${explorer.id}-lines`;
    const stops = [0, 1].map((offset) => svg("stop", { offset, class: `ax-stop-${offset ? "k" : "q"}` }));
    this.every = svg("g", {});
    this.alone = svg("g", {});
    this.svg = svg(
      "svg",
      { role: "img", preserveAspectRatio: "none", stroke: `url(#${colour})` },
      svg("linearGradient", { id: colour, gradientUnits: "userSpaceOnUse", x1: 0, x2: 1, y1: 0, y2: 0 }, ...stops),
      this.every,
      this.alone,
    );
    this.columns = ["query", "key"].map((name) => make("div", { role: "group", "aria-label": say(name) }));
    this.long = make("p", { class: "ax-hint" }, say("linesLong", { most: MOST }));
    this.said = make("p", { class: "ax-hint" });
    const table = make(
      "div",
      { class: "ax-columns" },
      token(say("query"), "q"),
      make("span"),
      token(say("key"), "k"),
      this.columns[QUERIES],
      make("div", { class: "ax-between" }, this.svg),
      this.columns[KEYS],
    );
    this.element = make(
      "div",
      { class: "ax-lines", hidden: true },
      this.over.element,
      this.over.hint,
      this.long,
      table,
      this.said,
    );
    explorer.map.append(this.element);
    const listen = (name, act) => table.addEventListener(name, act);
    for (const name of ["pointerover", "focusin"]) listen(name, ({ target }) => this.look(this.placeOf(target)));
    listen("focusin", ({ target }) => this.stop(target));
    for (const name of ["pointerleave", "focusout"]) listen(name, () => this.look(null));
    listen("click", ({ target }) => {
      const place = this.placeOf(target);
      if (place) this.press(place);
    });
    listen("keydown", (event) => this.key(event));
  }

  /** @param {HTMLElement} target @returns {Fan | null} */
  placeOf(target) {
    const button = /** @type {HTMLButtonElement | null} */ (target.closest("button"));
    const side = this.tokens.findIndex((column) => button && column.includes(button));
    return side < 0 ? null : { side, n: this.tokens[side].indexOf(button) };
  }

  draw(attention) {
    const { state } = this.explorer;
    this.element.hidden = !state.lines;
    if (!state.lines) return;
    const { data } = attention;
    const stage = ["dropped", "output"].includes(state.stage) ? "dropped" : "weights";
    const isLong = Math.max(data.L, data.S) > MOST;
    const asked = data.queryAt(state.stage, state.select);
    const row = isLong ? asked : "all";
    const isOver = data.H > 1 && !attention.isDifference;
    this.over.element.hidden = this.over.hint.hidden = !isOver;
    if (isOver) this.over.draw();
    const heads = isOver ? JSON.stringify(this.over.heads) : "";
    const isSame = this.attention === attention && this.stage === stage && this.only === row && this.heads === heads;
    if (!isSame) {
      Object.assign(this, { attention, stage, only: row, looked: null, heads });
      this.long.hidden = !isLong;
      const rows = row === "all" ? all(data.L) : row === null ? [] : [row];
      this.rebuild(rows, isLong && rows.length ? largestFirst(attention.row(stage, row)) : all(data.S));
    }
    const pressed = [asked, data.isOfPairs(state.stage) ? state.select?.[1] : undefined];
    for (const [side, column] of this.tokens.entries()) {
      for (const [n, button] of column.entries()) {
        button.setAttribute("aria-pressed", String(this.shown[side][n] === pressed[side]));
      }
    }
    this.paint();
  }

  /**
   * Other tokens, or other weights.
   *
   * @param {number[]} rows of the matrix
   * @param {number[]} columns of which the first ones are shown
   */
  rebuild(rows, columns) {
    const { data } = this.attention;
    const cols = rows.length ? columns.slice(0, MOST).sort((a, b) => a - b) : [];
    this.shown = [rows, cols];
    this.sheets = this.sheetsOf(rows, cols);
    const sum = (i, j) => this.sheets.reduce((total, { cells }) => total + cells[i][j], 0);
    this.cells = rows.map((_, i) => cols.map((_, j) => sum(i, j) / this.sheets.length));
    const names = [rows.map((i) => data.queries[i]), cols.map((j) => data.keys[j])];
    this.tokens = names.map((side, n) =>
      side.map((name) =>
        make(
          "button",
          { type: "button", class: `ax-lines-token ax-${n ? "k" : "q"}`, tabindex: -1 },
          bdi(name),
          make("span"),
        ),
      ),
    );
    for (const [n, column] of this.columns.entries()) column.replaceChildren(...this.tokens[n]);
    this.stop(this.tokens[QUERIES][0]);
    this.svg.setAttribute("viewBox", `0 0 1 ${Math.max(rows.length, cols.length, 1)}`);
    const many = { rows: rows.length, width: cols.length };
    const about =
      this.only === "all" ? say("linesOf", many) : say("linesOfRow", { query: names[QUERIES][0] ?? "", ...many });
    this.svg.setAttribute("aria-label", about);
    const least = this.sheets.length > 1 ? 2 * LEAST_SEEN : LEAST_SEEN;
    const lines = this.sheets.flatMap(({ cells, colour }) =>
      cells.flatMap((row, i) =>
        row.flatMap((weight, j) =>
          Math.abs(weight) >= least ? [lineOf([i, j], weight, FAINTEST, this.lookOf(weight, colour))] : [],
        ),
      ),
    );
    this.every.replaceChildren(...lines);
  }

  /**
   * The weights of each head that is shown.
   *
   * @param {number[]} rows
   * @param {number[]} cols
   */
  sheetsOf(rows, cols) {
    const { explorer, attention, stage } = this;
    const { state } = explorer;
    return (this.heads ? this.over.heads : [{ head: state.head, colour: -1 }]).map(({ head, colour }) => {
      const shown = head === state.head ? attention : explorer.derive({ ...state, head });
      const cells = rows.map((i) => {
        const row = shown.row(stage, i);
        return cols.map((j) => row[j]);
      });
      return { colour, cells };
    });
  }

  /** A difference has the colour of its sign, one of several heads that of the head. */
  lookOf(weight, colour) {
    if (this.attention.isDifference) return weight < 0 ? "ax-line-less" : "ax-line-more";
    return colour < 0 ? "" : lookOf(colour);
  }

  /** @param {HTMLButtonElement | undefined} button the one that the tab key leads to */
  stop(button) {
    if (this.reached) this.reached.tabIndex = -1;
    this.reached = button;
    if (button) button.tabIndex = 0;
  }

  /** @param {Fan | null} place */
  look(place) {
    if (JSON.stringify(place) === JSON.stringify(this.looked)) return;
    this.looked = place;
    this.paint();
  }

  light(place) {
    const { data, state } = this.explorer;
    const row = data.queryAt(state.stage, place) ?? undefined;
    if (this.row === row) return;
    this.row = row;
    if (!this.element.hidden) this.paint();
  }

  /** @returns {Fan | null} */
  get fan() {
    if (this.looked) return this.looked;
    const n = this.shown[QUERIES].indexOf(this.row ?? -1);
    return n < 0 ? null : { side: QUERIES, n };
  }

  /** The weights of a token's lines. @param {Fan} fan */
  weightsOf({ side, n }, cells = this.cells) {
    return side === QUERIES ? cells[n] : cells.map((row) => row[n]);
  }

  // The lines of one token alone, the numbers at their other ends; or all lines.
  paint() {
    const { fan, shown, attention } = this;
    this.every.style.display = fan ? "none" : "";
    const weights = fan ? this.weightsOf(fan) : [];
    const placeOf = (end) => (fan.side === QUERIES ? [fan.n, end] : [end, fan.n]);
    const lines = (fan ? this.sheets : []).flatMap(({ cells, colour }) =>
      this.weightsOf(fan, cells).flatMap((weight, end) =>
        weight ? [lineOf(placeOf(end), weight, FAINTEST_ALONE, this.lookOf(weight, colour))] : [],
      ),
    );
    this.alone.replaceChildren(...lines);
    const isHidden = (end) => {
      const [i, j] = placeOf(end);
      return !weights[end] && !attention.keeps(shown[QUERIES][i])[shown[KEYS][j]];
    };
    for (const [side, column] of this.tokens.entries()) {
      const isEnd = fan && side !== fan.side;
      for (const [n, button] of column.entries()) {
        button.lastChild.textContent = isEnd && !isHidden(n) ? written(weights[n]) : "";
        button.classList.toggle("ax-lit", fan?.side === side && fan.n === n);
      }
    }
    this.tell(fan, weights);
  }

  // Where most goes, or comes from. It is read out for who moves among the tokens, and not for each move elsewhere.
  tell(fan, weights) {
    const { data } = this.attention;
    this.said.setAttribute("aria-live", this.looked ? "polite" : "off");
    if (!fan) {
      this.said.textContent = this.tokens[QUERIES].length ? say("linesHint") : "";
      return;
    }
    const nameOf = (side, n) =>
      side === QUERIES ? token(data.queries[this.shown[side][n]], "q") : token(data.keys[this.shown[side][n]], "k");
    const ends = largestFirst(weights).filter((n) => weights[n]);
    const list = ends
      .slice(0, MOST_SAID)
      .flatMap((n, count) => [count ? say("linesListed") : "", nameOf(1 - fan.side, n), ` ${written(weights[n])}`]);
    const { isDifference } = this.attention;
    const some = isDifference ? "linesDiffer" : fan.side === QUERIES ? "linesTo" : "linesFrom";
    const phrase = list.length ? some : isDifference ? "linesAlike" : "linesNone";
    const [before, name, after, , end] = sayParts(phrase, { token: nameOf(fan.side, fan.n), list: "" });
    const mean = this.sheets.length > 1 ? [` ${say("linesMean", { count: this.sheets.length })}`] : [];
    fill(this.said, before, name, after, ...(list.length ? [...list, end] : []), ...mean);
  }

  /**
   * Opens a number: the largest of a query; of a key the one in the selected row, or its largest.
   *
   * @param {Fan} place
   */
  press({ side, n }) {
    const { explorer, cells, shown, stage } = this;
    const { state } = explorer;
    const { data } = explorer;
    const chosen = shown[QUERIES].indexOf(data.queryAt(state.stage, state.select) ?? -1);
    const [largest] = largestFirst(this.weightsOf({ side, n }));
    const [i, j] = side === QUERIES ? [n, largest] : [chosen < 0 ? largest : chosen, n];
    if (!cells.length) return;
    const select = [shown[QUERIES][i], shown[KEYS][j]];
    explorer.choose(data.isOfPairs(state.stage) ? { select } : { stage, select });
  }

  key(event) {
    const place = this.placeOf(event.target);
    if (!place) return;
    const { side, n } = place;
    const to = {
      ArrowUp: [side, n - 1],
      ArrowDown: [side, n + 1],
      ArrowLeft: [QUERIES, n],
      ArrowRight: [KEYS, n],
      Home: [side, 0],
      End: [side, Infinity],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const column = this.tokens[to[0]];
    const next = column[Math.max(0, Math.min(to[1], column.length - 1))];
    next.focus();
  }
}
