// Back through sums: of two rows, and of a row's products with a matrix.

import { dot } from "../../../arrays.js";
import { added, nothing, passedOn, products } from "../lines.js";
import { sumOfRows, table, zerosLike } from "../tensor.js";

/** @typedef {import("./operation.js").Backward} Backward */

/** The gradient goes on to both; with x switched off to y alone. @type {Backward} */
export const add = {
  formula: ([gradient], _step, { off }) => ({ grad_x: off ? zerosLike(gradient) : gradient, grad_y: gradient }),
  line(cell) {
    if (cell.settings.off && cell.stage === "grad_x") return nothing("residualIsOff");
    return passedOn(cell.input(0, ...cell.index));
  },
};

/** Back through the same matrix; each of its numbers gets its products, summed over the rows. @type {Backward} */
export const linear = {
  formula([gradient, x], { parameters: { weight }, settings }) {
    const [F, E] = weight.shape;
    const [columns, taken] = [gradient, x].map((tensor) => {
      return Array.from({ length: tensor.shape[1] }, (_, n) => tensor.column(n));
    });
    const ofWeight = (/** @type {number} */ f, /** @type {number} */ e) => dot(columns[f], taken[e]);
    const made = {
      grad_input: table([gradient.shape[0], E], (t, e) => {
        let sum = 0;
        for (let f = 0, row = gradient.row(t); f < F; f++) sum += row[f] * weight.numbers[f * E + e];
        return sum;
      }),
      grad_weight: settings.transposed ? table([E, F], (e, f) => ofWeight(f, e)) : table([F, E], ofWeight),
    };
    return { ...made, grad_bias: sumOfRows(gradient) };
  },
  line(cell) {
    const [gradient, x] = [cell.inputTensor(0), cell.inputTensor(1)];
    const { numbers, shape } = cell.parameters.weight;
    if (cell.stage === "grad_input") {
      const [row, column] = cell.index;
      const weights = Float64Array.from({ length: shape[0] }, (_, f) => numbers[f * shape[1] + column]);
      return products(cell, gradient.row(row), weights, (f) => [cell.input(0, row, f)]);
    }
    if (cell.stage === "grad_bias") {
      const [made] = cell.index;
      return added(cell, gradient.column(made), (row) => cell.input(0, row, made));
    }
    const [made, taken] = cell.settings.transposed ? [...cell.index].reverse() : cell.index;
    const parts = (/** @type {number} */ row) => [cell.input(0, row, made), cell.input(1, row, taken)];
    return products(cell, gradient.column(made), x.column(taken), parts);
  },
};

/** @type {(tensors: import("../tensor.js").Tensor[]) => import("../tensor.js").Tensor} */
export function sumOf([first, ...others]) {
  const made = zerosLike(first);
  for (const { numbers } of [first, ...others]) for (let n = 0; n < numbers.length; n++) made.numbers[n] += numbers[n];
  return made;
}
