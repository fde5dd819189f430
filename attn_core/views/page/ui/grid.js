// The matrix as a table: every number a cell that can be pointed at, focused and selected.

import { fixed } from "../core/digits.js";
import { say } from "../words/words.js";
import { make, token, visible } from "./dom.js";
import { CELLS, GRADIENT_CELLS, heat } from "./heat.js";

// More tokens and more cells are drawn on a map: a table of them takes more than a frame to change.
const [MOST_SHOWN, MOST_CELLS] = [32, 24 ** 2];
/** @type {(L: number, S: number, Dv: number) => boolean} */
export const isLong = (L, S, Dv) => Math.max(L, S) > MOST_SHOWN || L * Math.max(S, Dv) > MOST_CELLS;

/**
 * Where the colours end, of rows of cells: with those of the given settings, so that more ink is more.
 *
 * @param {number[]} shown
 * @param {number[]} given
 * @param {number} places
 * @param {import("./heat.js").Ramp} [ramp]
 */
export function endsOf(shown, given, places, ramp = CELLS) {
  const all = shown.concat(given).filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  const isWhole = shown.every((x) => !Number.isFinite(x) || Number.isInteger(x));
  const write = (x) => fixed(x, isWhole && Math.abs(x) < 1e6 ? 0 : places);
  return { low, high, end: Math.max(high, -low) || 1, hasMasked: shown.includes(-Infinity), ramp, write };
}

/** @type {(data: import("../core/data.js").Data, stage: string) => import("./heat.js").Ramp} */
export const cellsRamp = (data, stage) => (stage in data.further ? GRADIENT_CELLS : CELLS);

/**
 * What lies along the rows and the columns, in words.
 *
 * @param {import("../core/data.js").Data} data
 * @param {string} stage
 */
export function axisWords(data, stage) {
  const [rows, columns, side] = data.axes(stage);
  const ofVectors = side === "v" ? "columns" : `columns_${side}`;
  return { rows: say(rows === "S" ? "keys" : "queries"), columns: say(columns === "S" ? "keys" : ofVectors) };
}

/** @type {(data: import("../core/data.js").Data, stage: string) => string} */
export const about = (data, stage) => say("tableOf", { stage: say(stage), ...axisWords(data, stage) });

/**
 * As many elements in a box as are asked for: those there are stay.
 *
 * @param {HTMLElement[]} list
 * @param {number} count
 * @param {HTMLElement} box
 * @param {(n: number) => HTMLElement} make
 */
function fit(list, count, box, make) {
  for (const element of list.splice(count)) element.remove();
  for (let n = list.length; n < count; n++) {
    list.push(make(n));
    box.append(list[n]);
  }
}

/** @type {(element: HTMLElement, text: string) => void} */
function name(element, text) {
  if (element.title === text) return;
  element.title = text;
  element.firstElementChild.textContent = text;
}

// Touches only what differs: a page has many cells.
function show(cell, x, { end, ramp, write }) {
  const text = write(x);
  if (cell.firstChild.data !== text) cell.firstChild.data = text;
  const back = Number.isFinite(x) ? heat(x / end, ramp) : ""; // a masked cell is hatched by its class
  if (cell.back === back) return;
  cell.back = back;
  cell.classList.toggle("ax-masked", x === -Infinity);
  cell.style.backgroundColor = back;
}

