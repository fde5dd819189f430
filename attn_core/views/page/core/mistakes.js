// The formula mistakes of attn_core.mistakes: under their names, the formulas that they change.

import { stored } from "./arrays.js";
import { FORMULAS } from "./formulas.js";
import { keepRule } from "./masks.js";
import { parts } from "./parts.js";

/**
 * @typedef {import("./attention.js").Attention} Attention
 * @typedef {import("./formulas.js").Formula} Formula
 * @typedef {import("./masks.js").Keep} Keep
 */

/** @type {(a: Attention) => boolean} */
const hasMask = (a) => a.rules.length > 0 || a.drawn.length > 0;
/** @type {(a: Attention, before: string, i: number, rule: (cell: number, j: number) => number) => Float64Array} */
const changed = (a, before, i, rule) => Float64Array.from(a.row(before, i), rule);

/**
 * exp(cell − max) / sum; nan of nothing but −∞.
 *
 * @param {Float64Array} cells
 */
function softmax(cells) {
  const max = cells.reduce((a, b) => Math.max(a, b), -Infinity);
  const exps = cells.map((cell) => Math.exp(cell - max));
  const sum = exps.reduce((a, b) => a + b, 0);
  return exps.map((e) => e / sum);
}

const right = FORMULAS.weights;
/** @type {Formula} */
const scores = (a, i) => a.row("scores", i);
/** @type {Formula} */
const weights = (a, i) => a.row("weights", i);

/** @type {(a: Attention, i: number, row: Float64Array, factor: number) => Float64Array} */
function keptByDropout(a, i, row, factor) {
  const survives = a.survives(i);
  return survives ? row.map((cell, j) => cell * survives[j] * factor) : row;
}

/**
 * A mistake of the mask: the cells from the scaled ones.
 *
 * @type {(rule: (a: Attention, i: number, keeps: Uint8Array) => Float64Array) => Record<string, Formula>}
 */
const masked = (rule) => ({
  masked: (a, i) => (hasMask(a) ? rule(a, i, a.keeps(i)) : a.row("scaled", i)),
});

/** @type {(a: Attention, i: number, keeps: Uint8Array) => Float64Array} */
const hiding = (a, i, keeps) => changed(a, "scaled", i, (cell, j) => (keeps[j] ? cell : -Infinity));

/** @type {(json: Keep) => Keep[]} */
const partsOf = (json) => (json.kind === "and" ? (json.of ?? []).flatMap(partsOf) : [json]);

/**
 * The mask's parts, each written into the row by a rule of ours; then the cells that were toggled.
 *
 * @type {(a: Attention, i: number, rule: (row: Uint8Array, part: Keep) => void) => Uint8Array}
 */
function keepsBy(a, i, rule) {
  const row = new Uint8Array(a.data.S).fill(1);
  for (const part of a.masks.flatMap(partsOf)) rule(row, part);
  for (const [r, j] of a.drawn) if (r === i) row[j] ^= 1;
  return row;
}

/** @type {(a: Attention, i: number) => Uint8Array} */
function fromFirstKey(a, i) {
  const { L, S } = a.data;
  return keepsBy(a, i, (row, part) => keepRule(part, part.kind === "dense" ? L : S, S)(row, a.batch, a.head, i));
}

/** @type {(a: Attention, i: number) => Uint8Array} */
function paddedQueries(a, i) {
  const { L, S } = a.data;
  return keepsBy(a, i, (row, part) => {
    if (part.kind === "padding") {
      const queries = new Uint8Array(L).fill(1);
      keepRule(part, L, L)(queries, a.batch, a.head, i);
      if (!queries[i]) row.fill(0);
    } else keepRule(part, L, S)(row, a.batch, a.head, i);
  });
}

/**
 * Down each column: its softmax over the queries.
 *
 * @type {WeakMap<Attention, Float64Array[]>}
 */
const columnsOf = new WeakMap();

/** @type {Formula} */
function overQueries(a, i) {
  const { L, S } = a.data;
  const column = (/** @type {number} */ j) => Float64Array.from({ length: L }, (_, r) => a.row("masked", r)[j]);
  const columns = columnsOf.get(a) ?? Array.from({ length: S }, (_, j) => softmax(column(j)));
  columnsOf.set(a, columns);
  return Float64Array.from(columns, (weights) => weights[i]);
}

