// The lines of a row of weights, of a head or over words: those of a record, with parts that lead to other steps.

import { keptTerms, Workings } from "../../workings.js";

/** @typedef {import("../place.js").Term} Term */

export class RowWorkings extends Workings {
  /**
   * @param {import("../../attention.js").Attention} attention
   * @param {number} t
   * @param {import("../place.js").Place} place of the number that is asked for
   */
  constructor(attention, t, place) {
    super(attention, t, place.most);
    this.place = place;
    /** What stands before row and column in an index. @type {number[]} */
    this.before = [];
  }

  /** @type {Workings["term"]} */
  term(stage, index, how, parts) {
    const place = this.place.beside(stage, [...this.before, ...index]);
    return place.term([how, /** @type {any} */ (parts)]);
  }

  shownCells() {
    if (this.attention.statistics(this.i).isDead) return [];
    const seen = this.seenKeys();
    return keptTerms(seen.length, this.most).map((n) => this.beforeSoftmax(seen[n]));
  }

  /** @returns {Term} */
  rowMax() {
    return /** @type {any} */ ({ ...super.rowMax(), parts: () => this.shownCells() });
  }

  /** @returns {Term} */
  rowSum() {
    const { isDead } = this.attention.statistics(this.i);
    const parts = () => (isDead ? [] : [...this.shownCells(), this.rowMax()]);
    return /** @type {any} */ ({ ...super.rowSum(), parts });
  }
}
