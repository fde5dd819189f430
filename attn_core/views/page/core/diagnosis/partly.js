// What keeps only a part of the weights' numbers: one head of several, their mean, dropout; and which
// slip a room is too wide to name. As diagnosis/partly.py and comparing.py.

import { bare, differing, lastOf, sameShape } from "./comparing.js";

/**
 * @typedef {import("./pasted.js").Table} Table
 * @typedef {import("./comparing.js").Candidate} Candidate
 */

const FEWEST = 4; // weights with one factor; fewer may have it by chance
const MOST_SHARE_OF_SLIP = 0.1;

/**
 * A stage with its heads in one: "mean", "sum", or the number of a head.
 *
 * @param {Table} table
 * @param {number[]} output the shape of the output: its heads are the third axis from the end
 * @param {string} way
 * @returns {Table}
 */
export function inOne({ shape, cells }, output, way) {
  const [H] = output.slice(-3);
  const size = shape.slice(-2).reduce((count, n) => count * n, 1);
  const heads = (/** @type {number} */ at) => Array.from({ length: H }, (_, h) => cells[at + h * size]);
  const made = Float64Array.from({ length: cells.length / H }, (_, n) => {
    const start = Math.floor(n / size) * H * size + (n % size);
    if (way !== "mean" && way !== "sum") return cells[start + Number(way) * size];
    const sum = heads(start).reduce((total, cell) => total + cell, 0);
    return way === "sum" ? sum : sum / H;
  });
  return bare({ shape: [...output.slice(0, -3), ...shape.slice(-2)], cells: made });
}

/**
 * The factor of the weights that are not 0, if the others were set to 0 as dropout does. Weights that
 * were hidden and then made to add up to 1 again have one factor in a single row; so at least one row
 * has to add up to something else.
 *
 * @param {Table} yours
 * @param {Candidate} weights
 * @param {number} slack
 */
export function droppedAnew(yours, weights, slack) {
  if (!sameShape(yours, weights) || !yours.cells.every(Number.isFinite)) return null;
  let [both, own] = [0, 0];
  yours.cells.forEach((cell, n) => {
    if (!cell) return;
    both += cell * weights.cells[n];
    own += weights.cells[n] ** 2;
  });
  const factor = both / own;
  if (!(factor > 1)) return null;
  const [base, share] = weights.room;
  const room = weights.sizes.map((size) => 2 * slack + base * factor + share * Math.abs(size) * factor);
  const isLarge = (/** @type {number} */ n) => factor * weights.cells[n] > 4 * room[n];
  let [kept, gone] = [0, 0];
  for (const [n, cell] of yours.cells.entries()) {
    if (cell && !(Math.abs(cell - factor * weights.cells[n]) < room[n])) return null;
    if (cell) kept += Number(isLarge(n));
    else gone += Number(isLarge(n));
  }
  const width = lastOf(yours.shape);
  const sum = (/** @type {Float64Array} */ list, /** @type {number} */ row) =>
    list.subarray(row * width, (row + 1) * width).reduce((total, x) => total + x, 0);
  const sumsToOne = (/** @type {number} */ row) => Math.abs(sum(yours.cells, row) - 1) <= sum(room, row);
  const isDrop = Array.from({ length: yours.cells.length / width }, (_, row) => row).some((row) => !sumsToOne(row));
  return kept >= FEWEST && gone && isDrop ? factor : null;
}

/**
 * Whether a slip agrees as equal weights would, too.
 *
 * @param {Table} yours
 * @param {Candidate} candidate
 * @param {number} slack
 */
export function isVague({ shape, cells }, candidate, slack) {
  const width = lastOf(shape);
  const size = width * shape[shape.length - 2];
  const isSeen = (/** @type {number} */ cell) => Number.isFinite(cell) && cell !== 0;
  /** @type {Map<number, [sum: number, count: number]>} */
  const lines = new Map();
  const lineOf = (/** @type {number} */ n) =>
    candidate.stage === "output" ? Math.floor(n / size) * width + (n % width) : Math.floor(n / width);
  cells.forEach((cell, n) => {
    const [sum, count] = lines.get(lineOf(n)) ?? [0, 0];
    if (isSeen(cell)) lines.set(lineOf(n), [sum + cell, count + 1]);
  });
  const flat = cells.map((cell, n) => {
    const [sum, count] = lines.get(lineOf(n)) ?? [0, 1];
    return isSeen(cell) ? sum / count : cell;
  });
  return candidate.room[1] > MOST_SHARE_OF_SLIP || !differing({ shape, cells: flat }, candidate, slack).includes(1);
}
