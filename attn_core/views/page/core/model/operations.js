// What the steps of a model compute: each operation with its formula, row by row.

import { keepRule } from "../masks.js";

/**
 * @typedef {import("../arrays.js").NumberArray} NumberArray
 * @typedef {import("./pass.js").Pass} Pass
 * @typedef {import("./program.js").Step} Step
 *
 * @typedef {object} Operation
 * @property {string[]} stages the arrays that it makes, its output last
 * @property {[number, number]} takes the least and the most inputs
 * @property {(step: Step) => number} width how many columns its output has; asks of a step what it needs
 * @property {(pass: Pass, step: Step, t: number) => Float64Array[]} rows row t of each of its stages
 */

/**
 * @param {number} width
 * @param {(n: number) => number} number
 */
function rowOf(width, number) {
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
 * @param {NumberArray} [bias]
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

/**
 * The state before row t of a GRU: at first its start, or zeros.
 *
 * @param {Pass} pass
 * @param {Step} step
 * @param {number} t
 */
export function stateBefore(pass, step, t) {
  if (t) return pass.output(step, t - 1);
  return step.inputs[1] ? pass.output(step.inputs[1], 0) : new Float64Array(step.width);
}

/**
 * The row of positions that is added to row t.
 *
 * @param {Step} step
 * @param {number} t
 */
export const positionsOf = ({ width, parameters: { table } }, t) => (table ? rowIn(table, t) : sinusoids(width, t));

/**
 * All heads side by side; those that are switched off give zeros.
 *
 * @param {Pass} pass
 * @param {Step} step
 * @param {number} t
 */
function merged(pass, step, t) {
  const row = new Float64Array(step.width);
  const each = step.width / step.heads;
  for (let head = 0; head < step.heads; head++) {
    if (!pass.isOff("heads_off", step, head)) row.set(pass.attention(step.name, head).row("output", t), head * each);
  }
  return row;
}

/**
 * A mask that a program may have: one that does not depend on how long a sentence is.
 *
 * @param {any} json
 * @returns {boolean}
 */
function isKeep(json) {
  if (json?.kind === "and") return Array.isArray(json.of) && json.of.every(isKeep);
  const isSize = (/** @type {any} */ n) => n === undefined || n === null || (Number.isInteger(n) && n >= 0);
  return json?.kind === "causal" || (json?.kind === "window" && isSize(json.before) && isSize(json.after));
}

/**
 * Whether a mask keeps every row from what stands behind it.
 *
 * @param {import("../masks.js").Keep | null} keep
 */
export function looksBack(keep) {
  if (!keep) return false;
  const row = new Uint8Array([1, 1]);
  keepRule(keep, 2, 2)(row, 0, 0, 0);
  return !row[1];
}

/**
 * An operation that makes each number of a row from the number of the row that goes in.
 *
 * @param {(x: number) => number} formula
 * @returns {Operation}
 */
const each = (formula) => ({
  stages: ["output"],
  takes: [1, 1],
  width: ({ inputs: [x] }) => x.width,
  rows: (pass, { inputs: [x] }, t) => [pass.output(x, t).map(formula)],
});

/** @type {Record<string, Operation>} */
export const OPERATIONS = {
  words: {
    stages: ["output"],
    takes: [0, 0],
    width: (step) => step.vocabulary.length,
    rows: (pass, { axis }, t) => [Float64Array.of(pass.ids(axis)[t])],
  },
  embed: {
    stages: ["output"],
    takes: [1, 1],
    width(step) {
      step.must(Number.isFinite(step.times), "times a number");
      return step.parameter("weight", [step.inputs[0].width, null]).shape[1];
    },
    rows(pass, { inputs: [ids], parameters: { weight }, times }, t) {
      return [rowIn(weight, pass.output(ids, t)[0]).map((x) => x * times)];
    },
  },
  add_positions: {
    stages: ["output"],
    takes: [1, 1],
    width(step) {
      const { width } = step.inputs[0];
      if (step.settings.kind === "sinusoids") step.must(width % 2 === 0, "an even width");
      else step.must(step.parameter("table", [null, width]).shape[0] >= step.longest, "a row for each position");
      return width;
    },
    rows(pass, step, t) {
      const x = pass.output(step.inputs[0], t);
      if (pass.isOff("positions_off", step)) return [x];
      const positions = positionsOf(step, t);
      return [rowOf(step.width, (n) => x[n] + positions[n])];
    },
  },
  linear: {
    stages: ["output"],
    takes: [1, 1],
    width(step) {
      const [width] = step.parameter("weight", [null, step.inputs[0].width]).shape;
      if (step.has("bias")) step.parameter("bias", [width]);
      return width;
    },
    rows: (pass, { inputs: [x], parameters: { weight, bias } }, t) => [linear(pass.output(x, t), weight, bias)],
  },
  attention: {
    stages: ["scores", "scaled", "masked", "weights", "dropped", "output", "merged"],
    takes: [3, 3],
    width(step) {
      const { heads, inputs } = step;
      const [q, k, v] = inputs;
      const fits = Number.isInteger(heads) && heads > 0 && q.width % heads === 0 && v.width % heads === 0;
      step.must(fits && q.width === k.width && k.axis === v.axis, "q, k and v that fit its heads and each other");
      step.must(Number.isFinite(step.settings.scale), "a number as its scale");
      step.must(!step.settings.keep || isKeep(step.settings.keep), "a mask for sentences of any length");
      return v.width;
    },
    // Its other stages are those of `pass.attention`.
    rows: (pass, step, t) => [merged(pass, step, t)],
  },
  add: {
    stages: ["output"],
    takes: [2, 2],
    width(step) {
      const [x, y] = step.inputs;
      step.must(x.width === y.width && x.axis === y.axis, "two inputs of one shape");
      return x.width;
    },
    rows(pass, step, t) {
      const [x, y] = step.inputs.map((input) => pass.output(input, t));
      return [pass.isOff("residuals_off", step) ? y : rowOf(step.width, (n) => x[n] + y[n])];
    },
  },
  layer_norm: {
    stages: ["mean", "variance", "normed", "output"],
    takes: [1, 1],
    width(step) {
      const { width } = step.inputs[0];
      for (const role of ["gain", "bias"]) step.parameter(role, [width]);
      step.must(step.settings.eps >= 0, "an eps of 0 or more");
      return width;
    },
    rows(pass, step, t) {
      const x = pass.output(step.inputs[0], t);
      const { gain, bias } = step.parameters;
      const rows = layerNorm(x, gain, bias, step.settings.eps);
      return pass.isOff("norms_off", step) ? [...rows.slice(0, 3), x] : rows;
    },
  },
  relu: each((x) => Math.max(0, x)),
  gelu: each((x) => x * bell(x)),
  tanh: each(Math.tanh),
  softmax: { ...each(Number), rows: (pass, { inputs: [x] }, t) => [softmax(pass.output(x, t))] },
  concat: {
    stages: ["output"],
    takes: [2, 2],
    width(step) {
      const [x, y] = step.inputs;
      step.must(x.axis === y.axis, "two inputs with as many rows");
      return x.width + y.width;
    },
    rows: (pass, { inputs: [x, y] }, t) => [Float64Array.of(...pass.output(x, t), ...pass.output(y, t))],
  },
  gru: {
    stages: ["recurrent", "reset", "update", "candidate", "state"],
    takes: [1, 2],
    width(step) {
      const [x, start] = step.inputs;
      const width = x.width / 3;
      step.parameter("weight_hh", [x.width, width]);
      if (step.has("bias_hh")) step.parameter("bias_hh", [x.width]);
      step.must(!start || (start.width === width && start.axis === "one"), "one row as its start");
      return width;
    },
    rows(pass, step, t) {
      const { weight_hh, bias_hh } = step.parameters;
      return gru(pass.output(step.inputs[0], t), stateBefore(pass, step, t), weight_hh, bias_hh);
    },
  },
  last_row: { ...each(Number), rows: (pass, { inputs: [x] }) => [pass.output(x, pass.lengthOf(x) - 1)] },
  repeat: {
    ...each(Number),
    takes: [1, 2],
    width(step) {
      step.must(step.inputs[0].axis === "one", "one row to repeat");
      return step.inputs[0].width;
    },
    rows: (pass, { inputs: [x] }) => [pass.output(x, 0)],
  },
};
