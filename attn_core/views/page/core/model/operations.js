// What the steps of a model do, row by row: of each operation the shapes that must fit, and its formula. How many
// inputs it takes, its settings and its stages: declared.js.

import { keepRule } from "../masks.js";
import { bell, gru, layerNorm, linear, rowIn, rowOf, sinusoids, softmax, transposed } from "./formulas.js";

/**
 * @typedef {import("./pass.js").Pass} Pass
 * @typedef {import("./program.js").Step} Step
 *
 * @typedef {object} Operation
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
  const { heads_off } = pass.settingsOf(step);
  for (let head = 0; head < step.heads; head++) {
    if (!heads_off.includes(head)) row.set(pass.attention(step.name, head).row("output", t), head * each);
  }
  return row;
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
  width: ({ inputs: [x] }) => x.width,
  rows: (pass, { inputs: [x] }, t) => [pass.output(x, t).map(formula)],
});

/** @type {Record<string, Operation>} */
export const OPERATIONS = {
  words: {
    width: (step) => step.vocabulary.length,
    rows: (pass, { axis }, t) => [Float64Array.of(pass.ids(axis)[t])],
  },
  embed: {
    width(step) {
      return step.parameter("weight", [step.inputs[0].width, null]).shape[1];
    },
    rows(pass, { inputs: [ids], parameters: { weight }, settings: { times } }, t) {
      return [rowIn(weight, pass.output(ids, t)[0]).map((x) => x * times)];
    },
  },
  add_positions: {
    width(step) {
      const { width } = step.inputs[0];
      if (step.settings.kind === "sinusoids") step.must(width % 2 === 0, "an even width");
      else step.must(step.parameter("table", [null, width]).shape[0] >= step.longest, "a row for each position");
      return width;
    },
    rows(pass, step, t) {
      const x = pass.output(step.inputs[0], t);
      if (pass.settingsOf(step).off) return [x];
      const positions = positionsOf(step, t);
      return [rowOf(step.width, (n) => x[n] + positions[n])];
    },
  },
  add_row: {
    width(step) {
      const { width } = step.inputs[0];
      const { row } = step.settings;
      step.must(step.parameter("table", [null, width]).shape[0] > row, `a table with a row ${row}`);
      return width;
    },
    rows(pass, { inputs: [x], parameters: { table }, settings: { row } }, t) {
      const added = rowIn(table, row);
      return [pass.output(x, t).map((number, n) => number + added[n])];
    },
  },
  linear: {
    width(step) {
      const [{ width: taken }] = step.inputs;
      if (step.settings.transposed) step.parameters.weight = transposed(step.parameter("weight", [taken, null]));
      else step.parameter("weight", [null, taken]);
      const [width] = step.parameters.weight.shape;
      if (step.has("bias")) step.parameter("bias", [width]);
      return width;
    },
    rows: (pass, { inputs: [x], parameters: { weight, bias } }, t) => [linear(pass.output(x, t), weight, bias)],
  },
  attention: {
    width(step) {
      const { heads, inputs } = step;
      const [q, k, v] = inputs;
      const fits = q.width % heads === 0 && v.width % heads === 0;
      step.must(fits && q.width === k.width && k.axis === v.axis, "q, k and v that fit its heads and each other");
      return v.width;
    },
    // Its other stages are those of `pass.attention`.
    rows: (pass, step, t) => [merged(pass, step, t)],
  },
  add: {
    width(step) {
      const [x, y] = step.inputs;
      step.must(x.width === y.width && x.axis === y.axis, "two inputs of one shape");
      return x.width;
    },
    rows(pass, step, t) {
      const [x, y] = step.inputs.map((input) => pass.output(input, t));
      return [pass.settingsOf(step).off ? y : rowOf(step.width, (n) => x[n] + y[n])];
    },
  },
  layer_norm: {
    width(step) {
      const { width } = step.inputs[0];
      for (const role of ["gain", "bias"]) step.parameter(role, [width]);
      return width;
    },
    rows(pass, step, t) {
      const x = pass.output(step.inputs[0], t);
      const { gain, bias } = step.parameters;
      const rows = layerNorm(x, gain, bias, step.settings.eps);
      return pass.settingsOf(step).off ? [...rows.slice(0, 3), x] : rows;
    },
  },
  relu: each((x) => Math.max(0, x)),
  gelu: each((x) => x * bell(x)),
  tanh: each(Math.tanh),
  softmax: { ...each(Number), rows: (pass, { inputs: [x] }, t) => [softmax(pass.output(x, t))] },
  concat: {
    width(step) {
      step.must(
        step.inputs.every((input) => input.axis === step.axis),
        "inputs with as many rows each",
      );
      return step.inputs.reduce((sum, input) => sum + input.width, 0);
    },
    rows(pass, { inputs, width }, t) {
      const row = new Float64Array(width);
      let at = 0;
      for (const input of inputs) {
        row.set(pass.output(input, t), at);
        at += input.width;
      }
      return [row];
    },
  },
  gru: {
    width(step) {
      const [x, start] = step.inputs;
      const width = x.width / 3;
      step.parameter("weight_hh", [x.width, width]);
      step.parameter("bias_hh", [x.width]);
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
    width(step) {
      step.must(step.inputs[0].axis === "one", "one row to repeat");
      return step.inputs[0].width;
    },
    rows: (pass, { inputs: [x] }) => [pass.output(x, 0)],
  },
};
