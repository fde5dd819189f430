// The weights of a head by themselves: what small maps of many heads need.

import { FORMULAS } from "./formulas.js";

/** @param {import("./attention.js").Attention} attention */
function isPlain({ data, drawn, formulas }) {
  const { bias, softcap, sinks } = data;
  if (bias || softcap || sinks || drawn.length) return false;
  return Object.entries(FORMULAS).every(([name, formula]) => formulas[name] === formula);
}

/**
 * The rows of `weights` in one array, with the bits that `row` gives, and nothing of the stages before them: an
 * attention makes six small arrays for each row. null where more than queries, keys, a scale and masks has a part.
 *
 * @param {import("./attention.js").Attention} attention
 * @param {number} [step] 2: every other row
 * @returns {Float64Array | null}
 */
export function weightRows(attention, step = 1) {
  if (!isPlain(attention)) return null;
  const { data, batch, head, scale, rules } = attention;
  const { L, S, D } = data;
  const [queries, keys] = [data.part("q", batch, head), data.part("k", batch, head)];
  const all = new Float64Array(Math.ceil(L / step) * S);
  const keeps = new Uint8Array(S);
  for (let i = 0, at = 0; i < L; i += step, at += S) {
    keeps.fill(1);
    for (const rule of rules) rule(keeps, batch, head, i);
    let max = -Infinity;
    for (let j = 0; j < S; j++) {
      if (!keeps[j]) continue;
      let score = 0;
      for (let d = 0; d < D; d++) score += queries[i * D + d] * keys[j * D + d];
      all[at + j] = score * scale;
      max = Math.max(max, all[at + j]);
    }
    let sum = 0;
    for (let j = 0; j < S; j++) if (keeps[j]) sum += all[at + j] = Math.exp(all[at + j] - max);
    for (let j = 0; j < S; j++) if (keeps[j]) all[at + j] /= sum;
  }
  return all;
}
