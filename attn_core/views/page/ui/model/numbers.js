// The numbers of a station as a table: a row for each word, every number a cell that can be selected.

import { fixed } from "../../core/digits.js";
import { axesOf } from "../../core/stages.js";
import { say } from "../../words/words.js";
import { make, token } from "../dom.js";
import { Grid } from "../grid.js";
import { isOfRows } from "./gradients.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 *
 * @typedef {object} View what a table shows
 * @property {Float64Array[]} rows
 * @property {Float64Array[] | null} right the same with everything on, if something is off
 * @property {string[]} labels of the rows
 * @property {string} rowHead what the rows are
 * @property {string[] | number} columns their names, or how many
 * @property {boolean} isList whether it is a row of numbers alone, whose index is its column
 */

// A table whose rows are words, not queries, and whose columns are counted, not keys.
class Table extends Grid {
  /** @param {import("../../core/data.js").Axes} axes */
  corner([, columns]) {
    const isOutput = columns !== "S";
    const down = token(say(/** @type {any} */ (this.data).rowHead), "q");
    return [token(say(isOutput ? "columnHead" : "nextHead"), isOutput ? "v" : "k"), down];
  }
}

export class Numbers {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    this.element = make("div", { class: "am-table" });
    /** @type {Table | null} */
    this.grid = null;
    this.of = "";
    this.isList = false;
    /** @type {Float64Array[]} */
    this.rows = [];
    this.frame = 0;
    new ResizeObserver(() => this.settleSoon()).observe(this.element);
  }

  /** Of the scores of words, and of their probabilities, a word heads each column. @param {Step} step */
  isOfWords(step) {
    const { model } = this;
    const { target } = model.machine.words;
    return step.width === target.length && !model.plan.after(step).some(({ kind }) => !kind.shares);
  }

  /** @param {Step} step */
  render(step) {
    const shown = this.model.shown(step);
    const view = shown.isBack ? this.ofGradients(step, shown) : this.ofPass(step, shown.stage);
    const { rows, right } = view;
    Object.assign(this, { isList: view.isList, rows });
    this.name(step, shown, view);
    /** @type {(all: Float64Array[]) => any} what a table asks of an attention */
    const numbers = (all) => ({ data: this.data, cell: (_stage, i, j) => all[i][j] });
    const selected = this.placeOf(this.model.state.select);
    const looks = { stage: Array.isArray(view.columns) ? "weights" : "output", select: selected };
    this.grid.draw(numbers(rows), /** @type {any} */ (looks), numbers(right ?? rows));
    this.grid.mark(right ? { differing: (i) => [...rows[i]].map((x, j) => x !== right[i][j]) } : null);
    this.grid.table.setAttribute("aria-label", this.model.nameOf(step));
    this.grid.light(selected);
    this.settleSoon();
  }

  /** @param {Step} step @param {string} stage @returns {View} */
  ofPass(step, stage) {
    const { machine, pass, plain } = this.model;
    const rows = pass.rows(step.name, stage);
    const [{ length: width }] = rows;
    const columns = width > 1 && this.isOfWords(step) ? machine.words.target : width;
    const right = plain ? plain.rows(step.name, stage) : null;
    return { rows, right, labels: pass.labels(step.name), rowHead: "wordHead", columns, isList: false };
  }

  /** @param {Step} step @param {import("./gradients.js").Shown} shown @returns {View} */
  ofGradients(step, { address, stage }) {
    const { gradients, machine, pass } = this.model;
    const ofRows = isOfRows(step, stage);
    const words = pass.labels(step.name);
    // Without an address the number does not depend on the step.
    const { shape, numbers } = address
      ? gradients.tensor(address)
      : { shape: [words.length, step.width], numbers: new Float64Array(words.length * step.width) };
    const isList = shape.length === 1;
    const [count, width] = isList ? [1, shape[0]] : shape;
    const rows = Array.from({ length: count }, (_, t) => numbers.subarray(t * width, (t + 1) * width));
    const counted = Array.from({ length: count }, (_, n) => String(n));
    const ofTable = step.kind.takesWords && count === step.inputs[0].vocabulary.length;
    const labels = ofRows ? words : ofTable ? step.inputs[0].vocabulary : counted;
    const columns = ofRows && width > 1 && width === step.width && this.isOfWords(step) ? machine.words.target : width;
    return { rows, right: null, labels, rowHead: ofRows || ofTable ? "wordHead" : "rowHead", columns, isList };
  }

  /** Where a number is in the table. @param {number[] | null} index */
  placeOf(index) {
    return index && (this.isList ? [0, ...index] : index);
  }

  /**
   * A table for these words and columns: the one that is there, if it has these columns. A new one takes longer.
   *
   * @param {Step} step
   * @param {import("./gradients.js").Shown} shown
   * @param {View} view
   */
  name(step, { isBack, stage }, { labels, columns, rowHead }) {
    const of = JSON.stringify([step.name, stage, columns, isBack]);
    const keys = typeof columns === "number" ? Array.from({ length: columns }, (_, n) => String(n)) : columns;
    this.data = {
      ...{
        queries: labels,
        keys,
        places: 4,
        axes: axesOf,
        further: isBack ? { output: true, weights: true } : {},
        rowHead,
      },
      ...{ rowsIn: () => labels.length, columns: () => keys.length, rowNames: () => labels, columnNames: () => keys },
    };
    if (of !== this.of) this.make(this.data);
    this.of = of;
  }

  /** @param {any} data */
  make(data) {
    const hadFocus = this.element.contains(document.activeElement);
    const grid = new Table(data);
    grid.onselect = (place) => {
      this.model.choose({ select: this.isList ? place.slice(1) : place }, true);
      this.model.station.showLine();
    };
    grid.onpoint = (place) => this.point(place);
    grid.element.addEventListener("scroll", () => this.settleSoon(), { passive: true });
    this.grid = grid;
    this.element.replaceChildren(grid.element);
    if (hadFocus) requestAnimationFrame(() => grid.focus());
  }

  // The row that is pointed at shows in the drawing, and the number beside the pointer.
  point(place) {
    const { model, grid } = this;
    const { at, select, stage } = model.state;
    const shown = model.shown(model.machine.step(at));
    model.plan.point(place && { name: at, row: isOfRows(model.machine.step(at), shown.stage) ? place[0] : undefined });
    if (!place || String(place) === String(this.placeOf(select))) return model.tip.hide();
    const { data } = grid;
    const isOther = model.plain && !shown.isBack;
    const was = isOther ? [` (${fixed(model.plain.value(at, place, stage || undefined), 4)})`] : [];
    const number = make("b", {}, fixed(this.rows[place[0]][place[1]], 4));
    return model.tip.show(grid.boxOf(place), [
      `${data.queries[place[0]]} · ${data.keys[place[1]]}\u2002`,
      number,
      ...was,
    ]);
  }

  // A number that was led to stands in sight.
  reveal() {
    const place = this.placeOf(this.model.state.select);
    const shown = String([this.of, place]);
    if (shown === this.revealed || !place) return;
    this.revealed = shown;
    this.grid.reveal(place);
  }

  // When the page has its layout anyway: a number that was led to, and an edge where the table goes on to the right.
  settleSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      if (!this.grid) return;
      const box = this.grid.element;
      this.reveal();
      box.classList.toggle("ax-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
    });
  }
}
