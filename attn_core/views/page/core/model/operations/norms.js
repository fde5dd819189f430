// Rows brought to one size.

import { written } from "../../digits.js";
import { factor, listed } from "../../workings.js";
import { equals, result, signed, switchedOff } from "./lines.js";
import { rowOf, USUAL } from "./operation.js";

/** @typedef {import("../../arrays.js").NumberArray} NumberArray */

/**
 * Mean, variance, (x − mean) / √(variance + eps), and that times a gain plus a bias.
 *
 * @param {Float64Array} x
 * @param {NumberArray} gain
 * @param {NumberArray} bias
 * @param {number} eps
 */
function layerNormed(x, gain, bias, eps) {
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

/**
 * A number as Python writes it: with an exponent of two digits.
 *
 * @param {number} x
 */
const shortest = (x) => (x && x < 1e-4 ? x.toExponential().replace(/e-(\d)$/, "e-0$1") : `${x}`);

/** @type {(place: import("../place.js").Place, square: number) => string} */
const rootOf = ({ step }, square) => `√(${written(square)} + ${shortest(step.settings.eps)})`;

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
  width(step) {
    const { width } = step.inputs[0];
    for (const role of ["gain", "bias"]) step.parameter(role, [width]);
    return width;
  },
  rows(pass, step, t) {
    const x = pass.output(step.inputs[0], t);
    const { gain, bias } = step.parameters;
    const rows = layerNormed(x, gain, bias, step.settings.eps);
    return pass.settingsOf(step).off ? [...rows.slice(0, 3), x] : rows;
  },
  lines: {
    mean(place) {
      const [x] = place.inputs;
      const row = place.row(x);
      const sum = listed(row.length, (n) => [factor(row[n])], " + ", place.most);
      return [[["("], ...sum, [`) / ${row.length} = `], result(place.value)], () => place.shown(x)];
    },

    variance(place) {
      const [x] = place.inputs;
      const [row, [mean]] = [place.row(x), place.own("mean")];
      const sum = listed(row.length, (n) => [[`(${written(row[n])} - ${signed(mean)})²`]], " + ", place.most);
      const parts = () => [...place.shown(x), place.ofStage("mean", 0)];
      return [[["("], ...sum, [`) / ${row.length} = `], result(place.value)], parts];
    },

    normed(place) {
      const [x] = place.inputs;
      const [[mean], [variance]] = [place.own("mean"), place.own("variance")];
      const above = `(${written(place.row(x)[place.col])} - ${signed(mean)})`;
      const text = `${above} / ${rootOf(place, variance)}`;
      const parts = () => [place.number(x), place.ofStage("mean", 0), place.ofStage("variance", 0)];
      return [equals(text, place.value), parts];
    },

    output: scaled,
  },
};

/** x / √(mean of x² + eps), times a gain. @type {import("./operation.js").Operation} */
export const rmsNorm = {
  ...USUAL,
  width(step) {
    const { width } = step.inputs[0];
    step.parameter("gain", [width]);
    return width;
  },
  rows(pass, step, t) {
    const x = pass.output(step.inputs[0], t);
    const { gain } = step.parameters;
    let meanSquare = 0;
    for (let n = 0; n < x.length; n++) meanSquare += x[n] ** 2;
    meanSquare /= x.length;
    const root = Math.sqrt(meanSquare + step.settings.eps);
    const normed = rowOf(x.length, (n) => x[n] / root);
    const output = pass.settingsOf(step).off ? x : rowOf(x.length, (n) => normed[n] * gain.numbers[n]);
    return [Float64Array.of(meanSquare), normed, output];
  },
  lines: {
    mean_square(place) {
      const [x] = place.inputs;
      const row = place.row(x);
      const sum = listed(row.length, (n) => [[`(${written(row[n])})²`]], " + ", place.most);
      return [[["("], ...sum, [`) / ${row.length} = `], result(place.value)], () => place.shown(x)];
    },

    normed(place) {
      const [x] = place.inputs;
      const [meanSquare] = place.own("mean_square");
      const text = `${signed(place.row(x)[place.col])} / ${rootOf(place, meanSquare)}`;
      return [equals(text, place.value), () => [place.number(x), place.ofStage("mean_square", 0)]];
    },

    output: scaled,
  },
};
