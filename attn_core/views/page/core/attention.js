// The stages of one head under some settings, row by row, derived when they are asked for.

import { say } from "../words/words.js";
import { FORMULAS } from "./formulas.js";
import { keepRule, maskJson } from "./masks.js";
import { parts } from "./parts.js";
import { Problem } from "./problem.js";
import { STAGES } from "./stages.js";

const MOST_HELD = 2 ** 23; // cells of rows: with more, all are derived again

/**
 * What is new here belongs in `isGiven`, and in `check` where it can make a score overflow.
 *
 * @typedef {object} Settings
 * @property {number} batch
 * @property {number} head
 * @property {number} scale
 * @property {string} mask
 * @property {import("./data.js").Dropout | null} [dropout] undefined: as given, null: none
 * @property {number[][]} [drawn] [row, column] of cells toggled over the mask
 *
 * @typedef {{ exps: Float64Array, max: number, sum: number, isDead: boolean }} Statistics
 */

export class Attention {
  /**
   * @param {import("./data.js").Data} data
   * @param {Settings} settings
   * @param {Record<string, import("./formulas.js").Formula>} formulas some of the six may be others
   */
  constructor(data, { batch, head, scale, mask, dropout = data.dropout, drawn = [] }, formulas = FORMULAS) {
    this.data = data;
    this.batch = batch;
    this.head = head;
    this.scale = scale;
    this.dropout = dropout;
    this.drawn = drawn;
    this.formulas = { ...FORMULAS, ...formulas };
    const masks = mask.split("+").map((part) => (part === "given" ? data.keepJson : maskJson(part)));
    this.masks = masks.filter((json) => json !== null);
    this.hasMask = this.masks.length > 0 || drawn.length > 0;
    this.rules = this.masks.map((json) => keepRule(json, data.L, data.S));
    this.isGiven = scale === data.scale && mask === "given" && !drawn.length && formulas === FORMULAS && !data.base;
    /** @type {Float64Array[]} */
    this.columns = [];
    this.held = 0; // cells in all rows
    /** @type {Record<string, any[]>} */
    this.rows = {};
    this.forget();
  }

  // Raises a sentence if a score or an output passes the largest number. Of numbers held in float32 none
  // can; of others the largest tell, or else every row.
  check() {
    const { data, scale, dropout } = this;
    const { dtype } = data.q;
    if (dtype !== "float64") return;
    const [q, k, v] = [data.largest("q"), data.largest("k"), data.largest("v")];
    const most = Math.max(data.D * q * k * Math.max(1, Math.abs(scale)), v / (1 - (dropout?.p ?? 0)));
    if (Number.isFinite(most)) return;
    for (let i = 0; i < data.L; i++) {
      const numbers = [...this.row("scores", i), ...this.row("scaled", i)];
      if (data.hasValues(this.head)) numbers.push(...this.row("output", i));
      if (!numbers.every(Number.isFinite)) throw new Problem(say("overflow", { most: "1.8e308", dtype }));
    }
  }

  forget() {
    this.held = 0;
    this.rows = Object.fromEntries([...STAGES, "keeps", "survives", "statistics"].map((name) => [name, []]));
  }

  /**
   * What is made once for a row, and kept while there is room.
   *
   * @template T
   * @param {string} name
   * @param {number} i
   * @param {() => T} make
   * @returns {T}
   */
  hold(name, i, make) {
    if (this.rows[name][i]) return this.rows[name][i];
    const made = make();
    this.held += this.data.S;
    if (this.held > MOST_HELD) this.forget();
    this.rows[name][i] = made;
    return made;
  }

  /**
   * @param {string} stage
   * @param {number} i
   * @returns {Float64Array}
   */
  row(stage, i) {
    return this.rows[stage][i] || this.hold(stage, i, () => this.formulas[stage](this, i));
  }

  /**
   * @param {string} stage
   * @param {number} i
   * @param {number} j
   */
  cell(stage, i, j) {
    return this.row(stage, i)[j];
  }

  /**
   * A 1 for each key that the masks keep.
   *
   * @param {number} i
   */
  keeps(i) {
    return this.hold("keeps", i, () => {
      const row = new Uint8Array(this.data.S).fill(1);
      for (const rule of this.rules) rule(row, this.batch, this.head, i);
      for (const [r, j] of this.drawn) if (r === i) row[j] ^= 1;
      return row;
    });
  }

  /**
   * A 1 for each weight that survives dropout; null without dropout.
   *
   * @param {number} i
   * @returns {Uint8Array | null}
   */
  survives(i) {
    if (!this.dropout) return null;
    return this.hold("survives", i, () => parts.philox(this.dropout, this.batch, this.head, i, this.data.S));
  }

  /**
   * Of a row that keeps nothing: max 0, sum 1, and weights 0.
   *
   * @param {number} i
   * @returns {Statistics}
   */
  statistics(i) {
    return this.hold("statistics", i, () => {
      const exps = this.row("masked", i).slice();
      const isDead = !exps.some((cell) => cell > -Infinity);
      let [max, sum] = [isDead ? 0 : -Infinity, isDead ? 1 : 0];
      for (let j = 0; j < exps.length; j++) if (exps[j] > max) max = exps[j];
      for (let j = 0; j < exps.length; j++) sum += exps[j] = Math.exp(exps[j] - max);
      return { max, sum, exps, isDead };
    });
  }

  /** @param {number} d a column of v */
  values(d) {
    const { columns, data, batch, head } = this;
    if (!columns[d]) {
      columns[d] = new Float64Array(data.S);
      for (let j = 0; j < data.S; j++) columns[d][j] = data.number("v", batch, head, j, d);
    }
    return columns[d];
  }
}