/** Tells `onpoint(place | null)` and `onselect(place)`; a place is [row, column]. */
export class Grid {
  /** @param {import("../core/data.js").Data} data */
  constructor(data) {
    this.data = data;
    this.table = make("table", { class: "ax-grid", role: "grid" });
    this.element = make("div", { class: "ax-scroll" }, this.table);
    this.onpoint = (_place) => {};
    this.onselect = (_place) => {};
    const placeOf = ({ target }) => {
      const cell = target.closest?.("[data-col]");
      return cell && [Number(cell.dataset.row), Number(cell.dataset.col)];
    };
    const listen = (name, act) => this.table.addEventListener(name, act);
    for (const name of ["pointerover", "focusin"]) listen(name, (event) => this.onpoint(placeOf(event)));
    for (const name of ["pointerleave", "focusout"]) listen(name, () => this.onpoint(null));
    const select = (event) => {
      const place = placeOf(event);
      if (!place) return;
      this.place = place;
      this.onselect(place);
    };
    listen("click", select);
    listen("keydown", (event) => {
      const place = placeOf(event);
      const next = place && moved(event, place, [this.cells.length, this.width]);
      if (!next) return;
      event.preventDefault();
      if (next === place) select(event);
      else this.moveTo(next);
    });
  }

  /**
   * Returns where the colours end, for the legend.
   *
   * @param {import("../core/attention.js").Attention} attention
   * @param {import("../core/state.js").State} state
   * @param {import("../core/attention.js").Attention} given whose cells give the colours their end, too
   */
  draw(attention, state, given) {
    const { data } = attention;
    const { stage } = state;
    this.data = data;
    this.width = data.columns(stage);
    const [rows, cols] = [data.rowsIn(stage), this.width].map((size) => [...Array(size).keys()]);
    const isCellFocused = this.table.contains(document.activeElement);
    this.build(data, stage);
    this.table.setAttribute("aria-label", about(data, stage));
    const cells = rows.map((i) => cols.map((j) => attention.cell(stage, i, j)));
    const anchors = rows.flatMap((i) => cols.map((j) => given.cell(stage, i, j)));
    const ends = endsOf(cells.flat(), anchors, data.places, cellsRamp(data, stage));
    for (const [i, row] of cells.entries()) for (const [j, x] of row.entries()) show(this.cells[i][j], x, ends);
    this.selected = state.select;
    this.setTabStop(this.place || state.select || [0, 0]);
    if (isCellFocused && !this.table.contains(document.activeElement)) this.stop.focus({ preventScroll: true });
    return ends;
  }

  /**
   * The table goes to a number, as far as its box hides it; the page stays.
   *
   * @param {number[]} place
   */
  reveal([i, j]) {
    const [box, cell] = [this.element, this.cells[i]?.[j]];
    if (!cell) return;
    const [around, own, side] = [box, cell, this.sides[0]].map((each) => each.getBoundingClientRect());
    if (own.left < around.left + side.width) box.scrollLeft += own.left - around.left - side.width;
    else if (own.right > around.right) box.scrollLeft += own.right - around.right + own.width;
    const head = this.heads[0].getBoundingClientRect().height;
    if (own.top < around.top + head) box.scrollTop += own.top - around.top - head;
    else if (own.bottom > around.bottom) box.scrollTop += own.bottom - around.bottom;
  }

  /**
   * Cells that differ from those of another matrix: pair.differing(row) tells which.
   *
   * @param {{ differing: (i: number) => boolean[] } | null} pair
   */
  mark(pair) {
    for (const [i, line] of this.cells.entries()) {
      const marks = pair ? pair.differing(i) : [];
      for (const [j, cell] of line.entries()) cell.classList.toggle("ax-differs", !!marks[j]);
    }
  }

  /**
   * The heads, sides and cells of these data: those that are there already stay.
   *
   * @param {import("../core/data.js").Data} data
   * @param {string} stage
   */
  build(data, stage) {
    const axes = data.axes(stage);
    if (axes.join() !== this.axes) this.begin(axes);
    const { lines, heads, sides, cells, width } = this;
    const [L, [down, , side]] = [data.rowsIn(stage), axes];
    fit(heads, width, this.head, () => make("th", { scope: "col", class: `ax-head ax-${side}` }, make("bdi")));
    fit(lines, L, this.inside, (i) => {
      cells[i] = [];
      sides[i] = make("th", { scope: "row", class: `ax-side ax-${down === "S" ? "k" : "q"}` }, make("bdi"));
      return make("tr", {}, sides[i]);
    });
    sides.length = cells.length = L;
    for (const [i, line] of lines.entries()) {
      fit(cells[i], width, line, (j) => {
        this.lit = "";
        return make("td", { class: "ax-cell", role: "gridcell", tabindex: -1, "data-row": i, "data-col": j }, "");
      });
    }
    const names = [data.columnNames(stage), data.rowNames(stage)];
    for (const [j, head] of heads.entries()) name(head, visible(names[0][j]));
    for (const [i, head] of sides.entries()) name(head, visible(names[1][i]));
  }

