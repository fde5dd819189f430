// Back through rows brought to one size.

import { dot } from "../../../arrays.js";
import { written } from "../../../digits.js";
import { factor, keptTerms, listed, sumOfProducts } from "../../../workings.js";
import { result, signed } from "../../operations/lines.js";
import { rootOf } from "../../operations/norms.js";
import { added, equal, nothing, passedOn, products, productText } from "../lines.js";
import { sizeOf, sumOfRows, table, zerosLike } from "../tensor.js";

/**
 * @typedef {import("./operation.js").Backward} Backward
 * @typedef {import("../cell.js").Cell} Cell
 * @typedef {import("../cell.js").How} How
 */

const [GRADIENT, NORMED, SQUARE] = [0, 1, 2]; // the inputs

/**
 * (g − mean g − x̂·mean(g·x̂)) / √(square + eps) of each row, g the gradient of x̂; without the mean of g where no
 * mean was subtracted.
 *
 * @param {boolean} isCentred
 * @returns {Backward}
 */
const norm = (isCentred) => ({
  formula([gradient, normed, square], { parameters: { gain }, settings: { eps } }, { off }) {
    const [T, E] = sizeOf(normed);
    const arrived = off ? zerosLike(gradient) : gradient;
    const gradNormed = table([T, E], (t, n) => arrived.at(t, n) * gain.numbers[n]);
    const mean = table([T, 1], (t) => gradNormed.row(t).reduce((sum, x) => sum + x) / E);
    const product = table([T, 1], (t) => dot(gradNormed.row(t), normed.row(t)) / E);
    const above = (/** @type {number} */ t, /** @type {number} */ n) =>
      gradNormed.at(t, n) - (isCentred ? mean.at(t, 0) : 0) - normed.at(t, n) * product.at(t, 0);
    return {
      grad_normed: gradNormed,
      mean_grad: mean,
      mean_product: product,
      grad_input: off ? gradient : table([T, E], (t, n) => above(t, n) / Math.sqrt(square.at(t, 0) + eps)),
      grad_gain: sumOfRows(table([T, E], (t, n) => arrived.at(t, n) * normed.at(t, n))),
      grad_bias: sumOfRows(arrived),
    };
  },

  line(cell) {
    const { stage, settings, index, parameters } = cell;
    if (settings.off) {
      return stage === "grad_input" ? passedOn(cell.input(GRADIENT, ...index), "normIsOff") : nothing("normIsOff");
    }
    if (stage === "grad_gain" || stage === "grad_bias") return ofParameter(cell);
    const [row, column] = index;
    if (stage === "grad_normed") {
      const gradient = cell.input(GRADIENT, row, column);
      return equal(cell, productText(gradient.value, parameters.gain.numbers[column]), () => [gradient]);
    }
    if (stage !== "grad_input") return meanOfRow(cell, row);
    const [normed, square] = [cell.input(NORMED, row, column), cell.input(SQUARE, row, 0)];
    const [grad, product] = [cell.at("grad_normed", row, column), cell.at("mean_product", row, 0)];
    const means = isCentred ? [cell.at("mean_grad", row, 0)] : [];
    const numbers = [written(grad.value), ...means.map(({ value }) => signed(value))];
    const pair = `${signed(normed.value, product.value)}·${signed(product.value, normed.value)}`;
    const text = `(${[...numbers, pair].join(" - ")}) / ${rootOf(cell.forward, square.value)}`;
    return equal(cell, text, () => [grad, ...means, normed, product, square]);
  },
});

/**
 * 0.31·1.2 + (-0.2)·0.7 = 0.2320, a product for each row; of a bias the gradients alone.
 *
 * @param {Cell} cell
 * @returns {How}
 */
function ofParameter(cell) {
  const [column] = cell.index;
  const gradients = cell.inputTensor(GRADIENT).column(column);
  const gradient = (/** @type {number} */ row) => cell.input(GRADIENT, row, column);
  if (cell.stage === "grad_bias") return added(cell, gradients, gradient);
  const normed = cell.inputTensor(NORMED).column(column);
  return products(cell, gradients, normed, (row) => [gradient(row), cell.input(NORMED, row, column)]);
}

/**
 * (0.31 + (-0.2)) / 2 = 0.0550, or of products with the normed row.
 *
 * @param {Cell} cell
 * @param {number} row
 * @returns {How}
 */
function meanOfRow(cell, row) {
  const [gradients, normed] = [cell.tensor("grad_normed").row(row), cell.inputTensor(NORMED).row(row)];
  const isProduct = cell.stage === "mean_product";
  const sum = isProduct
    ? sumOfProducts(gradients, normed, undefined, undefined, cell.most)
    : listed(gradients.length, (n) => [factor(gradients[n])], " + ", cell.most);
  const parts = (/** @type {number} */ n) => {
    const gradient = cell.at("grad_normed", row, n);
    return isProduct ? [gradient, cell.input(NORMED, row, n)] : [gradient];
  };
  return [
    [["("], ...sum, [`) / ${gradients.length} = `], result(cell.value)],
    () => keptTerms(gradients.length, cell.most).flatMap(parts),
  ];
}

export const layerNorm = norm(true);
export const rmsNorm = norm(false);
