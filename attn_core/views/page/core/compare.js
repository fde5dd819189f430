// Two attentions beside each other: which cells differ, and in which stage they first do.

import { STAGES } from "./stages.js";

const MOST_COMPARED = 2 ** 20; // of longer maps only some rows are compared

// Beyond the rounding of float32; two that are both no numbers are the same.
export const differ = (a, b, end) =>
  !(a === b || Math.abs(a - b) <= 1e-6 * end || (Number.isNaN(a) && Number.isNaN(b)));

const largest = (row) => row.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);

export function rowsDiffer(a, b) {
  const end = largest(a);
  return Array.from(a, (x, j) => differ(x, b[j], end));
}

export function firstDifference(one, other) {
  const { L, S } = one.data;
  const step = Math.max(1, Math.floor((L * S) / MOST_COMPARED));
  return STAGES.find((stage) => {
    for (let i = 0; i < L; i += step) {
      if (rowsDiffer(one.row(stage, i), other.row(stage, i)).includes(true)) return true;
    }
    return false;
  });
}