  /** @param {import("../core/data.js").Axes} axes */
  begin(axes) {
    this.axes = axes.join();
    const [across, down] = this.corner(axes);
    this.head = make("tr", {}, make("th", { class: "ax-corner", scope: "col" }, across, down));
    this.inside = make("tbody");
    /** @type {HTMLElement[]} */
    this.lines = [];
    /** @type {HTMLElement[]} */
    this.heads = [];
    /** @type {HTMLElement[]} */
    this.sides = [];
    /** @type {HTMLElement[][]} */
    this.cells = [];
    this.table.replaceChildren(make("thead", {}, this.head), this.inside);
    this.table.classList.toggle("ax-values", axes[1] !== "S");
  }

  /** What the columns are, and what the rows. @param {import("../core/data.js").Axes} axes */
  corner([rows, columns, side]) {
    const down = rows === "S" ? token(say("keyDown"), "k") : token(say("queryHead"), "q");
    return [token(say(columns === "S" ? "keyHead" : "valueHead"), side), down];
  }

  moveTo(place) {
    this.setTabStop(place);
    this.focus();
  }

  setTabStop([i, j]) {
    this.place = [Math.min(i, this.cells.length - 1), Math.min(j, this.width - 1)];
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = this.cells[this.place[0]][this.place[1]];
    this.stop.tabIndex = 0;
  }

  focus() {
    this.stop.focus();
  }

  /** @param {number[]} place */
  boxOf([i, j]) {
    return this.cells[i]?.[j]?.getBoundingClientRect();
  }

  /**
   * The row and the column of a place.
   *
   * @param {number[] | null} place
   */
  light(place) {
    const { selected } = this;
    const [r, c] = place || [-1, -1];
    const lit = [r, c, selected].join();
    if (lit === this.lit) return;
    this.lit = lit;
    for (const [n, side] of this.sides.entries()) side.classList.toggle("ax-lit", n === r);
    for (const [n, head] of this.heads.entries()) head.classList.toggle("ax-lit", n === c);
    for (const [n, line] of this.cells.entries()) {
      for (const [m, cell] of line.entries()) {
        cell.classList.toggle("ax-row", n === r);
        cell.classList.toggle("ax-col", m === c);
        const isSelected = !!selected && selected[0] === n && selected[1] === m;
        cell.setAttribute("aria-selected", String(isSelected));
      }
    }
  }
}

/**
 * Where a key leads from a place: the place itself for Enter, nothing for other keys.
 *
 * @param {KeyboardEvent} event
 * @param {number[]} place
 * @param {number[]} sizes
 * @returns {number[] | undefined}
 */
export function moved(event, place, sizes) {
  const [i, j] = place;
  const [bottom, right] = sizes.map((size) => size - 1);
  const far = event.ctrlKey || event.metaKey;
  const to = {
    Enter: place,
    " ": place,
    ArrowUp: [far ? 0 : i - 1, j],
    ArrowDown: [far ? bottom : i + 1, j],
    ArrowLeft: [i, far ? 0 : j - 1],
    ArrowRight: [i, far ? right : j + 1],
    Home: [far ? 0 : i, 0],
    End: [far ? bottom : i, right],
  }[event.key];
  if (!to || to === place) return to;
  return [Math.max(0, Math.min(to[0], bottom)), Math.max(0, Math.min(to[1], right))];
}
