// Rows put side by side, or taken elsewhere as they are.

import { passedOn } from "./lines.js";
import { USUAL } from "./operation.js";

/** @typedef {import("./operation.js").Operation} Operation */

/** @type {Operation} */
export const concat = {
  ...USUAL,
  width(step) {
    step.must(
      step.inputs.every((input) => input.axis === step.axis),
      "inputs with as many rows each",
    );
    return step.inputs.reduce((sum, input) => sum + input.width, 0);
  },
  rows(pass, { inputs, width }, t) {
    const row = new Float64Array(width);
    let at = 0;
    for (const input of inputs) {
      row.set(pass.output(input, t), at);
      at += input.width;
    }
    return [row];
  },
  lines: {
    output(place) {
      const { inputs, t } = place;
      let [n, { col }] = [0, place];
      for (; col >= inputs[n].width; n++) col -= inputs[n].width;
      return passedOn(place, inputs[n], t, col);
    },
  },
};

/**
 * One row of the first input, as it is.
 *
 * @param {(pass: import("../pass.js").Pass, x: import("../program.js").Step) => number} which
 * @param {Partial<Operation>} others
 * @returns {Operation}
 */
const oneRow = (which, others) => ({
  ...USUAL,
  rows: (pass, { inputs: [x] }) => [pass.output(x, which(pass, x))],
  madeOf: (pass, { inputs: [x] }) => [[x, [which(pass, x)]]],
  lines: {
    output: (place) => passedOn(place, place.inputs[0], which(place.pass, place.inputs[0])),
  },
  ...others,
});

export const lastRow = oneRow((pass, x) => pass.lengthOf(x) - 1, {
  axis: () => "one",
  looksAhead: ({ inputs: [x] }) => x.axis === "target",
});

export const repeat = oneRow(() => 0, {
  axis: ({ inputs: [, y] }) => y.axis,
  width(step) {
    const [x] = step.inputs;
    step.must(x.axis === "one", "one row to repeat");
    return x.width;
  },
});
