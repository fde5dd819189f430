// exp of each number of a row, as a share of their sum.

import { rowOf, USUAL } from "./operation.js";
import { RowWorkings } from "./row_workings.js";

/** @typedef {import("../place.js").Place} Place */

/**
 * exp(x − max), and what they are divided by; of scores / temperature.
 *
 * @param {Float64Array} x
 * @param {number} [temperature]
 */
function exponentials(x, temperature = 1) {
  const max = x.reduce((most, score) => Math.max(most, score));
  const exps = rowOf(x.length, (n) => Math.exp((x[n] - max) / temperature));
  const sum = exps.reduce((all, exp) => all + exp);
  return { max, exps, sum };
}

/** @type {(x: Float64Array, temperature?: number) => Float64Array} */
function shares(x, temperature) {
  const { exps, sum } = exponentials(x, temperature);
  return exps.map((exp) => exp / sum);
}

/** The workings of weights: what goes in are the masked scores. */
class ShareWorkings extends RowWorkings {
  /** @param {Place} place */
  constructor(place) {
    const { inputs, pass, step, t } = place;
    const masked = place.row(inputs[0]);
    const statistics = { ...exponentials(masked), isDead: false };
    const attention = {
      data: { vector: () => masked },
      row: (/** @type {string} */ stage) => (stage === "masked" ? masked : pass.output(step, t)),
      statistics: () => statistics,
      sink: null,
    };
    super(/** @type {any} */ (attention), t, place);
  }

  /** @type {RowWorkings["term"]} */
  term(stage, ...rest) {
    return super.term(stage === "weights" ? "output" : stage, ...rest);
  }

  /** @param {number} j */
  beforeSoftmax(j) {
    return this.place.number(this.place.inputs[0], this.i, j);
  }
}

/** @type {import("./operation.js").Operation} */
export const softmax = {
  ...USUAL,
  shares,
  rows: (pass, { inputs: [x] }, t) => [shares(pass.output(x, t))],
  statistics(pass, { inputs: [x] }, [t]) {
    const { max, sum } = exponentials(pass.output(x, t));
    return { row_max: max, row_sum: sum };
  },
  lines: {
    row_max: (place) => new ShareWorkings(place).rowMax(),
    row_sum: (place) => new ShareWorkings(place).rowSum(),
    output: (place) => /** @type {any} */ (new ShareWorkings(place).weights(place.col)),
  },
};
