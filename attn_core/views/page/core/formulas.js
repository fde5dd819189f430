// The six formulas of stages.py, row by row: each row of a stage from the stages before it.

import { dot } from "./arrays.js";

/**
 * The row of a stage, from the stages before it.
 *
 * @typedef {(attention: import("./attention.js").Attention, i: number) => Float64Array} Formula
 */

/** @type {Record<string, Formula>} */
export const FORMULAS = {
  scores: (a, i) => a.data.scores(a.batch, a.head, i),
  scaled(a, i) {
    const row = a.row("scores", i).slice();
    const { softcap, bias } = a.data;
    for (let j = 0; j < row.length; j++) {
      row[j] *= a.scale;
      if (softcap) row[j] = softcap * Math.tanh(row[j] / softcap);
      if (bias) row[j] += bias.number(a.batch, a.head, i, j);
    }
    return row;
  },
  masked(a, i) {
    const [row, keeps] = [a.row("scaled", i).slice(), a.keeps(i)];
    for (let j = 0; j < row.length; j++) if (!keeps[j]) row[j] = -Infinity;
    return row;
  },
  weights(a, i) {
    const { exps, sum } = a.statistics(i);
    const row = exps.slice();
    for (let j = 0; j < row.length; j++) row[j] /= sum;
    return row;
  },
  dropped(a, i) {
    const [survives, { p }] = [a.survives(i), a.dropout ?? { p: 0 }];
    if (!survives) return a.row("weights", i);
    const row = a.row("weights", i).slice();
    for (let j = 0; j < row.length; j++) row[j] = (row[j] * survives[j]) / (1 - p);
    return row;
  },
  output(a, i) {
    const dropped = a.row("dropped", i);
    const row = new Float64Array(a.data.Dv);
    for (let d = 0; d < row.length; d++) row[d] = dot(dropped, a.values(d));
    return row;
  },
};
