// Back through what is done to each number by itself, or with the one in its place: the slope, times the gradient.

import { say } from "../../../../words/words.js";
import { written } from "../../../digits.js";
import { bell } from "../../operations/activations.js";
import { result, signed } from "../../operations/lines.js";
import { equal, productText } from "../lines.js";
import { sizeOf, table } from "../tensor.js";

/**
 * @typedef {import("./operation.js").Backward} Backward
 * @typedef {import("../cell.js").How} How
 */

/**
 * @param {(x: number) => number} slope from the input or the output
 * @param {(x: import("../cell.js").Cell, slope: import("../cell.js").Cell) => How} line
 * @returns {Backward}
 */
const by = (slope, line) => ({
  formula([gradient, x]) {
    const slopes = table(sizeOf(x), (t, n) => slope(x.at(t, n)));
    return { slope: slopes, grad_input: table(sizeOf(x), (t, n) => gradient.at(t, n) * slopes.at(t, n)) };
  },
  line(cell) {
    if (cell.stage === "slope") return line(cell.input(1, ...cell.index), cell);
    const [gradient, slopeAt] = [cell.input(0, ...cell.index), cell.at("slope", ...cell.index)];
    return equal(cell, productText(gradient.value, slopeAt.value), () => [gradient, slopeAt]);
  },
});

export const relu = by(
  (x) => (x > 0 ? 1 : 0),
  (x, slope) => {
    const why = say(x.value > 0 ? "isAbove" : "isNotAbove", { x: written(x.value) });
    return [[result(slope.value), [why]], () => [x]];
  },
);

/** Φ(x) + x·φ(x), where φ is the density of a normal distribution. */
export const gelu = by(
  (x) => bell(x) + (x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI),
  (x, slope) => {
    const number = written(x.value);
    return equal(slope, `Φ(${number}) + ${signed(x.value)}·φ(${number})`, () => [x]);
  },
);

/** From what tanh gave. */
export const tanh = by(
  (y) => 1 - y * y,
  (y, slope) => equal(slope, `1 - (${written(y.value)})²`, () => [y]),
);

/** @param {number} x */
function siluSlope(x) {
  const share = 1 / (1 + Math.exp(-x));
  return share * (1 + x * (1 - share));
}

export const silu = by(siluSlope, (x, slope) => {
  const share = `σ(${written(x.value)})`;
  return equal(slope, `${share} · (1 + ${signed(x.value)}·(1 - ${share}))`, () => [x]);
});

/** Each of the two gets the gradient times the other. @type {Backward} */
export const multiply = {
  formula([gradient, x, y]) {
    const times = (/** @type {import("../tensor.js").Tensor} */ other) =>
      table(sizeOf(x), (t, n) => gradient.at(t, n) * other.at(t, n));
    return { grad_x: times(y), grad_y: times(x) };
  },
  line(cell) {
    const gradient = cell.input(0, ...cell.index);
    const other = cell.input(cell.stage === "grad_x" ? 2 : 1, ...cell.index);
    return equal(cell, productText(gradient.value, other.value), () => [gradient, other]);
  },
};
