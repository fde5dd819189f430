// All heads at a glance: a small map each, in the same colours or each in its own. One of them is chosen.

import { decimals } from "../core/digits.js";
import { layersOf } from "../core/layers.js";
import { measured, measuresOf } from "../core/measures.js";
import { parts } from "../core/parts.js";
import { howOf, overviewOf, pooled } from "../core/pooling.js";
import { weightRows } from "../core/weight_rows.js";
import { make } from "../ui/dom.js";
import { moved } from "../ui/grid.js";
import { heading } from "../ui/headings.js";
import { GRADIENT_HEAT, HEAT } from "../ui/heat.js";
import { isDark, onTheme, paint, shades } from "../ui/pixels.js";
import { addWords, say, sentenceKey } from "../words/words.js";

addWords({
  heads: "heads",
  headsHint: "All {count} heads, in the same colours: pick one to see it large.",
  headsOwn: "All {count} heads, each in its own colours: pick one to see it large.",
  ownScale: "each in its own colours",
  allHeads: "back to all heads",
  headsEvery: " Of the queries, one in {step} is drawn.",
  sort: "sort by",
  sortLayer: "layer",
  sortEntropy: "entropy",
  sortPrevious: "previous token",
  sortFirst: "first token",
  sortOwn: "own token",
  sortInduction: "induction",
  sortLargest: "largest weight",
  sortDistance: "difference of the runs",
  sortedName: "{name}, {sort} {number}",
  sortedEntropy:
    "The number is the mean entropy of a row of weights: 0 where each query looks at one key alone, and larger the more evenly it looks at many.",
  sortedPrevious: "The number is the mean weight on the token just before.",
  sortedFirst: "The number is the mean weight on the first token.",
  sortedOwn: "The number is the mean weight on the query's own token.",
  sortedInduction:
    "The number is the mean weight on the token that came after the last earlier copy of the query's token.",
  sortedDistance:
    "The number is the share of a row's weight that the second run gives to other keys, on average: 0 where both runs give the same weights, 1 where they share no key.",
  sortedLargest: "The number is the mean of each row's largest weight.",
});

const MOST_A_SIDE = 64; // rows and columns of a small map, unless the data have an overview
const MOST_WHOLE = 300; // heads: of more, the sheet scrolls by itself on a phone, too
const A_FRAME = 8; // milliseconds of work at a time
const MOST_WORK = 2 ** 28; // products in all small maps: where there are more, only maps in view are drawn
// Of a state, what changes neither the maps nor what they are sorted by.
const APART = { head: 0, select: 0, at: 0, all: 0, hide: 0, own: 0, sort: 0, lines: 0, over: 0, table: 0, compare: 0 };

/**
 * Full rows where that is possible, as in views/multiples.py.
 *
 * @param {number} count
 */
export function acrossOf(count) {
  if (count <= 6) return count;
  for (let across = 12; across > 3; across--) if (count % across === 0 && count > across) return across;
  return Math.min(12, Math.ceil(Math.sqrt(2 * count)));
}

/** @param {import("../core/layers.js").Named[]} heads of a layer */
const lineOf = (heads) => ({
  heads,
  // Each head's own name says its layer, too.
  title: make("span", { class: "ax-hint ax-layer-name", "aria-hidden": "true" }, heads[0].layer),
  row: make("div", { class: "ax-layer", role: "row" }),
});

