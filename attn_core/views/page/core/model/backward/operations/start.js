// Where a backward pass starts, and its sums.

import { say } from "../../../../words/words.js";
import { result } from "../../operations/lines.js";
import { added, nothing } from "../lines.js";
import { Tensor } from "../tensor.js";
import { sumOf } from "./sums.js";

/** @typedef {import("./operation.js").Backward} Backward */

/** The gradient of one number of a step with respect to all numbers of the step. @type {Backward} */
export const itself = {
  formula([made], _step, _settings, { index }) {
    const gradient = new Tensor(made.shape);
    gradient.numbers[gradient.placeOf(index)] = 1;
    return { output: gradient };
  },
  line(cell) {
    if (`${cell.index}` !== `${cell.gradients.index}`) return nothing("isOtherNumber");
    return [[result(1), [say("isItself")]]];
  },
};

/** A number that is used more than once gets each use's gradient. @type {Backward} */
export const sum = {
  formula: (parts) => ({ output: sumOf(parts) }),
  line(cell) {
    const parts = cell.step.inputs.map((_, n) => cell.input(n, ...cell.index));
    return added(
      cell,
      parts.map(({ value }) => value),
      (n) => parts[n],
    );
  },
};