/**
 * As Python computes: in float32 at least.
 *
 * @type {(a: Attention, x: number) => number}
 */
const rounded = (a, x) => stored(x, a.data.q.dtype);

/** @type {Formula} */
function naive(a, i) {
  const exps = a.row("masked", i).map((cell) => rounded(a, Math.exp(cell)));
  const total = exps.reduce((x, y) => x + y, 0);
  const sum = a.statistics(i).isDead ? 1 : rounded(a, total);
  return exps.map((e) => e / sum);
}

/** @type {Formula} */
function dividedBySum(a, i) {
  const keeps = a.keeps(i);
  const row = a.row("masked", i).map((cell, j) => (keeps[j] ? cell : 0));
  const sum = row.reduce((x, y) => x + y, 0);
  return row.map((cell) => cell / sum);
}

/**
 * To even at a tie, as torch rounds.
 *
 * @type {(a: Attention, x: number) => number}
 */
function toOneDecimal(a, x) {
  const tenths = rounded(a, rounded(a, x) * 10);
  const below = Math.floor(tenths);
  const up = tenths - below > 0.5 || (tenths - below === 0.5 && below % 2 === 1);
  return (below + (up ? 1 : 0)) / 10;
}

/** @param {Attention} a */
function modelWidth(a) {
  return a.data.source ? a.data.source.x.shape[2] : a.data.H * a.data.D;
}

/** @type {Record<string, Record<string, Formula>>} */
export const MISTAKES = {
  "no-scale": { scaled: scores },
  "scale-by-model-width": {
    scaled: (a, i) => scores(a, i).map((score) => score / Math.sqrt(modelWidth(a))),
  },
  "scale-after-softmax": {
    scaled: scores,
    weights: (a, i) => right(a, i).map((weight) => weight * a.scale),
  },
  "dropout-on-scores": {
    scaled(a, i) {
      const p = a.dropout ? a.dropout.p : 0;
      return keptByDropout(a, i, FORMULAS.scaled(a, i), 1 / (1 - p));
    },
    dropped: weights,
  },
  "no-mask": masked((a, i) => a.row("scaled", i)),
  "mask-turned": masked((a, i, keeps) =>
    hiding(
      a,
      i,
      keeps.map((kept) => 1 - kept),
    ),
  ),
  "upper-triangle-kept": masked((a, i) => changed(a, "scaled", i, (cell, j) => (j > i ? cell : -Infinity))),
  "mask-added": masked((a, i, keeps) => changed(a, "scaled", i, (cell, j) => cell + keeps[j])),
  "mask-multiplied": masked((a, i, keeps) => changed(a, "scaled", i, (cell, j) => cell * keeps[j])),
  "minus-1e9": masked((a, i, keeps) => changed(a, "scaled", i, (cell, j) => (keeps[j] ? cell : -1e9))),
  "mask-ignores-cache": masked((a, i) => hiding(a, i, fromFirstKey(a, i))),
  "padding-on-queries": masked((a, i) => hiding(a, i, paddedQueries(a, i))),
  "softmax-over-queries": { weights: overQueries },
  "naive-softmax": { weights: naive },
  "nan-in-empty-row": {
    weights: (a, i) => (a.statistics(i).isDead ? new Float64Array(a.data.S).fill(NaN) : right(a, i)),
  },
  "divided-by-sum": { weights: dividedBySum },
  "mask-after-softmax": {
    masked: (a, i) => a.row("scaled", i),
    weights(a, i) {
      const keeps = a.keeps(i);
      return right(a, i).map((weight, j) => weight * keeps[j]);
    },
  },
  "rounded-weights": { weights: (a, i) => right(a, i).map((weight) => toOneDecimal(a, weight)) },
  "dropped-as-weights": {
    weights(a, i) {
      return keptByDropout(a, i, right(a, i), 1 / (1 - (a.dropout ? a.dropout.p : 0)));
    },
    dropped: weights,
  },
  "dropout-not-rescaled": { dropped: (a, i) => keptByDropout(a, i, weights(a, i), 1) },
  "dropout-over-p": {
    dropped(a, i) {
      const p = a.dropout ? a.dropout.p : 0;
      return p ? keptByDropout(a, i, weights(a, i), 1 / p) : weights(a, i);
    },
  },
  "dropout-thrown-away": { dropped: weights },
};

parts.mistakes = MISTAKES;
