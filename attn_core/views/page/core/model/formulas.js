// The formulas of a model's operations, each from a row that goes in to rows that come out.

/** @typedef {import("../arrays.js").NumberArray} NumberArray */

/**
 * @param {number} width
 * @param {(n: number) => number} number
 */
export function rowOf(width, number) {
  const row = new Float64Array(width);
  for (let n = 0; n < width; n++) row[n] = number(n);
  return row;
}

/**
 * A row of a matrix.
 *
 * @param {NumberArray} matrix
 * @param {number} n
 */
export const rowIn = ({ numbers, shape }, n) => numbers.subarray(n * shape[1], (n + 1) * shape[1]);

/**
 * Row j of what comes out is column j of what goes in.
 *
 * @param {NumberArray} matrix
 * @returns {NumberArray}
 */
export function transposed({ dtype, numbers, shape: [rows, columns] }) {
  const turned = rowOf(rows * columns, (n) => numbers[(n % rows) * columns + Math.floor(n / rows)]);
  return { dtype, shape: [columns, rows], numbers: turned };
}

/**
 * Σ xᵢ·W[j, i] + b[j]: W as torch keeps it, a row for each number that comes out.
 *
 * @param {Float64Array} x
 * @param {NumberArray} weight
 * @param {NumberArray} [bias]
 */
export function linear(x, { numbers, shape }, bias) {
  const row = new Float64Array(shape[0]);
  for (let j = 0, at = 0; j < row.length; j++) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i] * numbers[at++];
    row[j] = bias ? sum + bias.numbers[j] : sum;
  }
  return row;
}

/**
 * The sines and cosines of a position, in float32 as Python keeps them: columns 2i and 2i + 1 are the sine and
 * the cosine of t / 10000^(2i / width).
 *
 * @param {number} width
 * @param {number} t
 */
export const sinusoids = (width, t) =>
  rowOf(width, (n) => {
    const angle = t * 10000 ** (-(n - (n % 2)) / width);
    return Math.fround(n % 2 ? Math.cos(angle) : Math.sin(angle));
  });

/**
 * Mean, variance, (x − mean) / √(variance + eps), and that times a gain plus a bias.
 *
 * @param {Float64Array} x
 * @param {NumberArray} gain
 * @param {NumberArray} bias
 * @param {number} eps
 */
export function layerNorm(x, gain, bias, eps) {
  let [mean, variance] = [0, 0];
  for (let n = 0; n < x.length; n++) mean += x[n];
  mean /= x.length;
  for (let n = 0; n < x.length; n++) variance += (x[n] - mean) ** 2;
  variance /= x.length;
  const root = Math.sqrt(variance + eps);
  const normed = rowOf(x.length, (n) => (x[n] - mean) / root);
  const output = rowOf(x.length, (n) => normed[n] * gain.numbers[n] + bias.numbers[n]);
  return [Float64Array.of(mean), Float64Array.of(variance), normed, output];
}

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/**
 * The area under the bell curve to the left of x: (1 + erf(x / √2)) / 2. The series has terms of one sign, so that
 * nothing cancels in it; beyond 9 nothing is left to add in 64 bits.
 *
 * @param {number} x
 */
export function bell(x) {
  if (Math.abs(x) > 9) return x > 0 ? 1 : 0;
  let [term, sum] = [x, 0];
  for (let n = 3; sum + term !== sum; n += 2) {
    sum += term;
    term *= (x * x) / n;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * exp(x − max), and what they are divided by; of scores / temperature.
 *
 * @param {Float64Array} x
 * @param {number} [temperature]
 */
export function shares(x, temperature = 1) {
  const max = x.reduce((most, score) => Math.max(most, score));
  const exps = rowOf(x.length, (n) => Math.exp((x[n] - max) / temperature));
  const sum = exps.reduce((all, exp) => all + exp);
  return { max, exps, sum };
}

/**
 * @param {Float64Array} x
 * @param {number} [temperature]
 */
export function softmax(x, temperature) {
  const { exps, sum } = shares(x, temperature);
  return exps.map((exp) => exp / sum);
}

/**
 * The gates of a GRU and its next state, from its part of the input [3E] and the state before, in torch's order:
 * reset, update, candidate.
 *
 * @param {Float64Array} x
 * @param {Float64Array} before
 * @param {NumberArray} weight
 * @param {NumberArray} bias
 */
export function gru(x, before, weight, bias) {
  const E = before.length;
  const recurrent = linear(before, weight, bias);
  const reset = rowOf(E, (n) => sigmoid(x[n] + recurrent[n]));
  const update = rowOf(E, (n) => sigmoid(x[E + n] + recurrent[E + n]));
  const candidate = rowOf(E, (n) => Math.tanh(x[2 * E + n] + reset[n] * recurrent[2 * E + n]));
  const state = rowOf(E, (n) => (1 - update[n]) * candidate[n] + update[n] * before[n]);
  return [recurrent, reset, update, candidate, state];
}
