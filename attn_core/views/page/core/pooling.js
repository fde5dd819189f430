// Many cells as one: what a map shows of a matrix that is larger than itself.

import { bytesOf } from "./arrays.js";
import { Problem } from "./problem.js";

/**
 * The one that is farther from 0, which of a difference is the larger. A cell that is hidden is none.
 *
 * @param {number} a
 * @param {number} b
 */
export const farther = (a, b) => (a === -Infinity || (b !== -Infinity && Math.abs(b) > Math.abs(a)) ? b : a);

/**
 * Rows of cells pooled into rows × columns: the largest, or the mean of those that are kept.
 *
 * @param {ArrayLike<number>[]} cells
 * @param {number} rows
 * @param {number} columns
 * @param {string} how "max", "mean", or "farthest" from 0
 */
export function pooled(cells, rows, columns, how) {
  const [height, width] = [cells.length, cells[0].length];
  const [blocks, counts] = [new Float64Array(rows * columns), new Float64Array(rows * columns)];
  if (how !== "mean") blocks.fill(-Infinity);
  for (let i = 0; i < height; i++) {
    const start = Math.floor((i * rows) / height) * columns;
    for (let j = 0; j < width; j++) {
      const [x, at] = [cells[i][j], start + Math.floor((j * columns) / width)];
      if (x === -Infinity) continue;
      counts[at]++;
      if (how === "mean") blocks[at] += x;
      else if (how === "farthest") blocks[at] = farther(blocks[at], x);
      else if (x > blocks[at]) blocks[at] = x;
    }
  }
  for (let n = 0; n < blocks.length; n++) {
    if (!counts[n]) blocks[n] = -Infinity;
    else if (how === "mean") blocks[n] /= counts[n];
  }
  return blocks;
}

/**
 * How cells of an attention are pooled where a reader asks for the mean or the largest.
 *
 * @param {import("./attention.js").Attention} attention
 * @param {string} stage
 * @param {string} how
 */
export const howOf = ({ isDifference, data }, stage, how) =>
  (isDifference || stage in data.further) && how === "max" ? "farthest" : how;

/**
 * Cells joined two by two, along rows and columns.
 *
 * @param {Float64Array} cells
 * @param {number} columns
 * @param {(a: number, b: number) => number} join
 * @param {number} nothing what a block begins with
 */
export function halved(cells, columns, join, nothing) {
  const [height, width] = [Math.ceil(cells.length / columns / 2), Math.ceil(columns / 2)];
  const made = new Float64Array(height * width).fill(nothing);
  for (let n = 0, i = 0, j = 0; n < cells.length; n++) {
    const at = (i >> 1) * width + (j >> 1);
    made[at] = join(made[at], cells[n]);
    if (++j === columns) [i, j] = [i + 1, 0];
  }
  return made;
}

/**
 * The pooled weights that came with the data, while nothing is changed that they follow from.
 *
 * @param {import("./attention.js").Attention} attention
 * @param {string} stage
 * @param {string} how
 */
export function overviewOf({ data, batch, head, isGiven }, stage, how) {
  if (!isGiven || stage !== "weights" || !data.overview) return null;
  const sent = data.overview[how] || {};
  const { shape = [], scale = [] } = sent;
  const [B, H, rows, columns] = shape;
  sent.bytes ??= bytesOf(sent.data || "");
  const { bytes } = sent;
  const fits =
    B === data.B && H === data.H && scale.length === B * H && rows > 0 && bytes.length === B * H * rows * columns;
  if (!fits) throw new Problem("its overview must fit q and k");
  const [at, unit] = [(batch * H + head) * rows * columns, scale[batch * H + head] / 255];
  return { numbers: Float64Array.from(bytes.subarray(at, at + rows * columns), (byte) => byte * unit), columns };
}
