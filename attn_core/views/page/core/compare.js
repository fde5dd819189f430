// Two attentions beside each other: which cells differ, and in which stage they first do.

import { STAGES } from "./stages.js";

const MOST_COMPARED = 2 ** 20; // of longer maps only some rows are compared

/**
 * Beyond the rounding of float32; two that are both no numbers are the same.
 *
 * @param {number} a
 * @param {number} b
 * @param {number} end the largest number beside them
 */
export const differ = (a, b, end) =>
  !(a === b || Math.abs(a - b) <= 1e-6 * end || (Number.isNaN(a) && Number.isNaN(b)));

/** @param {Float64Array} row */
const largest = (row) => row.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 */
export function rowsDiffer(a, b) {
  const end = largest(a);
  return Array.from(a, (x, j) => differ(x, b[j], end));
}

/**
 * The first stage in which they differ.
 *
 * @param {import("./attention.js").Attention} original
 * @param {import("./attention.js").Attention} changed
 */
export function firstDifference(original, changed) {
  const { L, S } = original.data;
  const step = Math.max(1, Math.floor((L * S) / MOST_COMPARED));
  return STAGES.find((stage) => {
    for (let i = 0; i < L; i += step) {
      if (rowsDiffer(original.row(stage, i), changed.row(stage, i)).includes(true)) return true;
    }
    return false;
  });
}
