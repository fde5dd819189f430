// How far a number of the fast path, in float32, may be from what float64 makes of the numbers above it.
//
// As generate/language_vectors.py derives it: roundings count as independent, so the variances of their errors add
// (Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis", 2019), and the bound is eight standard
// deviations. The numbers above are those that the fast path kept, so only its steps since then count.

import { BLOCK, Q4_1 } from "./formats.js";
import { matrixOf } from "./stored.js";

const ROUNDING = 2 ** -24 / Math.sqrt(3); // the standard deviation of one rounding, as a part of the number
const EXP = 8 * ROUNDING; // that of e^x by the kernels' polynomial, whose error is at most 3 · 2^-24
const SLOPE = 1.1; // the most by which SiLU stretches a difference
const DEVIATIONS = 8;

/**
 * The error of a sum of products, as a part of the sum of their sizes: a product is rounded, added in one of four lanes,
 * and two more additions join these.
 *
 * @param {number} count
 */
const inSum = (count) => Math.sqrt(count / 4 + 4) * ROUNDING;

/**
 * @typedef {import("./workings.js").Reading} Reading
 * @typedef {import("../model/program.js").Step} Step
 *
 * Numbers, and the standard deviation of each.
 * @typedef {{ numbers: Float64Array, errors: Float64Array, blocks?: { sum: number, size: number }[] }} Near
 *
 * @typedef {(reading: Reading, step: Step, t: number, col: number) => number} OfOne
 * @typedef {(reading: Reading, step: Step, t: number) => Near} OfRow
 */

/**
 * A row that RMSNorm made: its squares have one sign, so their sum is off by a part of itself.
 *
 * @param {Float64Array} numbers
 * @returns {Near}
 */
function normed(numbers) {
  const part = Math.hypot(inSum(numbers.length) / 2, 3 * ROUNDING);
  return { numbers, errors: numbers.map((x) => part * Math.abs(x)) };
}

/**
 * Of a row's products with a row of weights, added as the kernels do. Each of four lanes adds the products of a block,
 * and this sum, times the scale, to those of the blocks before. Behind the blocks of weights come those of the products
 * of a block's least and its sum of x, and then the lanes are joined. A product's rounding is a part of the product, an
 * addition's of what has been added so far. The weight that the page shows is rounded once, and in the sum of a block's
 * x each x takes part in at most five additions.
 *
 * @param {Near} x
 * @param {import("./stored.js").StoredMatrix} matrix
 * @param {number} row
 */
function summed(x, matrix, row) {
  const { numbers, errors } = x;
  const [weights, leasts] = [matrix.row(row), matrix.leasts(row)];
  const products = new Float64Array(weights.length + leasts.length);
  let [carried, rounded] = [0, 0];
  for (let n = 0; n < weights.length; n++) {
    const at = matrix.kind === Q4_1 ? arranged(n) : n;
    products[n] = (weights[at] - leasts[Math.floor(n / BLOCK)]) * numbers[at];
    rounded += (weights[at] * numbers[at]) ** 2;
    carried += (weights[at] * errors[at]) ** 2;
  }
  x.blocks ??= blocksOf(numbers);
  for (const [block, { sum, size }] of x.blocks.entries()) {
    products[weights.length + block] = leasts[block] * sum;
    rounded += 5 * (leasts[block] * size) ** 2;
  }
  const lanes = [0, 0, 0, 0];
  for (let start = 0; start < products.length; start += BLOCK) {
    const parts = [0, 0, 0, 0];
    for (const [n, product] of products.subarray(start, start + BLOCK).entries()) {
      parts[n % 4] += product;
      rounded += product ** 2 + parts[n % 4] ** 2;
    }
    for (const [lane, part] of parts.entries()) {
      lanes[lane] += part;
      rounded += part ** 2 + lanes[lane] ** 2;
    }
  }
  const [a, b, c, d] = lanes;
  rounded += (a + b) ** 2 + (c + d) ** 2 + (a + b + c + d) ** 2;
  return Math.hypot(Math.sqrt(carried), ROUNDING * Math.sqrt(rounded));
}

/**
 * The sum of each block of a row, and that of the sizes.
 *
 * @param {Float64Array} numbers
 */
function blocksOf(numbers) {
  return Array.from({ length: numbers.length / BLOCK }, (_, block) => {
    const of = numbers.subarray(BLOCK * block, BLOCK * (block + 1));
    return { sum: of.reduce((sum, x) => sum + x, 0), size: of.reduce((sum, x) => sum + Math.abs(x), 0) };
  });
}