// Tells `onpick(head)`.
export class Heads {
  /** @type {string} the state of the maps, as a text */
  shown;
  /** @type {any[] | undefined} the numbers of the small maps, as far as they are derived */
  maps;
  /** @type {number[]} the heads whose maps are in view, or were, those that came last before the others */
  seen = [];
  /** @type {(head: number) => import("../core/attention.js").Attention} */
  attentionOf;
  /** @type {boolean | undefined} whether each map has colours of its own */
  isOwn;
  stage = "weights";
  how = "max";
  step = 1; // rows for which one is drawn
  /** @type {string} the state of what the heads are sorted by, as a text */
  basis;
  /** @type {Record<string, number>[]} what each head is sorted by, once that is derived */
  measures = [];
  /** @type {number[]} the heads as they are shown */
  order = [];
  sort = "layer";
  /**
   * @param {import("../core/data.js").Data} data
   * @param {boolean} [hasRuns] whether there are two runs
   */
  constructor(data, hasRuns = false) {
    this.data = data;
    this.names = data.headNames || Array.from({ length: data.H }, (_, h) => `${say("head")} ${h}`);
    const layers = layersOf(this.names);
    this.across = layers ? Math.min(12, layers[0].length) : acrossOf(data.H);
    this.layers = layers?.map(lineOf);
    /** @type {(head: number) => void} */
    this.onpick = () => {};
    this.onown = () => {};
    /** @type {(sort: string) => void} */
    this.onsort = () => {};
    this.pictures = this.names.map(() => this.picture());
    this.labels = this.names.map(() => make("span", { "aria-hidden": "true" }));
    this.buttons = this.names.map((name, h) =>
      make(
        "button",
        { type: "button", class: "ax-small", title: name, onclick: () => this.onpick(h) },
        this.pictures[h],
        this.labels[h],
      ),
    );
    const sheet = make("div", { class: "ax-sheet", "aria-label": say("heads") });
    this.caption = make("p", { class: "ax-hint" });
    this.caption.style.marginTop = "4px";
    this.own = make("button", { type: "button", class: "ax-reset", onclick: () => this.onown() }, say("ownScale"));
    this.sorter = make(
      "select",
      { "aria-label": say("sort"), onchange: () => this.onsort(this.sorter.value) },
      make("option", { value: "layer" }, say(/layer|层/.test(layers?.[0][0].layer) ? "sortLayer" : "given")),
      ...measuresOf(data, hasRuns).map((name) => make("option", { value: name }, say(sentenceKey("sort", name)))),
    );
    const title = make("span", { class: "ax-label", "aria-hidden": "true" }, say("sort"));
    this.about = make("span", { class: "ax-label" });
    const control = make("div", { class: "ax-control" }, title, this.sorter, this.about);
    this.element = make("div", { class: "ax-heads" }, control, sheet, this.caption, this.own);
    sheet.style.maxWidth = `${this.across * 6}rem`;
    sheet.style.setProperty("--ax-across", this.across);
    sheet.classList.toggle("ax-many", data.H > MOST_WHOLE);
    this.name = heading("ax-opened-name");
    const back = make("button", { type: "button", class: "ax-reset", onclick: () => this.back() }, say("allHeads"));
    /** The name of the head whose large map is below, in view as long as the map is. */
    this.opened = make("div", { class: "ax-opened" }, this.name, back);
    this.sheet = sheet;
    this.arrange();
    const { H, L, S, D } = data;
    this.isLong = H * Math.min(L, MOST_A_SIDE) * S * D > MOST_WORK && !data.overview;
    if (this.isLong) this.watch();
    this.buttons.forEach((button, h) => {
      Object.assign(button.style, { padding: "2px", lineHeight: "1" });
      const look = { display: "block", width: "100%", imageRendering: "pixelated", marginBottom: "2px" };
      Object.assign(this.pictures[h].style, look, { background: "var(--ax-line)" });
    });
    sheet.addEventListener("keydown", (event) => this.key(event));
    onTheme(this.element, () => this.paint());
  }

  /** Where a map is painted. @returns {HTMLElement} */
  picture() {
    return make("canvas", { width: 1, height: 1, role: "img" });
  }

  // Maps are derived when they come near.
  watch() {
    const observer = new IntersectionObserver(
      (entries) => {
        const places = entries.map(({ target }) => this.buttons.indexOf(target));
        const come = places.filter((_, n) => entries[n].isIntersecting);
        this.seen = [...come, ...this.seen.filter((h) => this.maps?.[h] || !places.includes(h))];
        if (this.attentionOf) this.later(this.pending());
      },
      { rootMargin: "25%" },
    );
    for (const button of this.buttons) observer.observe(button);
  }

  /** The heads whose maps are wanted: to sort them takes all. */
  get wanted() {
    return this.isLong && this.sort === "layer" ? this.seen : [...this.names.keys()];
  }

  /** The data are others now. */
  forget() {
    this.shown = this.basis = "";
  }

