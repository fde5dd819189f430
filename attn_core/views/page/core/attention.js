// The stages of one head under some settings, row by row, derived when they are asked for.

import { say } from "../words/words.js";
import { keepRule, maskJson } from "./masks.js";
import { parts } from "./parts.js";
import { Problem } from "./problem.js";
import { FORMULAS, STAGES } from "./stages.js";

const MOST_HELD = 2 ** 23; // cells of rows: with more, all are derived again

export class Attention {
  // settings: batch, head, scale, mask, dropout (undefined: as given, null: none), drawn ([row,
  // column] of cells toggled over the mask); `formulas` may override some of the six.
  constructor(data, { batch, head, scale, mask, dropout = data.dropout, drawn = [] }, formulas = FORMULAS) {
    Object.assign(this, { data, batch, head, scale, formulas: { ...FORMULAS, ...formulas }, dropout, drawn });
    this.masks = mask
      .split("+")
      .map((part) => (part === "given" ? data.keepJson : maskJson(part)))
      .filter(Boolean);
    this.rules = this.masks.map((json) => keepRule(json, data.L, data.S));
    this.isGiven = scale === data.scale && mask === "given" && !drawn.length && formulas === FORMULAS && !data.base;
    this.columns = [];
    this.forget();
  }

  // Raises a sentence if a score or an output passes the largest number. Of numbers held in float32 none
  // can; of others the largest tell, or else every row.
  check() {
    const { data, scale, dropout } = this;
    const { dtype } = data.q;
    if (dtype !== "float64") return;
    const [q, k, v] = ["q", "k", "v"].map((name) => data.largest(name));
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

  hold(name, i, make) {
    if (this.rows[name][i]) return this.rows[name][i];
    const made = make();
    this.held += this.data.S;
    if (this.held > MOST_HELD) this.forget();
    this.rows[name][i] = made;
    return made;
  }

  row(stage, i) {
    return this.rows[stage][i] || this.hold(stage, i, () => this.formulas[stage](this, i));
  }

  cell(stage, i, j) {
    return this.row(stage, i)[j];
  }

  keeps(i) {
    return this.hold("keeps", i, () => {
      const row = new Uint8Array(this.data.S).fill(1);
      for (const rule of this.rules) rule(row, this.batch, this.head, i);
      for (const [r, j] of this.drawn) if (r === i) row[j] ^= 1;
      return row;
    });
  }

  survives(i) {
    if (!this.dropout) return null;
    return this.hold("survives", i, () => parts.philox(this.dropout, this.batch, this.head, i, this.data.S));
  }

  // Of a row that keeps nothing: max 0, sum 1, and weights 0.
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

  values(d) {
    const { data, batch, head } = this;
    this.columns[d] ??= Float64Array.from({ length: data.S }, (_, j) => data.number("v", batch, head, j, d));
    return this.columns[d];
  }
}
