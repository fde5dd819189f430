// The numbers of a station as a table: a row for each word, every number a cell that can be selected.

import { fixed } from "../../core/digits.js";
import { axesOf } from "../../core/stages.js";
import { say } from "../../words/words.js";
import { make, token } from "../dom.js";
import { Grid } from "../grid.js";

/** @typedef {import("../../core/model/program.js").Step} Step */

// A table whose rows are words, not queries, and whose columns are counted, not keys.
class Table extends Grid {
  /** @param {import("../../core/data.js").Axes} axes */
  corner([, columns]) {
    const isOutput = columns !== "S";
    return [token(say(isOutput ? "columnHead" : "nextHead"), isOutput ? "v" : "k"), token(say("wordHead"), "q")];
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
    this.frame = 0;
    new ResizeObserver(() => this.settleSoon()).observe(this.element);
  }

  /** Of the scores of words, and of their probabilities, a word heads each column. @param {Step} step */
  isOfWords(step) {
    const { model } = this;
    const { target } = model.machine.words;
    return step.width === target.length && !model.plan.after(step).some(({ kind }) => !kind.shares);
  }

  /**
   * @param {Step} step
   * @param {string} stage
   */
  render(step, stage) {
    const { pass, plain, state, machine } = this.model;
    const rows = pass.rows(step.name, stage);
    const right = plain ? plain.rows(step.name, stage) : rows;
    const width = rows[0].length;
    const isOfWords = width > 1 && this.isOfWords(step);
    this.name(step, stage, pass.labels(step.name), isOfWords ? machine.words.target : width);
    /** @type {(all: Float64Array[]) => any} what a table asks of an attention */
    const numbers = (all) => ({ data: this.data, cell: (_stage, i, j) => all[i][j] });
    const looks = { stage: isOfWords ? "weights" : "output", select: state.select };
    this.grid.draw(numbers(rows), /** @type {any} */ (looks), numbers(right));
    this.grid.mark(plain ? { differing: (i) => [...rows[i]].map((x, j) => x !== right[i][j]) } : null);
    this.grid.table.setAttribute("aria-label", this.model.nameOf(step));
    this.grid.light(state.select);
    this.settleSoon();
  }

  /**
   * A table for these words and columns: the one that is there, if it has these columns. A new one takes longer.
   *
   * @param {Step} step
   * @param {string} stage
   * @param {string[]} labels
   * @param {string[] | number} columns their names, or how many
   */
  name(step, stage, labels, columns) {
    const of = JSON.stringify([step.name, stage, columns]);
    const keys = typeof columns === "number" ? Array.from({ length: columns }, (_, n) => String(n)) : columns;
    this.data = {
      ...{ queries: labels, keys, places: 4, axes: axesOf, further: {} },
      ...{ rowsIn: () => labels.length, columns: () => keys.length, rowNames: () => labels, columnNames: () => keys },
    };
    if (of !== this.of) this.make(this.data);
    this.of = of;
  }

  /** @param {any} data */
  make(data) {
    const hadFocus = this.element.contains(document.activeElement);
    const grid = new Table(data);
    grid.onselect = (select) => {
      this.model.choose({ select }, true);
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
    model.plan.point(place && { name: at, row: place[0] });
    if (!place || String(place) === String(select)) return model.tip.hide();
    const { data } = grid;
    const was = model.plain ? [` (${fixed(model.plain.value(at, place, stage || undefined), 4)})`] : [];
    const number = make("b", {}, fixed(model.pass.value(at, place, stage || undefined), 4));
    return model.tip.show(grid.boxOf(place), [
      `${data.queries[place[0]]} · ${data.keys[place[1]]}\u2002`,
      number,
      ...was,
    ]);
  }

  // A number that was led to stands in sight.
  reveal() {
    const { select } = this.model.state;
    const shown = String([this.of, select]);
    if (shown === this.revealed || !select) return;
    this.revealed = shown;
    this.grid.reveal(select);
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
