// What a payload holds: q, k, v, the mask, the tokens, and where q, k and v come from.

import { decode } from "./arrays.js";
import { keepRule } from "./masks.js";
import { Problem } from "./problem.js";

export const SIDES = { q: "query", k: "key", v: "value" };
export const MOST_KEPT = 2 ** 20; // the scores of longer maps are derived again

export class Data {
  constructor(payload) {
    if (payload?.version !== 1) throw new Problem("its version must be 1");
    for (const name in SIDES) this[name] = decode(payload[name], name, 4);
    [this.B, this.H, this.L, this.D] = this.q.shape;
    [this.S, this.Dv] = [this.k.shape[2], this.v.shape[3]];
    const { shape, heads } = this.v;
    const held = heads ? heads.length : this.H;
    const fits = `${this.k.shape}` === `${[this.B, this.H, this.S, this.D]}`;
    if (!fits || `${shape}` !== `${[this.B, held, this.S, this.Dv]}`) {
      throw new Problem("q, k and v must fit each other");
    }
    if (!Number.isFinite(payload.scale)) throw new Problem("its scale must be a number");
    this.scale = payload.scale;
    this.keepJson = payload.keep || null;
    this.dropout = payload.dropout || null;
    this.view = payload.view || {};
    this.places = this.view.places ?? 4;
    const labels = (side, count) => {
      const tokens = payload.tokens?.[side] || [...Array(count).keys()];
      if (tokens.length !== count) throw new Problem(`it must have ${count} tokens for its ${side}`);
      return tokens.map(String);
    };
    this.queries = labels("queries", this.L);
    this.keys = labels("keys", this.S);
    this.headNames = payload.heads?.map(String);
    if (this.headNames && this.headNames.length !== this.H) throw new Problem(`it must name ${this.H} heads`);
    this.overview = payload.overview || null;
    this.source = payload.source && this.readSource(payload.source);
    Object.assign(this, { rows: new Map(), set: new Set(), sizes: {} });
    if (this.keepJson) keepRule(this.keepJson, this.L, this.S);
  }

  readSource(source) {
    const found = {};
    const read = (name, axes) => (found[name] = decode(source[name], name, axes));
    read("x", 3);
    for (const side of Object.values(SIDES)) {
      read(`w_${side}`, 2);
      if (source[`b_${side}`]) read(`b_${side}`, 1);
    }
    return found;
  }

  columns(stage) {
    return stage === "output" ? this.Dv : this.S;
  }

  // Of a large record only one head's values may have been sent.
  hasValues(head) {
    return this.v.heads?.includes(head) ?? true;
  }

  start(name, b, h, i) {
    const { shape, heads } = this[name];
    return ((b * shape[1] + (heads ? heads.indexOf(h) : h)) * shape[2] + i) * shape[3];
  }

  number(name, b, h, i, d) {
    return this[name].numbers[this.start(name, b, h, i) + d];
  }

  // The row of a position in q, k or v.
  vector(name, b, h, i) {
    const start = this.start(name, b, h, i);
    return this[name].numbers.subarray(start, start + this[name].shape[3]);
  }

  // The size of the largest number of q, k or v.
  largest(name) {
    this.sizes[name] ??= this[name].numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    return this.sizes[name];
  }

  scores(b, h, i) {
    const head = b * this.H + h;
    const rows = this.rows.get(head) || [];
    if (rows[i]) return rows[i];
    const row = this.derived(b, h, i);
    if (this.L * this.S <= MOST_KEPT) {
      rows[i] = row;
      this.rows.set(head, rows);
      if (this.rows.size > 4) this.rows.delete(this.rows.keys().next().value);
    }
    return row;
  }

  derived(b, h, i) {
    const [D, query, keys] = [this.D, this.vector("q", b, h, i), this.k.numbers];
    const row = new Float64Array(this.S);
    for (let j = 0, at = this.start("k", b, h, 0); j < row.length; j++, at += D) {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += query[d] * keys[at + d];
      row[j] = sum;
    }
    return row;
  }

  isSet(name, place) {
    return this.set.has(`${name}${place}`);
  }

  // What a number of q, k or v is made of: a row of x, a column of its matrix, its bias.
  origin(side, b, t, column) {
    const { x, [`w_${SIDES[side]}`]: matrix, [`b_${SIDES[side]}`]: biases } = this.source;
    const [, T, E] = x.shape;
    const w = new Float64Array(E);
    for (let e = 0; e < E; e++) w[e] = matrix.numbers[e * matrix.shape[1] + column];
    const start = (b * T + t) * E;
    return { x: x.numbers.subarray(start, start + E), w, hasBias: !!biases, bias: biases ? biases.numbers[column] : 0 };
  }
}
