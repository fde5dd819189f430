// Back through a softmax: each share times how far its gradient is above the row's average.

import { dot } from "../../../arrays.js";
import { aboveAverageText, equal, products } from "../lines.js";
import { sizeOf, table, vector } from "../tensor.js";

/** @type {import("./operation.js").Backward} */
export const softmax = {
  formula([gradient, shares]) {
    const rowDot = vector(shares.shape[0], (t) => dot(gradient.row(t), shares.row(t)));
    const above = (/** @type {number} */ t, /** @type {number} */ n) => gradient.at(t, n) - rowDot.at(t);
    return { row_dot: rowDot, grad_input: table(sizeOf(shares), (t, n) => shares.at(t, n) * above(t, n)) };
  },
  line(cell) {
    const [row] = cell.index;
    if (cell.stage === "row_dot") {
      const parts = (/** @type {number} */ n) => [cell.input(1, row, n), cell.input(0, row, n)];
      return products(cell, cell.inputTensor(1).row(row), cell.inputTensor(0).row(row), parts);
    }
    const [gradient, share] = [cell.input(0, ...cell.index), cell.input(1, ...cell.index)];
    const rowDot = cell.at("row_dot", row);
    const text = aboveAverageText(share.value, gradient.value, rowDot.value);
    return equal(cell, text, () => [share, gradient, rowDot]);
  },
};
