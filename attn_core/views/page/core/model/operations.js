// What the steps of a model do, row by row: each operation with what it needs and what it makes.

import { keepRule } from "../masks.js";
import { bell, gru, layerNorm, linear, rowIn, rowOf, sinusoids, softmax } from "./formulas.js";

/**
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
