// A printed tensor that is alive: torch's own text, each of its numbers a target.

import { parts, views } from "../core/parts.js";
import { make } from "../ui/dom.js";
import { moved } from "../ui/grid.js";
import { addWords, say } from "../words/words.js";

// The indices of the numbers in torch's text; of a long tensor it prints the ends of its axes.
function printed(shape) {
  const isCut = shape.reduce((a, b) => a * b, 1) > 1000;
  /** @type {number[][]} */
  let places = [[]];
  for (const size of shape) {
    const axis = isCut && size > 6 ? [0, 1, 2, size - 3, size - 2, size - 1] : [...Array(size).keys()];
    places = places.flatMap((place) => axis.map((index) => [...place, index]));
  }
  return places;
}

const prints = new Set();
addWords({
  printed: "{stage}, a printed tensor",
  printedNumbers: "The tensor's numbers",
});

// Tells `onpoint(place | null, where)` and `onselect(place, where)`; where is { batch, head }.
export class Print {
  onpoint = (_place, _where) => {};
  onselect = (_place, _where) => {};
  static isPrint = true;

  static fits(_data, { form }) {
    return form === "tensor";
  }

  /**
   * @param {import("../core/data.js").Data} data
   * @param {{ text: string, lead?: number[] }} payload
   */
  constructor(data, payload) {
    const { text, lead = [] } = payload;
    this.data = data;
    this.width = data.columns(data.view.stage);
    const shape = [...lead, data.L, this.width];
    const places = printed(shape);
    const end = text.lastIndexOf("]") + 1;
    const parts = text.slice(0, end).split(/(-?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]\d+)?))/);
    const print = make("pre", { class: "ax-print", role: "group", "aria-label": say("printedNumbers") });
    const isKnown = parts.length === 2 * places.length + 1;
    this.cells = [];
    for (const [n, part] of parts.entries()) {
      if (n % 2 === 0 || !isKnown) {
        print.append(part);
        continue;
      }
      const place = places[(n - 1) / 2];
      const [row, col] = place.slice(-2);
      const flat = place.slice(0, -2).reduce((at, index, axis) => at * shape[axis] + index, 0);
      const [batch, head] = [Math.floor(flat / data.H), flat % data.H];
      const cell = make(
        "span",
        {
          class: "ax-cell",
          role: "button",
          tabindex: -1,
          "data-row": row,
          "data-col": col,
          "data-batch": batch,
          "data-head": head,
        },
        part,
      );
      cell.at = { place: [row, col], batch, head };
      this.cells.push(cell);
      print.append(cell);
    }
    print.append(text.slice(end));
    if (this.cells.length) this.cells[0].tabIndex = 0;
    this.element = make("div", { class: "ax-scroll" }, print);
    this.payload = payload;
    prints.add(this);
    this.listen(print);
  }

  listen(print) {
    const cellOf = ({ target }) => target.closest?.("[data-col]");
    const where = ({ at: { batch, head } }) => ({ batch, head });
    const point = (cell) => this.onpoint(cell ? cell.at.place : null, cell && where(cell));
    const select = (cell) => {
      this.stop(cell);
      this.onselect(cell.at.place, where(cell));
    };
    for (const name of ["pointerover", "focusin"]) print.addEventListener(name, (event) => point(cellOf(event)));
    for (const name of ["pointerleave", "focusout"]) print.addEventListener(name, () => point(null));
    print.addEventListener("click", (event) => cellOf(event) && select(cellOf(event)));
    print.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      const next = cell && moved(event, cell.at.place, [this.data.L, this.width]);
      if (!next) return;
      event.preventDefault();
      if (next === cell.at.place) select(cell);
      else this.step(cell, event.key, next);
    });
  }

  // The neighbour in the row, or the number above or below.
  step(cell, key, place) {
    const n = this.cells.indexOf(cell);
    const next = { ArrowLeft: this.cells[n - 1], ArrowRight: this.cells[n + 1] };
    const to = key in next ? next[key] : this.cells.find((other) => this.isAt(other, place, cell.at));
    if (!to) return;
    this.stop(to);
    to.focus();
  }

  isAt({ at }, place, { batch, head }) {
    return at.batch === batch && at.head === head && `${at.place}` === `${place}`;
  }

  stop(cell) {
    for (const other of this.cells) other.tabIndex = other === cell ? 0 : -1;
    this.focused = cell;
  }

  focus() {
    this.focused?.focus();
  }

  boxOf(place, where) {
    return this.cells.find((cell) => this.isAt(cell, place, where))?.getBoundingClientRect();
  }

  // The row of a place, and what is selected.
  light(place, where, { select, batch, head }) {
    this.lightRow(place, where);
    for (const cell of this.cells) {
      cell.setAttribute("aria-pressed", String(!!select && this.isAt(cell, select, { batch, head })));
    }
  }

  lightRow(place, where) {
    for (const { classList, at } of this.cells) {
      const isIn = place && at.batch === where.batch && at.head === where.head && at.place[0] === place[0];
      classList.toggle("ax-mate", !!isIn);
    }
  }
}

/** @type {(a: any, b: any) => boolean} */
const sameArray = (a, b) => a.data === b.data && a.data85 === b.data85;

// A number that is pointed at lights its row in all prints of the same record.
addEventListener("ax-point", (event) => {
  const { view, payload, pointed, point } = /** @type {CustomEvent} */ (event).detail;
  for (const print of prints) {
    const isSame = ["q", "k"].every((name) => sameArray(print.payload[name], payload[name]));
    if (!print.element.isConnected) prints.delete(print);
    else if (print !== view && isSame) print.lightRow(point, pointed);
  }
});

parts.print = true;
views.unshift(Print);
