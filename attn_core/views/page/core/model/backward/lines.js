// What the lines of several backward steps have in common: those of steps/operations/lines.py.

import { say } from "../../../words/words.js";
import { written } from "../../digits.js";
import { factor, keptTerms, listed, sumOfProducts } from "../../workings.js";
import { result, signed } from "../operations/lines.js";

/**
 * @typedef {import("./cell.js").Cell} Cell
 * @typedef {import("./cell.js").How} How
 */

/**
 * A number that is taken over from elsewhere as it is.
 *
 * @param {Cell} other
 * @param {string} [why] a phrase behind it
 * @returns {How}
 */
export const passedOn = (other, why) => [
  why ? [[written(other.value)], [say(why)]] : [result(other.value)],
  () => [other],
];

/**
 * 0, and the reason.
 *
 * @param {string} why a phrase
 * @param {Record<string, any>} [values]
 * @returns {How}
 */
export const nothing = (why, values) => [[result(0), [say(why, values)]]];

/** @type {(x: number, y: number) => string} */
export const productText = (x, y) => `${signed(x, y)} · ${signed(y, x)}`;

/**
 * Its arithmetic, and what it gives.
 *
 * @param {Cell} cell
 * @param {string} text
 * @param {() => Cell[]} parts
 * @returns {How}
 */
export const equal = (cell, text, parts) => [[[`${text} = `], result(cell.value)], parts];

/**
 * 0.31 + (-0.2) = 0.11.
 *
 * @param {Cell} cell
 * @param {ArrayLike<number>} terms
 * @param {(n: number) => Cell} part where a term comes from
 * @returns {How}
 */
export function added(cell, terms, part) {
  if (terms.length === 1) return passedOn(part(0));
  const sum = listed(terms.length, (n) => [factor(terms[n])], " + ", cell.most);
  return [[...sum, [" = "], result(cell.value)], () => keptTerms(terms.length, cell.most).map(part)];
}

/**
 * 0.31·0.12 + (-0.2)·0.5 = -0.0628.
 *
 * @param {Cell} cell
 * @param {ArrayLike<number>} left
 * @param {ArrayLike<number>} right
 * @param {(n: number) => Cell[]} parts where the numbers of a product come from
 * @returns {How}
 */
export function products(cell, left, right, parts) {
  const sum = sumOfProducts(left, right, undefined, undefined, cell.most);
  return [[...sum, [" = "], result(cell.value)], () => keptTerms(left.length, cell.most).flatMap(parts)];
}

/**
 * What a softmax sends back to one of its numbers: 0.25 · (8 - 6).
 *
 * @param {number} share
 * @param {number} gradient
 * @param {number} rowDot
 */
export const aboveAverageText = (share, gradient, rowDot) =>
  `${written(share, gradient - rowDot)} · (${written(gradient)} - ${signed(rowDot)})`;
