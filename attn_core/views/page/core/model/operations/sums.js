// Sums: of two rows, and of a row's products with a matrix.

import { written } from "../../digits.js";
import { sumOfProducts } from "../../workings.js";
import { equals, result, signed, switchedOff } from "./lines.js";
import { rowIn, rowOf, USUAL, widthOfBoth } from "./operation.js";

/**
 * @typedef {import("../../arrays.js").NumberArray} NumberArray
 * @typedef {import("./operation.js").Operation} Operation
 */

/** @type {Operation} */
export const add = {
  ...USUAL,
  width: widthOfBoth,
  rows(pass, step, t) {
    const [x, y] = step.inputs.map((input) => pass.output(input, t));
    return [pass.settingsOf(step).off ? y : rowOf(step.width, (n) => x[n] + y[n])];
  },
  lines: {
    output(place) {
      const { col, inputs, pass, step } = place;
      const [x, y] = inputs;
      if (pass.settingsOf(step).off) return switchedOff(place, y, "residualIsOff");
      const text = `${written(place.row(x)[col])} + ${signed(place.row(y)[col])}`;
      return [equals(text, place.value), () => [place.number(x), place.number(y)]];
    },
  },
};

/**
 * Row j of what comes out is column j of what goes in.
 *
 * @param {NumberArray} matrix
 * @returns {NumberArray}
 */
function transposed({ dtype, numbers, shape: [rows, columns] }) {
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
export function affine(x, { numbers, shape }, bias) {
  const row = new Float64Array(shape[0]);
  for (let j = 0, at = 0; j < row.length; j++) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i] * numbers[at++];
    row[j] = bias ? sum + bias.numbers[j] : sum;
  }
  return row;
}

/**
 * @param {import("../place.js").Place} place
 * @param {Float64Array} x
 * @param {NumberArray} weight
 * @param {NumberArray | undefined} bias
 * @returns {import("../../workings.js").Line}
 */
export function affineLine({ col, most, value }, x, weight, bias) {
  const added = bias ? ` + ${signed(bias.numbers[col])}` : "";
  return [...sumOfProducts(x, rowIn(weight, col), undefined, undefined, most), [`${added} = `], result(value)];
}

/** @type {Operation} */
export const linear = {
  ...USUAL,
  width({ parameters, settings }) {
    if (settings.transposed) parameters.weight = transposed(parameters.weight);
    return parameters.weight.shape[0];
  },
  rows: (pass, { inputs: [x], parameters: { weight, bias } }, t) => [affine(pass.output(x, t), weight, bias)],
  lines: {
    output(place) {
      const { weight, bias } = place.step.parameters;
      const [x] = place.inputs;
      return [affineLine(place, place.row(x), weight, bias), () => place.shown(x)];
    },
  },
};
