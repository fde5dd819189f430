// The same data with some numbers or tokens set by hand.

import { say } from "../words/words.js";
import { dot, stored } from "./arrays.js";
import { Data, SIDES } from "./data.js";
import { Problem } from "./problem.js";

// Of a large record only some heads' values may have been sent: where those of a head stand.
export const heldAt = ({ heads }, h) => (heads ? heads.indexOf(h) : h);

// What depends on a changed number of the source is projected again; of the scores only those of
// changed rows are new.
export class EditedData extends Data {
  // Each edit is [name, place, value].
  static of(base, edits) {
    const made = Object.assign(Object.create(EditedData.prototype), base, {
      base,
      rows: new Map(),
      set: new Set(),
      sizes: {},
      touched: new Set(),
      source: base.source && { ...base.source },
    });
    const isSide = ([name]) => (SIDES[name] ? 1 : 0);
    for (const [name, place, value] of [...edits].sort((a, b) => isSide(a) - isSide(b))) {
      if (name === "queries" || name === "keys") made.name(name, place, value);
      else made.put(name, place, value);
      made.set.add(`${name}${place}`);
    }
    return made;
  }

  derived(b, h, i) {
    if (this.touched.has(`q${[b, h, i]}`)) return super.derived(b, h, i);
    const row = this.base.scores(b, h, i).slice();
    for (let j = 0, at = this.start("k", b, h, 0); j < row.length; j++, at += this.D) {
      if (this.touched.has(at)) row[j] = dot(this.vector("q", b, h, i), this.vector("k", b, h, j));
    }
    return row;
  }

  array(name) {
    return SIDES[name] ? this[name] : this.source?.[name];
  }

  name(side, [position], text) {
    if (!(position in this[side])) throw new Problem(`${side} has no token ${position}`);
    this[side] = this[side].with(position, String(text));
  }

  put(name, place, value) {
    const array = this.array(name);
    const fits =
      array &&
      place.length === array.shape.length &&
      place.every((n, axis) => Number.isInteger(n) && n >= 0 && n < array.shape[axis]);
    if (!fits) throw new Problem(`there is no number ${name}[${place.join(", ")}]`);
    if (typeof value !== "number" || !Number.isFinite(stored(value, array.dtype))) {
      throw new Problem(`${name}[${place.join(", ")}] must be a number that fits ${array.dtype}, got ${value}`);
    }
    const before = SIDES[name] ? this.base[name] : this.base.source[name];
    if (array === before) (SIDES[name] ? this : this.source)[name] = { ...array, numbers: array.numbers.slice() };
    const at = place.reduce((sum, n, axis) => sum * array.shape[axis] + n, 0);
    this.array(name).numbers[at] = stored(value, array.dtype);
    if (name === "q") this.touched.add(`q${place.slice(0, 3)}`);
    if (name === "k") this.touched.add(at - place[3]);
    if (SIDES[name]) return;
    const [B, T] = this.source.x.shape;
    for (const [side, full] of Object.entries(SIDES)) {
      const columns = this.source[`w_${full}`].shape[1];
      if (name === "x") {
        for (let c = 0; c < columns; c++) this.project(side, place[0], place[1], c);
      } else if (name.endsWith(full)) {
        for (let b = 0; b < B; b++) for (let t = 0; t < T; t++) this.project(side, b, t, place.at(-1));
      }
    }
  }

  project(side, b, t, column) {
    const width = this[side].shape[3];
    const head = heldAt(this[side], Math.floor(column / width));
    if (head < 0) return;
    const { x, w, bias } = this.origin(side, b, t, column);
    const value = dot(x, w) + bias;
    const { dtype } = this[side];
    if (!Number.isFinite(stored(value, dtype))) throw new Problem(say("tooLarge", { side, dtype }));
    this.put(side, [b, head, t, column % width], value);
  }
}
