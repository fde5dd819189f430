// Rows brought to one size.

import { written } from "../../digits.js";
import { factor, listed } from "../../workings.js";
import { equals, result, signed, switchedOff } from "./lines.js";
import { rowOf, USUAL } from "./operation.js";

/** @typedef {import("../../arrays.js").NumberArray} NumberArray */

/**
 * @param {Float64Array} x
 * @param {(number: number) => number} term
 */
function average(x, term) {
  let sum = 0;
  for (let n = 0; n < x.length; n++) sum += term(x[n]);
  return sum / x.length;
}

/**
 * Its line.
 *
 * @param {import("../place.js").Place} place
 * @param {(number: number) => [string, string?]} write a term
 * @returns {import("../../workings.js").Line}
 */
function averageLine(place, write) {
  const row = place.row(place.inputs[0]);
  const sum = listed(row.length, (n) => [write(row[n])], " + ", place.most);
  return [["("], ...sum, [`) / ${row.length} = `], result(place.value)];
}

/**
 * Mean, variance, (x − mean) / √(variance + eps), and that times a gain plus a bias.
 *
 * @param {Float64Array} x
 * @param {NumberArray} gain
 * @param {NumberArray} bias
 * @param {number} eps
 */
function layerNormed(x, gain, bias, eps) {
  const mean = average(x, (number) => number);
  const variance = average(x, (number) => (number - mean) ** 2);
  const root = Math.sqrt(variance + eps);
  const normed = rowOf(x.length, (n) => (x[n] - mean) / root);
  const output = rowOf(x.length, (n) => normed[n] * gain.numbers[n] + bias.numbers[n]);
  return [Float64Array.of(mean), Float64Array.of(variance), normed, output];
}

/**
 * A number as Python writes it: with an exponent of two digits.
 *
 * @param {number} x
 */
const shortest = (x) => (x && x < 1e-4 ? x.toExponential().replace(/e-(\d)$/, "e-0$1") : `${x}`);

/** What a number is divided by. @type {(step: import("../program.js").Step, square: number) => string} */
export const rootOf = ({ settings }, square) => `√(${written(square)} + ${shortest(settings.eps)})`;

/**
 * The line of what comes out: times a gain, plus a bias if there is one.
 *
 * @param {import("../place.js").Place} place
 * @returns {import("../place.js").How}
 */
function scaled(place) {
  const { col, pass, step } = place;
  if (pass.settingsOf(step).off) return switchedOff(place, step.inputs[0], "normIsOff");
  const normed = place.own("normed")[col];
  const { gain, bias } = step.parameters;
  const times = gain.numbers[col];
  const plus = bias ? ` + ${signed(bias.numbers[col])}` : "";
  const text = `${written(normed, times)} · ${signed(times, normed)}${plus}`;
  return [equals(text, place.value), () => [place.ofStage("normed")]];
}

/** @type {import("./operation.js").Operation} */
export const layerNorm = {
  ...USUAL,
  rows(pass, step, t) {
    const x = pass.output(step.inputs[0], t);
    const { gain, bias } = step.parameters;
    const rows = layerNormed(x, gain, bias, step.settings.eps);
    return pass.settingsOf(step).off ? [...rows.slice(0, 3), x] : rows;
  },
  lines: {
    mean: (place) => [averageLine(place, (number) => factor(number)), () => place.shown(place.inputs[0])],

    variance(place) {
      const [mean] = place.own("mean");
      const line = averageLine(place, (number) => [`(${written(number)} - ${signed(mean)})²`]);
      return [line, () => [...place.shown(place.inputs[0]), place.ofStage("mean", 0)]];
    },

    normed(place) {
      const [x] = place.inputs;
      const [[mean], [variance]] = [place.own("mean"), place.own("variance")];
      const above = `(${written(place.row(x)[place.col])} - ${signed(mean)})`;
      const text = `${above} / ${rootOf(place.step, variance)}`;
      const parts = () => [place.number(x), place.ofStage("mean", 0), place.ofStage("variance", 0)];
      return [equals(text, place.value), parts];
    },

    output: scaled,
  },
};

/** x / √(mean of x² + eps), times a gain. @type {import("./operation.js").Operation} */
export const rmsNorm = {
  ...USUAL,
  rows(pass, step, t) {
    const x = pass.output(step.inputs[0], t);
    const { gain } = step.parameters;
    const meanSquare = average(x, (number) => number ** 2);
    const root = Math.sqrt(meanSquare + step.settings.eps);
    const normed = rowOf(x.length, (n) => x[n] / root);
    const output = pass.settingsOf(step).off ? x : rowOf(x.length, (n) => normed[n] * gain.numbers[n]);
    return [Float64Array.of(meanSquare), normed, output];
  },
  lines: {
    mean_square: (place) => [
      averageLine(place, (number) => [`(${written(number)})²`]),
      () => place.shown(place.inputs[0]),
    ],

    normed(place) {
      const [x] = place.inputs;
      const [meanSquare] = place.own("mean_square");
      const text = `${signed(place.row(x)[place.col])} / ${rootOf(place.step, meanSquare)}`;
      return [equals(text, place.value), () => [place.number(x), place.ofStage("mean_square", 0)]];
    },

    output: scaled,
  },
};
