// Back through rows put side by side, or taken elsewhere as they are.

import { added, nothing, passedOn } from "../lines.js";
import { sizeOf, sumOfRows, Tensor, table, zerosLike } from "../tensor.js";

/** @typedef {import("./operation.js").Backward} Backward */

/** Each input gets its columns of the gradient. @type {Backward} */
export const concat = {
  formula([gradient, ...beside]) {
    let first = 0;
    const parts = beside.map((x, n) => {
      const start = first;
      first += x.shape[1];
      return [`grad_input_${n}`, table(sizeOf(x), (t, column) => gradient.at(t, start + column))];
    });
    return Object.fromEntries(parts);
  },
  line(cell) {
    const [row, column] = cell.index;
    let before = 0;
    for (let n = Number(cell.stage.split("_").at(-1)); n > 0; n--) before += cell.inputTensor(n).shape[1];
    return passedOn(cell.input(0, row, before + column));
  },
};

/** The last row gets the gradient, the others 0. @type {Backward} */
export const lastRow = {
  formula([gradient, x]) {
    const made = zerosLike(x);
    made.row(x.shape[0] - 1).set(gradient.numbers);
    return { grad_input: made };
  },
  line(cell) {
    const [row, column] = cell.index;
    if (row < cell.inputTensor(1).shape[0] - 1) return nothing("onlyLastRow");
    return passedOn(cell.input(0, 0, column));
  },
};

/** The one row gets the sum of what came to all its copies. @type {Backward} */
export const repeat = {
  formula([gradient]) {
    const { numbers, shape } = sumOfRows(gradient);
    return { grad_input: new Tensor([1, ...shape], numbers) };
  },
  line(cell) {
    const [, column] = cell.index;
    return added(cell, cell.inputTensor(0).column(column), (row) => cell.input(0, row, column));
  },
};
