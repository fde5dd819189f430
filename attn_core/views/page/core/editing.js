// The same data with some numbers or tokens set by hand.

import { say } from "../words/words.js";
import { dot, stored } from "./arrays.js";
import { Data, heldAt, SIDES } from "./data.js";
import { Problem } from "./problem.js";

/**
 * An input's name ("x", "w_query", "q", "queries" …), a place in its array, and what it is set to.
 *
 * @typedef {[name: string, place: number[], value: any]} Edit
 * @typedef {import("./data.js").Side} Side
 */

/** @type {(data: Data, name: string) => import("./data.js").NumberArray | undefined} */
const arrayIn = (data, name) => (name in SIDES ? data[/** @type {Side} */ (name)] : data.source?.[name]);

// What depends on a changed number of the source is projected again; of the scores only those of
// changed rows are new.
export class EditedData extends Data {
  /**
   * Each edit is [name, place, value].
   *
   * @param {Data} base
   * @param {Edit[]} edits
   * @returns {EditedData}
   */
  static of(base, edits) {
    const made = Object.create(EditedData.prototype);
    Object.assign(made, base, {
      base,
      rows: new Map(),
      set: new Set(),
      sizes: {},
      touched: new Set(),
      source: base.source && { ...base.source },
    });
    /** @type {(edit: Edit) => number} */
    const isSide = ([name]) => (name in SIDES ? 1 : 0);
    for (const [name, place, value] of [...edits].sort((a, b) => isSide(a) - isSide(b))) {
      if (name === "queries" || name === "keys") made.name(name, place, value);
      else made.put(name, place, value);
      made.set.add(`${name}${place}`);
    }
    return made;
  }

  /** @type {Set<string | number>} rows of q, and where rows of k begin */
  touched = new Set();

  /** @returns {Data} */
  get before() {
    return this.base ?? this;
  }

  /**
   * @param {number} b
   * @param {number} h
   * @param {number} i
   */
  derived(b, h, i) {
    if (this.touched.has(`q${[b, h, i]}`)) return super.derived(b, h, i);
    const row = this.before.scores(b, h, i).slice();
    for (let j = 0, at = this.start("k", b, h, 0); j < row.length; j++, at += this.D) {
      if (this.touched.has(at)) row[j] = dot(this.vector("q", b, h, i), this.vector("k", b, h, j));
    }
    return row;
  }

  /**
   * @param {string} side "queries" or "keys"
   * @param {number[]} place
   * @param {any} text
   */
  name(side, [position], text) {
    const tokens = side === "keys" ? this.keys : this.queries;
    if (!(position in tokens)) throw new Problem(`${side} has no token ${position}`);
    Object.assign(this, { [side]: tokens.with(position, String(text)) });
  }

  /**
   * @param {string} name
   * @param {number[]} place
   * @param {any} value
   */
  put(name, place, value) {
    const array = arrayIn(this, name);
    const isInside = (/** @type {number} */ n, /** @type {number} */ axis) =>
      Number.isInteger(n) && n >= 0 && n < (array?.shape[axis] ?? 0);
    if (!array || place.length !== array.shape.length || !place.every(isInside))
      throw new Problem(`there is no number ${name}[${place.join(", ")}]`);
    if (typeof value !== "number" || !Number.isFinite(stored(value, array.dtype))) {
      throw new Problem(`${name}[${place.join(", ")}] must be a number that fits ${array.dtype}, got ${value}`);
    }
    if (array === arrayIn(this.before, name)) {
      const owner = name in SIDES ? this : this.source;
      Object.assign(owner ?? {}, { [name]: { ...array, halves: undefined, numbers: array.numbers.slice() } });
    }
    const at = place.reduce((sum, n, axis) => sum * array.shape[axis] + n, 0);
    const { numbers } = arrayIn(this, name) ?? array;
    numbers[at] = stored(value, array.dtype);
    if (name === "q") this.touched.add(`q${place.slice(0, 3)}`);
    if (name === "k") this.touched.add(at - place[3]);
    if (name in SIDES || !this.source) return;
    const [B, T] = this.source.x.shape;
    for (const side of /** @type {Side[]} */ (Object.keys(SIDES))) {
      const full = SIDES[side];
      const columns = this.source[`w_${full}`].shape[1];
      if (name === "x") {
        for (let c = 0; c < columns; c++) this.project(side, place[0], place[1], c);
      } else if (name.endsWith(full)) {
        const column = place[place.length - 1];
        // A rotated number is made of both columns of its pair.
        const changed = this.rotary && side !== "v" ? [column, this.rotary.pairOf(column).other] : [column];
        for (let b = 0; b < B; b++) for (let t = 0; t < T; t++) for (const c of changed) this.project(side, b, t, c);
      }
    }
  }

  /**
   * @param {Side} side
   * @param {number} b
   * @param {number} t
   * @param {number} column
   */
  project(side, b, t, column) {
    const width = this[side].shape[3];
    const head = heldAt(this[side], Math.floor(column / width));
    if (head < 0) return;
    const value = this.projection(side, b, t, column);
    const { dtype } = this[side];
    if (!Number.isFinite(stored(value, dtype))) throw new Problem(say("tooLarge", { side, dtype }));
    this.put(side, [b, head, t, column % width], value);
  }
}
