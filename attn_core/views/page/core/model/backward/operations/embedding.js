// Back to the rows of tables: a word's own, that of its place, one for all.

import { added, nothing, passedOn, products } from "../lines.js";
import { Tensor } from "../tensor.js";

/** @typedef {import("./operation.js").Backward} Backward */

/** The row of a word gets what came to each of its places; rows of other words get 0. @type {Backward} */
export const embed = {
  formula([gradient, words], { parameters: { weight }, settings: { times } }) {
    const made = new Tensor(weight.shape);
    for (const [t, word] of words.numbers.entries()) {
      const [row, from] = [made.row(word), gradient.row(t)];
      for (let n = 0; n < row.length; n++) row[n] += from[n] * times;
    }
    return { grad_weight: made };
  },
  line(cell) {
    const [word, column] = cell.index;
    const places = [...cell.inputTensor(1).numbers.entries()].filter(([, id]) => id === word).map(([t]) => t);
    if (!places.length) return nothing("noSuchWord");
    const gradients = places.map((t) => cell.inputTensor(0).at(t, column));
    const part = (/** @type {number} */ n) => cell.input(0, places[n], column);
    const { times } = cell.settings;
    if (times === 1) return added(cell, gradients, part);
    return products(
      cell,
      gradients,
      gradients.map(() => times),
      (n) => [part(n)],
    );
  },
};

/** The gradient goes on as it is, and to the row of each place that is in the table. @type {Backward} */
export const addPositions = {
  formula([gradient], { parameters: { table } }, { off }) {
    /** @type {Record<string, Tensor>} */
    const made = { grad_input: gradient };
    if (table) made.grad_table = new Tensor(table.shape);
    if (table && !off) made.grad_table.numbers.set(gradient.numbers);
    return made;
  },
  line(cell) {
    const [row, column] = cell.index;
    if (cell.stage === "grad_table") {
      if (cell.settings.off) return nothing("positionsAreOff");
      if (row >= cell.inputTensor(0).shape[0]) return nothing("noSuchPlace");
    }
    return passedOn(cell.input(0, row, column));
  },
};

/** The gradient goes on as it is; the row that was added everywhere gets the sum. @type {Backward} */
export const addRow = {
  formula([gradient], { parameters: { table }, settings: { row } }) {
    const made = new Tensor(table.shape);
    const sum = made.row(row);
    for (let t = 0; t < gradient.shape[0]; t++) for (const [n, x] of gradient.row(t).entries()) sum[n] += x;
    return { grad_input: gradient, grad_table: made };
  },
  line(cell) {
    const [row, column] = cell.index;
    if (cell.stage === "grad_input") return passedOn(cell.input(0, row, column));
    if (row !== cell.settings.row) return nothing("isOtherRow");
    return added(cell, cell.inputTensor(0).column(column), (place) => cell.input(0, place, column));
  },
};
