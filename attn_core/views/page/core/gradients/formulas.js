// The formulas of stages_backward.py, row by row: each row of a gradient from the stages before it. What comes back to
// a key or a value follows from all rows.

import { dot } from "../arrays.js";

/** @typedef {import("../attention.js").Attention} Attention */

/** In the order in which the gradient passes them. @type {Record<string, import("../data.js").Axes>} */
export const AXES = {
  grad_output: ["L", "Dv", "v"],
  grad_dropped: ["L", "S", "k"],
  grad_weights: ["L", "S", "k"],
  grad_masked: ["L", "S", "k"],
  grad_scaled: ["L", "S", "k"],
  grad_scores: ["L", "S", "k"],
  grad_q: ["L", "D", "q"],
  grad_k: ["S", "D", "k"],
  grad_v: ["S", "Dv", "v"],
};

/**
 * Dao, "FlashAttention-2" (2023), algorithm 2: of a row the softmax needs grad_output · output.
 *
 * @param {Attention} a
 * @param {number} i
 */
export const rowDot = (a, i) => dot(a.row("grad_output", i), a.row("output", i));

/**
 * By how much a softcap flattens a scaled score.
 *
 * @param {Attention} a
 * @param {number} score
 */
const slope = ({ data: { softcap }, scale }, score) => (softcap ? 1 - Math.tanh((score * scale) / softcap) ** 2 : 1);

/** @type {Record<string, import("../formulas.js").Formula>} */
export const FORMULAS_BACK = {
  grad_output({ data, batch, head }, i) {
    const { H, L, Dv, gradOutput } = data;
    const start = ((batch * H + head) * L + i) * Dv;
    return /** @type {import("../arrays.js").NumberArray} */ (gradOutput).numbers.subarray(start, start + Dv);
  },
  grad_dropped(a, i) {
    const { data, batch, head } = a;
    const [grad, values] = [a.row("grad_output", i), data.part("v", batch, head)];
    const row = new Float64Array(data.S);
    for (let j = 0, at = 0; j < row.length; j++, at += grad.length) row[j] = dot(grad, values.subarray(at));
    return row;
  },
  grad_weights(a, i) {
    const [survives, { p }] = [a.survives(i), a.dropout ?? { p: 0 }];
    const row = a.row("grad_dropped", i);
    return survives ? row.map((x, j) => (x * survives[j]) / (1 - p)) : row;
  },
  grad_masked(a, i) {
    const [grad, mean] = [a.row("grad_weights", i), rowDot(a, i)];
    return a.row("weights", i).map((weight, j) => weight * (grad[j] - mean));
  },
  grad_scaled(a, i) {
    const keeps = a.keeps(i);
    return a.row("grad_masked", i).map((x, j) => (keeps[j] ? x : 0));
  },
  grad_scores(a, i) {
    const scores = a.row("scores", i);
    return a.row("grad_scaled", i).map((x, j) => x * slope(a, scores[j]) * a.scale);
  },
  grad_q(a, i) {
    const { data, batch, head } = a;
    const [grad, keys] = [a.row("grad_scores", i), data.part("k", batch, head)];
    const row = new Float64Array(data.D);
    for (let j = 0, at = 0; j < grad.length; j++, at += row.length) add(row, grad[j], keys.subarray(at));
    return row;
  },
  grad_k: (a, j) => ofKeys(a).k[j],
  grad_v: (a, j) => ofKeys(a).v[j],
};

/**
 * @param {Float64Array} row
 * @param {number} by
 * @param {Float64Array} other of which as many numbers are added
 */
function add(row, by, other) {
  for (let d = 0; d < row.length; d++) row[d] += by * other[d];
}

/** @type {WeakMap<Attention, Attention[]>} */
const sharing = new WeakMap();

/**
 * The heads of queries that share its keys and values, itself among them.
 *
 * @param {Attention} a
 */
export function headsOf(a) {
  const known = sharing.get(a);
  if (known) return known;
  const { data, head } = a;
  const heads = [...Array(data.H).keys()].filter((h) => data.headOf("k", h) === data.headOf("k", head));
  const all = heads.map((h) => a.ofHead(h));
  sharing.set(a, all);
  return all;
}

/** @type {WeakMap<Attention, { k: Float64Array[], v: Float64Array[] }>} */
const added = new WeakMap();

/**
 * The gradients of all keys and values, added up row by row over the queries of all heads that share them.
 *
 * @param {Attention} a
 */
function ofKeys(a) {
  const known = added.get(a);
  if (known) return known;
  const { S, D, Dv, L } = a.data;
  const zeros = (/** @type {number} */ width) => Array.from({ length: S }, () => new Float64Array(width));
  const grads = { k: zeros(D), v: zeros(Dv) };
  for (const each of headsOf(a)) {
    for (let i = 0; i < L; i++) {
      const [scores, dropped, grad] = ["grad_scores", "dropped", "grad_output"].map((stage) => each.row(stage, i));
      const query = each.data.vector("q", each.batch, each.head, i);
      for (let j = 0; j < S; j++) {
        add(grads.k[j], scores[j], query);
        add(grads.v[j], dropped[j], grad);
      }
    }
    if (each !== a) each.forget(); // its rows are not shown
  }
  added.set(a, grads);
  return grads;
}
