// Rows of tables: a word's own, that of its place, one for all.

import { written } from "../../digits.js";
import { equals, result, signed, switchedOff } from "./lines.js";
import { rowIn, rowOf, USUAL } from "./operation.js";

/**
 * @typedef {import("./operation.js").Operation} Operation
 * @typedef {import("../place.js").Place} Place
 * @typedef {import("../program.js").Step} Step
 */

/** @type {Operation} */
export const embed = {
  ...USUAL,
  takesWords: true,
  width: ({ parameters: { weight } }) => weight.shape[1],
  rows(pass, { inputs: [ids], parameters: { weight }, settings: { times } }, t) {
    return [rowIn(weight, pass.output(ids, t)[0]).map((x) => x * times)];
  },
  lines: {
    output(place) {
      const { inputs, step, value } = place;
      const [ids] = inputs;
      const { times } = step.settings;
      const number = rowIn(step.parameters.weight, place.row(ids)[0])[place.col];
      const text = `${written(number, times)} · ${written(times, number)}`;
      const parts = () => [place.write(place.pass, ids, "output", [place.t])];
      return [times === 1 ? [result(value)] : equals(text, value), parts];
    },
  },
};

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

/** @type {(step: Step, t: number) => Float64Array} */
const positionsOf = ({ width, parameters: { table } }, t) => (table ? rowIn(table, t) : sinusoids(width, t));

/**
 * @param {Place} place
 * @param {Float64Array} added
 * @returns {import("../place.js").How}
 */
function sum(place, added) {
  const [x] = place.inputs;
  const text = `${written(place.row(x)[place.col])} + ${signed(added[place.col])}`;
  return [equals(text, place.value), () => [place.number(x)]];
}

/** @type {Operation} */
export const addPositions = {
  ...USUAL,
  width(step) {
    const { width } = step.inputs[0];
    const { table } = step.parameters;
    if (table) step.must(table.shape[0] >= step.longest, "a row for each position");
    else step.must(width % 2 === 0, "an even width");
    return width;
  },
  rows(pass, step, t) {
    const x = pass.output(step.inputs[0], t);
    if (pass.settingsOf(step).off) return [x];
    const positions = positionsOf(step, t);
    return [rowOf(step.width, (n) => x[n] + positions[n])];
  },
  lines: {
    output(place) {
      const { pass, step, t } = place;
      if (pass.settingsOf(step).off) return switchedOff(place, step.inputs[0], "positionsAreOff");
      return sum(place, positionsOf(step, t));
    },
  },
};

/** @type {Operation} */
export const addRow = {
  ...USUAL,
  width(step) {
    const { row } = step.settings;
    step.must(step.parameters.table.shape[0] > row, `a table with a row ${row}`);
    return step.inputs[0].width;
  },
  rows(pass, { inputs: [x], parameters: { table }, settings: { row } }, t) {
    const added = rowIn(table, row);
    return [pass.output(x, t).map((number, n) => number + added[n])];
  },
  lines: {
    output: (place) => sum(place, rowIn(place.step.parameters.table, place.step.settings.row)),
  },
};