  /**
   * attentionOf(head) gives its Attention; it's asked for all heads, so it should keep none of them.
   *
   * @param {(head: number) => import("../core/attention.js").Attention} attentionOf
   * @param {import("../core/state.js").State} state
   */
  draw(attentionOf, state) {
    const { head, stage, batch, how = "max", own = false, sort = "layer" } = state;
    this.buttons.forEach((button, h) => {
      button.setAttribute("aria-selected", String(h === head));
      button.tabIndex = h === head ? 0 : -1;
      button.style.outline = h === head ? "2px solid var(--ax-accent)" : "";
    });
    this.head = head;
    if (this.name.textContent !== this.names[head]) this.name.textContent = this.names[head];
    this.sorter.value = sort;
    if (this.isOwn !== own) {
      this.isOwn = own;
      this.own.setAttribute("aria-pressed", String(own));
      this.paint();
    }
    const shown = JSON.stringify({ ...state, ...APART });
    const basis = JSON.stringify({ ...state, ...APART, stage: 0, how: 0 });
    if (shown === this.shown && sort === this.sort) return;
    if (shown !== this.shown) this.maps = [];
    if (basis !== this.basis) this.measures = [];
    Object.assign(this, { shown, basis, sort, attentionOf, stage, batch, how });
    this.later(this.pending());
  }

  // After the next frame, so that the large matrix is painted first.
  later(steps) {
    this.steps = steps;
    requestAnimationFrame(() => setTimeout(() => steps === this.steps && this.work(steps)));
  }

  // Derives some of the maps, then lets the page paint a frame; the colours and the order need all of them.
  work(steps) {
    const stop = performance.now() + A_FRAME;
    while (performance.now() < stop) {
      if (!steps.next().done) continue;
      this.arrange();
      this.paint();
      return;
    }
    if (this.isLong) this.paint();
    this.later(steps);
  }

  // What is not derived yet, in small steps.
  *pending() {
    const { maps = [], measures, sort } = this;
    for (const [n, h] of this.wanted.entries()) {
      const isMeasured = sort === "layer" || measures[h];
      if (maps[h] && isMeasured) continue;
      if (n) yield;
      const attention = this.attentionOf(h);
      maps[h] ??= this.mapOf(attention);
      if (!isMeasured) measures[h] = yield* measured(attention);
    }
  }

  /** The layers, while the maps stand in rows of them: then they are a grid, and otherwise a list. */
  get lines() {
    return this.sort === "layer" ? this.layers : null;
  }

  /** What the sheet holds: rows of layers, or maps. @returns {HTMLElement[]} */
  get inside() {
    return this.lines?.map(({ row }) => row) ?? this.order.map((h) => this.buttons[h]);
  }

  // The maps in their order: in rows of layers, or sorted, each with its number. The focus stays where it is. Whether
  // any was moved.
  arrange() {
    const { sort, sheet, layers, lines, names, measures } = this;
    const isSorted = sort !== "layer";
    const byLayer = layers?.flatMap(({ heads }) => heads);
    this.order = [...names.keys()];
    if (isSorted) this.order.sort((a, b) => measures[b][sort] - measures[a][sort]);
    sheet.classList.toggle("ax-sorted", isSorted);
    sheet.setAttribute("role", lines ? "grid" : "listbox");
    this.about.textContent = isSorted ? say(sentenceKey("sorted", sort)) : "";
    this.buttons.forEach((button, h) => {
      button.setAttribute("role", lines ? "gridcell" : "option");
      const name = layers ? names[h] : `${h}: ${names[h]}`;
      const named = byLayer?.[h] ?? { h, layer: "", head: String(h) };
      if (!isSorted) {
        this.call(h, name);
        this.labels[h].replaceChildren(named.head);
        return;
      }
      const number = decimals(measures[h][sort], 2);
      this.call(h, say("sortedName", { name, sort: say(sentenceKey("sort", sort)), number }));
      this.labels[h].replaceChildren(this.shortOf(named), make("b", {}, number));
    });
    const { inside } = this;
    if (inside.every((each, n) => each === sheet.children[n]) && inside.length === sheet.children.length) return false;
    const focused = this.buttons.find((button) => button === document.activeElement);
    for (const { row, title, heads } of lines ?? [])
      row.replaceChildren(title, ...heads.map(({ h }) => this.buttons[h]));
    sheet.replaceChildren(...inside);
    focused?.focus({ preventScroll: true });
    return true;
  }

  /**
   * Names a map. Some readers of a screen read what a cell holds and not its name: the picture has it, too.
   *
   * @param {number} h
   * @param {string} name
   */
  call(h, name) {
    for (const element of [this.buttons[h], this.pictures[h]]) element.setAttribute("aria-label", name);
  }

