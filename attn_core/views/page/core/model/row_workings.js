// The lines of a row of weights, of a head or over words: those of a record, with parts that lead to other steps.

import { keptTerms, Workings } from "../workings.js";
import { shares } from "./formulas.js";
import { Place } from "./place.js";

/**
 * @typedef {import("../attention.js").Attention} Attention
 * @typedef {import("./place.js").Term} Term
 */

class RowWorkings extends Workings {
  /**
   * @param {Attention} attention
   * @param {number} t
   * @param {Place} place of the number that is asked for
   */
  constructor(attention, t, place) {
    super(attention, t, place.most);
    this.place = place;
    /** What stands before row and column in an index. @type {number[]} */
    this.before = [];
  }

  /** @type {Workings["term"]} */
  term(stage, index, how, parts) {
    const { pass, step, write } = this.place;
    const place = new Place(pass, step, stage, [...this.before, ...index], write);
    return place.term([how, /** @type {any} */ (parts)]);
  }

  shownCells() {
    const { exps, isDead } = this.attention.statistics(this.i);
    return isDead ? [] : keptTerms(exps.length, this.most).map((j) => this.beforeSoftmax(j));
  }

  rowMax() {
    return { ...super.rowMax(), parts: () => this.shownCells() };
  }

  rowSum() {
    const { isDead } = this.attention.statistics(this.i);
    return { ...super.rowSum(), parts: () => (isDead ? [] : [...this.shownCells(), this.rowMax()]) };
  }
}

/** Those of one head: [head, row, column]. */
export class HeadWorkings extends RowWorkings {
  /** @param {Place} place */
  constructor(place) {
    const [head, t] = place.index;
    super(place.pass.attention(place.step.name, head), t, place);
    this.before = [head];
  }

  /** @param {number} j */
  scores(j) {
    const { inputs, step } = this.place;
    const [q, k] = inputs;
    const [[head], width] = [this.before, q.width / step.heads];
    /** @type {(x: import("./program.js").Step, t: number) => Term[]} */
    const shown = (x, t) => this.place.shown(x, t, width, head * width);
    return { ...super.scores(j), parts: () => [...shown(q, this.i), ...shown(k, j)] };
  }

  /** @type {Workings["number"]} */
  number(_, position, d) {
    const { inputs, step } = this.place;
    const [, , v] = inputs;
    return this.place.number(v, position, (this.before[0] * v.width) / step.heads + d);
  }
}

/** Those of the probabilities of words: weights, and what goes in are the masked scores. */
export class ShareWorkings extends RowWorkings {
  /** @param {Place} place */
  constructor(place) {
    const { inputs, pass, step, t } = place;
    const masked = place.row(inputs[0]);
    const statistics = { ...shares(masked), isDead: false };
    const attention = {
      data: { vector: () => masked },
      row: (/** @type {string} */ stage) => (stage === "masked" ? masked : pass.output(step, t)),
      statistics: () => statistics,
    };
    super(/** @type {any} */ (attention), t, place);
  }

  /** @type {Workings["term"]} */
  term(stage, ...rest) {
    return super.term(stage === "weights" ? "output" : stage, ...rest);
  }

  /** @param {number} j */
  beforeSoftmax(j) {
    return this.place.number(this.place.inputs[0], this.i, j);
  }
}
