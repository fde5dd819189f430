// The written-out arithmetic of any number of a pass, down to the words.

import { LINES } from "./lines.js";
import { lastStage, Place } from "./place.js";
import { HeadWorkings, ShareWorkings } from "./row_workings.js";

/**
 * @param {any} rows has a method for each stage
 * @param {string} stage
 * @param {number} col
 */
function lineOf(rows, stage, col) {
  if (stage === "row_max") return rows.rowMax();
  return stage === "row_sum" ? rows.rowSum() : rows[stage](col);
}

/** @type {import("./place.js").Write} */
function write(pass, step, stage, index, most) {
  const { operation } = step;
  const isLast = stage === lastStage(step);
  const place = new Place(pass, step, stage, index, write, most);
  if (operation === "softmax") return lineOf(new ShareWorkings(place), isLast ? "weights" : stage, place.col);
  if (operation === "attention" && !isLast) return lineOf(new HeadWorkings(place), stage, index[2]);
  return place.term(LINES[isLast ? operation : `${operation}.${stage}`](place));
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
