// What is added to scaled scores: a table, slopes by the distance, numbers by the relative place, or their sum.

import { decode } from "./arrays.js";
import { Problem } from "./problem.js";

/**
 * @typedef {import("./arrays.js").SentArray} SentArray
 * @typedef {import("./arrays.js").NumberArray} NumberArray
 * @typedef {{ table?: SentArray, slopes?: SentArray, relative?: SentArray }} SentBias
 */

export class Bias {
  /**
   * @param {SentBias} sent
   * @param {number[]} shape of the map: sequences, heads, queries, keys
   */
  constructor(sent, shape) {
    const [, H, L, S] = shape;
    this.first = S - L; // the position of query 0
    /** @type {(name: "table" | "slopes" | "relative", axes: number, fits: (sizes: number[]) => boolean, must: string) => NumberArray | null} */
    const read = (name, axes, fits, must) => {
      const array = sent[name];
      if (!array) return null;
      const decoded = decode(array, `bias.${name}`, axes);
      if (fits(decoded.shape)) return decoded;
      throw new Problem(`bias.${name} must have ${must}, got ${decoded.shape.join("×")}`);
    };
    const isPart = (/** @type {number[]} */ sizes) => sizes.every((size, axis) => size === 1 || size === shape[axis]);
    this.table = read("table", 4, isPart, `sizes of 1 or of ${shape.join("×")}`);
    this.slopes = read("slopes", 1, ([n]) => n === H, `a slope for each of the ${H} heads`);
    const isCentred = (/** @type {number[]} */ [h, n]) => h === H && n % 2 === 1;
    this.relative = read("relative", 2, isCentred, `an odd row for each of the ${H} heads`);
    this.parts = [this.table, this.slopes, this.relative].filter((part) => part !== null);
    if (!this.parts.length) throw new Problem("bias must have a table, slopes or relative numbers");
  }

  /** The size of the largest sum of its parts, or more. */
  get largest() {
    return this.parts.reduce(
      (sum, { numbers }) => sum + numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0),
      0,
    );
  }

  /**
   * How far query i is from key j; the last query sees the last key.
   *
   * @param {number} i
   * @param {number} j
   */
  distance(i, j) {
    return Math.abs(i + this.first - j);
  }

  /**
   * What is added to one cell.
   *
   * @param {number} b
   * @param {number} h
   * @param {number} i
   * @param {number} j
   */
  number(b, h, i, j) {
    const { table, slopes, relative } = this;
    let sum = 0;
    if (table) {
      const at = table.shape.reduce((start, size, axis) => start * size + (size > 1 ? [b, h, i, j][axis] : 0), 0);
      sum += table.numbers[at];
    }
    if (slopes) sum -= slopes.numbers[h] * this.distance(i, j);
    if (relative) {
      const [, width] = relative.shape;
      const reach = (width - 1) / 2;
      const place = Math.max(-reach, Math.min(reach, j - i - this.first));
      sum += relative.numbers[h * width + place + reach];
    }
    return sum;
  }
}
