// The stages of one head under some settings, row by row, derived when they are asked for.

import { say } from "../words/words.js";
import { FORMULAS } from "./formulas.js";
import { keepRule, maskJson } from "./masks.js";
import { parts } from "./parts.js";
import { Problem } from "./problem.js";

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
   * @param {import("./difference.js").Runs | null} runs of which it is one, or the difference
   */
  constructor(
    data,
    { batch, head, scale, mask, dropout = data.dropout, drawn = [] },
    formulas = FORMULAS,
    runs = null,
  ) {
    this.data = data;
    this.batch = batch;
    this.head = head;
    this.scale = scale;
    this.dropout = dropout;
    this.drawn = drawn;
    this.formulas = { ...FORMULAS, ...data.formulas, ...(formulas === FORMULAS ? {} : formulas) };
    this.runs = runs;
    /** Another head under the same settings. @type {(head: number) => Attention} */
    this.ofHead = (other) =>
      other === head ? this : new Attention(data, { batch, head: other, scale, mask, dropout, drawn }, formulas, runs);
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
    const { bias } = data;
    const dtype = "float64";
    if (![data.q, ...(bias?.parts ?? [])].some((array) => array.dtype === dtype)) return;
    const [q, k, v] = [data.largest("q"), data.largest("k"), data.largest("v")];
    const score = data.D * q * k * Math.max(1, Math.abs(scale)) + (bias ? bias.largest * (data.L + data.S) : 0);
    if (Number.isFinite(Math.max(score, v / (1 - (dropout?.p ?? 0))))) return;
    for (let i = 0; i < data.L; i++) {
      const numbers = [...this.row("scores", i), ...this.row("scaled", i)];
      if (data.hasValues(this.head)) numbers.push(...this.row("output", i));
      if (!numbers.every(Number.isFinite)) {
        throw new Problem(say(bias ? "overflowBias" : "overflow", { most: "1.8e308", dtype }));
      }
    }
  }

  forget() {
    this.held = 0;
    this.rows = Object.fromEntries(
      [...Object.keys(this.formulas), "keeps", "survives", "statistics"].map((name) => [name, []]),
    );
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
   * A sink is one more summand of a row, and no key. Of a row that keeps nothing the weights are 0; without a sink
   * its max is 0 and its sum 1.
   *
   * @param {number} i
   * @returns {Statistics}
   */
  statistics(i) {
    return this.hold("statistics", i, () => {
      const exps = this.row("masked", i).slice();
      const isDead = !exps.some((cell) => cell > -Infinity);
      const { sink } = this;
      let max = sink ?? (isDead ? 0 : -Infinity);
      let sum = isDead && sink === null ? 1 : 0;
      for (let j = 0; j < exps.length; j++) if (exps[j] > max) max = exps[j];
      for (let j = 0; j < exps.length; j++) sum += exps[j] = Math.exp(exps[j] - max);
      if (sink !== null) sum += Math.exp(sink - max);
      return { max, sum, exps, isDead };
    });
  }

  /** Whether its cells are those of one run minus those of another. */
  get isDifference() {
    return !!this.runs && this.formulas.scores !== FORMULAS.scores;
  }

  /** The sink of the head, null if it has none. */
  get sink() {
    return this.data.sinks ? this.data.sinks.numbers[this.head] : null;
  }

  /** @param {number} d a column of v */
  values(d) {
    const { columns, data, batch, head } = this;
    if (!columns[d]) {
      columns[d] = new Float64Array(data.S);
      const [numbers, width] = [data.part("v", batch, head), data.Dv];
      for (let j = 0; j < data.S; j++) columns[d][j] = numbers[j * width + d];
    }
    return columns[d];
  }
}