  /**
   * What is written on a map that is sorted, before its number.
   *
   * @param {import("../core/layers.js").Named} named
   */
  shortOf({ layer, head }) {
    const [initial] = /[a-z]/i.exec(layer) ?? "L";
    return layer ? `${initial.toUpperCase()}${layer.replace(/\D/g, "")} H${head}` : head;
  }

  /**
   * The numbers of a small map. Of a long one each row stands for several: the caption says so.
   *
   * @param {import("../core/attention.js").Attention} attention
   */
  mapOf(attention) {
    const blocks = overviewOf(attention, this.stage, this.how);
    if (blocks) return blocks;
    const L = this.data.rowsIn(this.stage);
    this.step = Math.ceil(L / MOST_A_SIDE);
    const all = this.weightRows(attention);
    const { S } = this.data;
    if (all && Math.max(L, S) <= MOST_A_SIDE) return { numbers: all, columns: S };
    const cells = Array.from({ length: Math.ceil(L / this.step) }, (_, n) =>
      all ? all.subarray(n * S, (n + 1) * S) : attention.row(this.stage, n * this.step),
    );
    const columns = Math.min(cells[0].length, MOST_A_SIDE);
    return { numbers: pooled(cells, cells.length, columns, howOf(attention, this.stage, this.how)), columns };
  }

  // Where nothing but the map is asked of a head. To be sorted, its rows are needed once more.
  weightRows(attention) {
    return this.stage === "weights" && this.sort === "layer" ? weightRows(attention, this.step) : null;
  }

  paint() {
    const { maps, data } = this;
    if (!maps?.length || (!this.isLong && maps.length < data.H)) return;
    const ramp = this.stage in data.further ? GRADIENT_HEAT : HEAT;
    const mode = shades(isDark(this.element) ? "dark" : "light", ramp);
    const ends = maps.map(({ numbers }) =>
      numbers.reduce((end, x) => (Number.isFinite(x) ? Math.max(end, Math.abs(x)) : end), 0),
    );
    const end = Math.max(...ends.filter(Boolean));
    maps.forEach(({ numbers, columns }, h) => {
      const canvas = /** @type {HTMLCanvasElement} */ (this.pictures[h]);
      Object.assign(canvas, { width: columns, height: numbers.length / columns });
      canvas.style.aspectRatio = `${data.columns(this.stage)} / ${data.rowsIn(this.stage)}`;
      paint(canvas.getContext("2d"), numbers, columns, (this.isOwn ? ends[h] : end) || 1, mode);
    });
    this.end = end;
    const every = this.step > 1 ? say("headsEvery", { step: this.step }) : "";
    this.caption.textContent = say(this.isOwn ? "headsOwn" : "headsHint", { count: data.H }) + every;
  }

  /** From the large map to the small ones. */
  back() {
    this.buttons[this.head].focus({ preventScroll: true });
    this.buttons[this.head].scrollIntoView({ block: "center" });
  }

  /** Maps in a row of a list: fewer for a finger. */
  columns() {
    return getComputedStyle(this.sheet).gridTemplateColumns.split(" ").length;
  }

  /**
   * The head to which a key leads: in the grid as in a matrix, in the list to the next that lies that way.
   *
   * @param {KeyboardEvent} event
   * @returns {number | undefined}
   */
  headAt(event) {
    const { head, lines, order } = this;
    const rows = lines?.map(({ heads }) => heads.map(({ h }) => h));
    if (rows) {
      const i = rows.findIndex((row) => row.includes(head));
      const to = moved(event, [i, rows[i].indexOf(head)], [rows.length, rows[i].length]);
      return to && rows[to[0]][to[1]];
    }
    const [last, n, across] = [order.length - 1, order.indexOf(head), this.columns()];
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across, Home: -n, End: last - n }[
      event.key
    ];
    return by === undefined ? undefined : (order[n + by] ?? head);
  }

  key(event) {
    const next = this.headAt(event);
    // Enter and the space bar press the button.
    if (next === undefined || event.key === "Enter" || event.key === " ") return;
    event.preventDefault();
    if (next === this.head) return;
    this.onpick(next);
    this.buttons[next].focus();
  }
}

parts.heads = Heads;
