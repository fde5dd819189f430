// What somebody gives: words, as their numbers in the model's list.

import { USUAL } from "./operation.js";

/** @type {import("./operation.js").Operation} */
export const words = {
  ...USUAL,
  isOfWords: true,
  width: (step) => step.vocabulary.length,
  axis(step) {
    const { side } = step.settings;
    step.must(side === "source" || side === "target", 'the side "source" or "target"');
    return side;
  },
  rows: (pass, { axis }, t) => [Float64Array.of(pass.ids(axis)[t])],
  lines: {
    output: ({ step, value }) => [[[`${step.vocabulary[value]} (${value})`]]],
  },
};