/**
 * Which weight comes nth in an arranged row of kernels.ts: of 16 numbers, those of the same byte of four words.
 *
 * @param {number} n
 */
const arranged = (n) => (n & ~15) + 4 * (n & 3) + ((n >> 2) & 3);

/** Of a linear step, whose input was normed just before. @type {OfOne} */
const linear = (reading, step, t, col) => summed(normed(reading.output(step.inputs[0], t)), matrixOf(step), col);

/** @type {OfRow} */
function linearRow(reading, step, t) {
  const x = normed(reading.output(step.inputs[0], t));
  const numbers = reading.output(step, t);
  return { numbers, errors: numbers.map((_, col) => summed(x, matrixOf(step), col)) };
}

/** @type {OfOne} */
function rotated(reading, step, t, col) {
  const [x] = step.inputs;
  if (reading.settingsOf(step).off) return linear(reading, x, t, col);
  const row = reading.output(x, t);
  const pair = [col, col % 2 ? col - 1 : col + 1];
  const sizes = Math.abs(row[pair[0]]) + Math.abs(row[pair[1]]);
  // A sine or cosine is rounded, the product with it, and the sum of two.
  return Math.hypot(...pair.map((n) => linear(reading, x, t, n)), 3 * ROUNDING * sizes);
}

/** The outputs of all heads, side by side. @type {OfRow} */
function heads(reading, step, t) {
  const numbers = reading.output(step, t);
  const errors = new Float64Array(numbers.length);
  const width = numbers.length / step.heads;
  const { heads_off } = reading.settingsOf(step);
  for (let head = 0; head < step.heads; head++) {
    if (heads_off.includes(head)) continue;
    const attention = reading.attention(step.name, head);
    const { data, scale } = attention;
    const [weights, scaled] = ["weights", "scaled"].map((stage) => attention.row(stage, t));
    const query = data.vector("q", 0, head, t);
    const { max } = attention.statistics(t);
    const ofWeights = weights.map((weight, j) => {
      if (!weight) return 0;
      const key = data.vector("k", 0, head, j);
      const sizes = key.reduce((sum, x, d) => sum + Math.abs(x * query[d]), 0);
      const ofScore = scale * (inSum(key.length) + ROUNDING) * sizes;
      return weight * Math.hypot(ofScore, 2 * ROUNDING * (scaled[j] - max), EXP);
    });
    const ofSum = Math.hypot(...ofWeights);
    const inOutput = 2 * Math.sqrt(weights.length + 2) * ROUNDING;
    for (let d = 0; d < width; d++) {
      const values = attention.values(d);
      const [mixed, sizes] = [
        Math.hypot(...ofWeights.map((error, j) => error * values[j])),
        attention.row("output", t)[d],
      ];
      const all = weights.reduce((sum, weight, j) => sum + weight * Math.abs(values[j]), 0);
      errors[head * width + d] = Math.hypot(mixed, sizes * ofSum, inOutput * all);
    }
  }
  return { numbers, errors };
}

/** @type {OfOne} */
function behindAttention(reading, sum, t, col) {
  if (reading.isWithoutAttention(sum)) return 0;
  const out = sum.inputs[1];
  const mixed = reading.held(`heads ${sum.name} ${t}`, () => heads(reading, out.inputs[0], t));
  return Math.hypot(summed(mixed, matrixOf(out), col), ROUNDING * reading.output(sum, t)[col]);
}

/** @type {OfOne} */
function behindFeedForward(reading, sum, t, col) {
  const down = sum.inputs[1];
  const [active, up] = down.inputs[0].inputs;
  const product = reading.held(`product ${sum.name} ${t}`, () => {
    const [gates, ups] = [active.inputs[0], up].map((step) => linearRow(reading, step, t));
    const [silu, numbers] = [active, down.inputs[0]].map((step) => reading.output(step, t));
    const errors = numbers.map((x, n) => {
      const moved = SLOPE * gates.errors[n] * ups.numbers[n];
      return Math.hypot(moved, silu[n] * ups.errors[n], (EXP + 4 * ROUNDING) * x);
    });
    return { numbers, errors };
  });
  return Math.hypot(summed(product, matrixOf(down), col), ROUNDING * reading.output(sum, t)[col]);
}

/**
 * For a number that the fast path keeps.
 *
 * @type {OfOne}
 */
export function boundOf(reading, step, t, col) {
  const add = step.name.endsWith(".attention_sum") ? behindAttention : behindFeedForward;
  /** @type {Record<string, OfOne>} */
  const rules = { rotary: rotated, linear, add };
  return DEVIATIONS * rules[step.operation](reading, step, t, col);
}
