// Tables as { shape, cells }: when two are the same, and what is done to compare them.

import { tell } from "../../words/box.js";
import { must, shown } from "./pasted.js";

/**
 * @typedef {import("./pasted.js").Table} Table
 *
 * A stage as it should be, or as a mistake makes it; cells may differ by a base and a share of their sizes.
 * @typedef {Table & { sizes: Float64Array, room: [base: number, share: number], empty?: Table | null }} Numbers
 * @typedef {Numbers & { stage: string, mistake: string, isSlip?: boolean }} Candidate
 */

export const BESIDE = "beside";

/**
 * The heads [*, H, L, Dv] of a merged output, for each way in which it may have been merged.
 *
 * @param {Table} table
 * @param {number[]} output its shape
 * @returns {Record<string, Table>}
 */
export function headsOf({ shape, cells }, output) {
  if (output.length < 3 || output.at(-3) === 1) return {};
  const [H, L, Dv] = output.slice(-3);
  const isShapeOf = (/** @type {number[]} */ ...size) =>
    String(bare({ shape: [...output.slice(0, -3), ...size], cells }).shape) === String(shape);
  const asHeads = (/** @type {Float64Array} */ heads) => ({ shape: output, cells: heads });
  if (isShapeOf(H * L, Dv)) return { "heads-along-tokens": asHeads(cells) };
  if (!isShapeOf(L, H * Dv)) return {};
  const beside = Float64Array.from(cells, (_, n) => {
    const [d, i, h, b] = [n % Dv, Math.floor(n / Dv) % L, Math.floor(n / (L * Dv)) % H, Math.floor(n / (H * L * Dv))];
    return cells[((b * L + i) * H + h) * Dv + d];
  });
  return { [BESIDE]: asHeads(beside), "heads-merged-by-view": asHeads(cells) };
}

/** @type {(list: number[]) => number} */
export const lastOf = (list) => list[list.length - 1];

/** @type {(a: { shape: number[] }, b: { shape: number[] }) => boolean} */
export const sameShape = (a, b) => String(a.shape) === String(b.shape);

/**
 * Without leading axes of size 1.
 *
 * @param {Table} table
 * @returns {Table}
 */
export function bare({ shape, cells }) {
  const first = shape.findIndex((size, axis) => size !== 1 || axis === shape.length - 2);
  return { shape: shape.slice(first), cells };
}

/**
 * Half of the last decimal, if all numbers have three to five; else 0.
 *
 * @param {Float64Array} cells
 */
export function slackOf(cells) {
  const finite = cells.filter(Number.isFinite);
  const has = (/** @type {number} */ places) =>
    finite.every((cell) => {
      const units = cell * 10 ** places;
      return Math.abs(units - Math.round(units)) <= Math.min(Math.abs(units) * Number.EPSILON, 0.05) + 1e-9;
    });
  const places = finite.length > 3 && !has(2) && [3, 4, 5].find(has);
  return places ? 0.5 * 10 ** -places : 0;
}

/**
 * @param {Table} yours
 * @param {Table[]} right
 */
export function fits(yours, right) {
  const shapes = [...new Set(right.map((candidate) => shown(candidate.shape)))];
  if (shapes.includes(shown(yours.shape)) || shapes.includes(shown(transposed(yours).shape))) return;
  throw must(tell("haveShape", { shapes: shapes.join(tell("or")) }), shown(yours.shape));
}

/**
 * A 1 for each cell that differs by more than slack, and a base and a share of its size.
 * `empty`: masked cells; where a row has none, nan is as good as 0.
 *
 * @param {Table} yours
 * @param {Numbers} wanted
 * @param {number} slack
 */
export function differing(yours, { shape, cells, sizes, room: [base, share], empty }, slack) {
  const width = lastOf(shape);
  const keys = empty ? lastOf(empty.shape) : 0;
  const isEmpty = (/** @type {number} */ row) =>
    empty?.cells.subarray(row * keys, (row + 1) * keys).every((cell) => cell === -Infinity);
  return Uint8Array.from(yours.cells, (cell, n) => {
    if (cell === cells[n] || Math.abs(cell - cells[n]) < slack + base + share * Math.abs(sizes[n])) return 0;
    return Number.isNaN(cell) && (Number.isNaN(cells[n]) || isEmpty(Math.floor(n / width))) ? 0 : 1;
  });
}

/**
 * @param {Uint8Array} differs
 * @param {number[]} shape
 */
export function rowsOf(differs, shape) {
  const width = lastOf(shape);
  return Array.from({ length: differs.length / width }, (_, row) =>
    differs.subarray(row * width, (row + 1) * width).includes(1),
  );
}

/**
 * @param {number} n
 * @param {number[]} shape
 */
export function placeOf(n, shape) {
  const place = [];
  for (const size of [...shape].reverse()) {
    place.unshift(n % size);
    n = Math.floor(n / size);
  }
  return place;
}

/**
 * @param {number} row
 * @param {number[]} shape
 */
export function rowName(row, shape) {
  const place = placeOf(row, shape.slice(0, -1));
  const n = lastOf(place);
  return place.length > 1 ? tell("rowOf", { n, lead: place.slice(0, -1).join(", ") }) : tell("row", { n });
}

/**
 * @param {Table} table
 * @returns {Table}
 */
export function transposed({ shape, cells }) {
  const [L, S] = shape.slice(-2);
  const turned = Float64Array.from(cells, (_, n) => {
    const [start, rest] = [Math.floor(n / (L * S)) * L * S, n % (L * S)];
    return cells[start + (rest % L) * S + Math.floor(rest / L)];
  });
  return { shape: [...shape.slice(0, -2), S, L], cells: turned };
}

/**
 * The one number that turns the stage into yours, if there is one that zeros don't fit too.
 *
 * @param {Table} yours
 * @param {Candidate} candidate
 * @param {number} slack
 */
export function factorOf(yours, candidate, slack) {
  let [both, own] = [0, 0];
  candidate.cells.forEach((cell, n) => {
    if (!Number.isFinite(cell) || !Number.isFinite(yours.cells[n])) return;
    both += yours.cells[n] * cell;
    own += cell * cell;
  });
  const factor = both / own;
  if (!own || factor <= 0) return null;
  const times = (/** @type {Float64Array} */ cells) => cells.map((cell) => cell * factor);
  const zeros = yours.cells.map((cell) => (Number.isFinite(cell) ? 0 : cell));
  const [base, share] = candidate.room;
  /** @type {Numbers} */
  const made = {
    ...candidate,
    cells: times(candidate.cells),
    sizes: times(candidate.sizes),
    room: [base * factor, share],
  };
  const differs = (/** @type {Float64Array} */ cells) => differing({ ...yours, cells }, made, 2 * slack).includes(1);
  return !differs(yours.cells) && differs(zeros) ? factor : null;
}
