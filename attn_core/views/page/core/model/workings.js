// The written-out arithmetic of any number of a pass, down to the words.

import { lastStage, Place } from "./place.js";

/** @type {import("./place.js").Write} */
function write(pass, step, stage, index, most) {
  const place = new Place(pass, step, stage, index, write, most);
  const line = step.kind.lines[stage](place);
  return Array.isArray(line) ? place.term(line) : line;
}

/**
 * How one number of a pass comes about.
 *
 * @param {import("./pass.js").Pass} pass
 * @param {string} name of a step
 * @param {number[]} index [row, column]; in a stage of attention [head, row, column], of words [row]; row_max and
 * row_sum have no column
 * @param {string} [stage] the last if it is left out
 * @returns {import("./place.js").Term}
 */
export function workings(pass, name, index, stage) {
  const step = pass.machine.step(name);
  pass.value(name, index, stage); // or the sentence why there is none
  return write(pass, step, stage ?? lastStage(step), index);
}

/**
 * A line as plain text.
 *
 * @param {import("./place.js").Line} line
 */
export const lineText = (line) => line.map(([text]) => text).join("");
