// What a payload holds: q, k, v, the mask, the tokens, and where q, k and v come from.

import { decode, decoded, dot } from "./arrays.js";
import { Bias } from "./bias.js";
import { keepRule } from "./masks.js";
import { Problem } from "./problem.js";
import { Rotary } from "./rotary.js";
import { axesOf, STAGES } from "./stages.js";

/**
 * @typedef {{ p: number, seed: number }} Dropout
 * @typedef {import("./arrays.js").NumberArray} NumberArray
 * @typedef {"q" | "k" | "v"} Side
 * @typedef {Record<string, NumberArray>} Source x, and the matrices and biases of q, k and v
 * @typedef {"L" | "S" | "D" | "Dv"} Axis
 * @typedef {[rows: Axis, columns: Axis, colour: Side]} Axes what lies along a stage, and the colour of its columns
 *
 * @typedef {object} View what an explorer shows at first
 * @property {string} [stage]
 * @property {number} [batch]
 * @property {number} [head]
 * @property {number[] | null} [select]
 * @property {string[]} [hide] names of controls
 * @property {string[]} [show] controls that are shown only where they are asked for
 * @property {string[]} [stages]
 * @property {number} [places] decimals
 */

/** @type {Record<Side, string>} */
export const SIDES = { q: "query", k: "key", v: "value" };
export const MOST_KEPT = 2 ** 20; // the scores of longer maps are derived again
const MOST_PARTS = 8; // heads whose decoded numbers are kept

/**
 * Of a large record only some heads' values may have been sent: the place of a head in the array.
 *
 * @type {(array: NumberArray, h: number) => number}
 */
export const heldAt = ({ heads }, h) => (heads ? heads.indexOf(h) : h);

export class Data {
  /** @param {any} payload what Python wrote, see views/payload.py */
  constructor(payload) {
    if (payload?.version !== 1) throw new Problem("its version must be 1");
    this.q = decode(payload.q, "q", 4);
    this.k = decode(payload.k, "k", 4);
    this.v = decode(payload.v, "v", 4);
    const [B, H, L, D] = this.q.shape;
    this.B = B;
    this.H = H;
    this.L = L;
    this.D = D;
    this.S = this.k.shape[2];
    this.Dv = this.v.shape[3];
    this.keyHeads = this.k.shape[1]; // each serves as many heads of queries
    const { shape, heads } = this.v;
    const fits = `${this.k.shape}` === `${[B, this.keyHeads, this.S, D]}` && H % this.keyHeads === 0;
    if (!fits || `${shape}` !== `${[B, heads?.length ?? this.keyHeads, this.S, this.Dv]}`) {
      throw new Problem("q, k and v must fit each other");
    }
    if (!Number.isFinite(payload.scale)) throw new Problem("its scale must be a number");
    /** @type {number} */
    this.scale = payload.scale;
    this.bias = payload.bias ? new Bias(payload.bias, [B, H, L, this.S]) : null;
    /** @type {number | null} */
    this.softcap = payload.softcap ?? null;
    if (this.softcap !== null && !(Number.isFinite(this.softcap) && this.softcap > 0)) {
      throw new Problem("its softcap must be a number above 0");
    }
    this.sinks = payload.sinks ? decode(payload.sinks, "sinks", 1) : null;
    if (this.sinks && this.sinks.shape[0] !== H) throw new Problem(`it must have a sink for each of the ${H} heads`);
    /** @type {import("./masks.js").Keep | null} */
    this.keepJson = payload.keep || null;
    /** @type {Dropout | null} */
    this.dropout = payload.dropout || null;
    /** @type {View} */
    this.view = payload.view || {};
    this.places = this.view.places ?? 4;
    /** @type {(side: string, count: number) => string[][]} for each sequence, or one list for all */
    const labels = (side, count) => {
      const tokens = payload.tokens?.[side] || [...Array(count).keys()];
      const lists = Array.isArray(tokens[0]) ? tokens : [tokens];
      if (![1, B].includes(lists.length) || lists.some((/** @type {any[]} */ list) => list.length !== count)) {
        throw new Problem(`it must have ${count} tokens for its ${side}`);
      }
      return lists.map((/** @type {any[]} */ list) => list.map(String));
    };
    /** What the queries and the keys are called. */
    this.names = { queries: labels("queries", this.L), keys: labels("keys", this.S) };
    /** @type {Data[]} */
    this.ofSequences = [];
    this.queries = this.names.queries[0];
    this.keys = this.names.keys[0];
    /** @type {string[] | undefined} */
    this.headNames = payload.heads?.map(String);
    if (this.headNames && this.headNames.length !== this.H) throw new Problem(`it must name ${this.H} heads`);
    this.overview = payload.overview || null;
    /** What rotates queries and keys of a source. @type {Rotary | null} */
    this.rotary = null;
    /** By sentence, the place of each row; one list serves all. @type {number[][] | null} */
    this.positions = null;
    /** @type {NumberArray | null} */
    this.given = null; // weights that came alone
    /** @type {Record<string, import("./formulas.js").Formula>} */
    this.formulas = {}; // those that these data have instead of the six, or beside them
    /** Stages beside the six. @type {Record<string, Axes>} */
    this.further = {};
    /** What writes their arithmetic out. @type {any} a class like Workings */
    this.Lines = null;
    /** @type {NumberArray | null} */
    this.gradOutput = null;
    this.source = payload.source ? this.readSource(payload.source) : null;
    /** @type {Data | null} */
    this.base = null; // of changed data: those that they were
    /** @type {any} */
    this.tiles = null; // in a live notebook: what asks Python for parts of a long map
    /** @type {Map<number, Float64Array[]>} */
    this.rows = new Map();
    /** @type {Map<string, Float64Array>} */
    this.parts = new Map(); // the numbers of a head, where they are decoded when they are asked for
    /** @type {Set<string>} */
    this.set = new Set(); // names with places that were set by hand
    /** @type {Record<string, number>} */
    this.sizes = {};
    if (this.keepJson) keepRule(this.keepJson, this.L, this.S);
  }

  /**
   * The same with the tokens of a sequence, if each has its own.
   *
   * @param {number} batch
   * @returns {Data}
   */
  ofSequence(batch) {
    const { queries, keys } = this.names;
    if (queries.length === 1 && keys.length === 1) return this;
    const named = { queries: queries[batch] ?? queries[0], keys: keys[batch] ?? keys[0] };
    this.ofSequences[batch] ??= Object.assign(Object.create(Object.getPrototypeOf(this)), this, named);
    return this.ofSequences[batch];
  }

  /** @param {Record<string, any>} source */
  readSource(source) {
    if (source.rotary) {
      this.rotary = new Rotary({ ...source.rotary, head_dim: this.D });
      this.positions = source.rotary.positions ?? null;
      const fits = this.positions?.every((row) => row.length === this.L && row.every(Number.isFinite)) ?? true;
      if (!fits || ![undefined, 1, this.B].includes(this.positions?.length)) {
        throw new Problem("its source must have a position for each row");
      }
    }
    /** @type {Source} */
    const arrays = {};
    /** @type {(name: string, axes: number) => void} */
    const read = (name, axes) => {
      arrays[name] = decode(source[name], name, axes);
    };
    read("x", 3);
    for (const side of Object.values(SIDES)) {
      read(`w_${side}`, 2);
      if (source[`b_${side}`]) read(`b_${side}`, 1);
    }
    return arrays;
  }

  get stages() {
    return [...STAGES, ...Object.keys(this.further)];
  }

  /**
   * @param {string} stage
   * @returns {Axes}
   */
  axes(stage) {
    return this.further[stage] ?? axesOf(stage);
  }

  /** @param {string} stage */
  rowsIn(stage) {
    return this[this.axes(stage)[0]];
  }

  /** @param {string} stage */
  columns(stage) {
    return this[this.axes(stage)[1]];
  }

  /** @param {string} stage */
  rowNames(stage) {
    return this.axes(stage)[0] === "S" ? this.keys : this.queries;
  }

  /**
   * Those of keys, or the numbers of the columns of vectors.
   *
   * @param {string} stage
   */
  columnNames(stage) {
    return this.axes(stage)[1] === "S" ? this.keys : [...Array(this.columns(stage)).keys()].map(String);
  }

  /**
   * The query whose row a place lies in, null where rows are those of keys.
   *
   * @param {string} stage
   * @param {number[] | null | undefined} place
   */
  queryAt(stage, place) {
    return place && this.axes(stage)[0] === "L" ? place[0] : null;
  }

  /**
   * Whether each of its cells belongs to a query and a key.
   *
   * @param {string} stage
   */
  isOfPairs(stage) {
    return this.axes(stage).join() === "L,S,k";
  }

  /**
   * Of a large record only one head's values may have been sent.
   *
   * @param {number} head
   */
  hasValues(head) {
    return this.placeOf("v", head) >= 0;
  }

  /** The heads whose values were sent. */
  get headsWithValues() {
    return [...Array(this.H).keys()].filter((head) => this.hasValues(head));
  }

  /**
   * How many heads q, k or v have; several heads of queries may share one of keys and values.
   *
   * @param {Side} name
   */
  headsOf(name) {
    return name === "q" ? this.H : this.keyHeads;
  }

  /**
   * Which head of q, k or v serves a head of queries.
   *
   * @param {Side} name
   * @param {number} h
   */
  headOf(name, h) {
    return Math.floor((h * this.headsOf(name)) / this.H);
  }

  /**
   * Its place in the array, −1 if it was not sent.
   *
   * @param {Side} name
   * @param {number} h
   */
  placeOf(name, h) {
    return heldAt(this[name], this.headOf(name, h));
  }

  /**
   * Where a row begins.
   *
   * @param {Side} name
   * @param {number} b
   * @param {number} h
   * @param {number} i
   */
  start(name, b, h, i) {
    const { shape } = this[name];
    return ((b * shape[1] + this.placeOf(name, h)) * shape[2] + i) * shape[3];
  }

  /**
   * The numbers of a head. Of a large array they are decoded when they are asked for.
   *
   * @param {Side} name
   * @param {number} b
   * @param {number} h
   */
  part(name, b, h) {
    const { shape, halves } = this[name];
    const [at, size] = [b * shape[1] + this.placeOf(name, h), shape[2] * shape[3]];
    const [from, to] = [at * size, (at + 1) * size];
    if (!halves) return this[name].numbers.subarray(from, to);
    const key = `${name}${at}`;
    const numbers = this.parts.get(key) ?? decoded(halves.subarray(from, to));
    if (this.parts.size >= MOST_PARTS && !this.parts.has(key)) this.parts.delete([...this.parts.keys()][0]);
    this.parts.set(key, numbers);
    return numbers;
  }

  /**
   * @param {Side} name
   * @param {number} b
   * @param {number} h
   * @param {number} i
   * @param {number} d
   */
  number(name, b, h, i, d) {
    return this.part(name, b, h)[i * this[name].shape[3] + d];
  }

  /**
   * The row of a position in q, k or v.
   *
   * @param {Side} name
   * @param {number} b
   * @param {number} h
   * @param {number} i
   */
  vector(name, b, h, i) {
    const width = this[name].shape[3];
    return this.part(name, b, h).subarray(i * width, (i + 1) * width);
  }

  /**
   * The size of the largest number of q, k or v.
   *
   * @param {Side} name
   */
  largest(name) {
    this.sizes[name] ??= this[name].numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    return this.sizes[name];
  }

  /**
   * @param {number} b
   * @param {number} h
   * @param {number} i
   */
  scores(b, h, i) {
    const head = b * this.H + h;
    const rows = this.rows.get(head) || [];
    if (rows[i]) return rows[i];
    const row = this.derived(b, h, i);
    if (this.L * this.S <= MOST_KEPT) {
      rows[i] = row;
      this.rows.set(head, rows);
      if (this.rows.size > 4) this.rows.delete([...this.rows.keys()][0]);
    }
    return row;
  }

  /**
   * @param {number} b
   * @param {number} h
   * @param {number} i
   */
  derived(b, h, i) {
    const [D, query, keys] = [this.D, this.vector("q", b, h, i), this.part("k", b, h)];
    const row = new Float64Array(this.S);
    for (let j = 0, at = 0; j < row.length; j++, at += D) {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += query[d] * keys[at + d];
      row[j] = sum;
    }
    return row;
  }

  /**
   * @param {string} name
   * @param {number[]} place
   */
  isSet(name, place) {
    return this.set.has(`${name}${place}`);
  }

  /**
   * The place by which the numbers of a row are rotated.
   *
   * @param {number} b
   * @param {number} t
   */
  position(b, t) {
    return this.positions ? this.positions[this.positions.length > 1 ? b : 0][t] : t;
  }

  /**
   * x times a column of a matrix, plus its bias: a number before anything rotates it.
   *
   * @param {Side} side
   * @param {number} b
   * @param {number} t
   * @param {number} column
   */
  raw(side, b, t, column) {
    const { x, w, bias } = this.origin(side, b, t, column);
    return dot(x, w) + bias;
  }

  /**
   * A number of q, k or v as its source gives it.
   *
   * @param {Side} side
   * @param {number} b
   * @param {number} t
   * @param {number} column
   */
  projection(side, b, t, column) {
    const at = (/** @type {number} */ n) => this.raw(side, b, t, n);
    return this.rotary && side !== "v" ? this.rotary.rotated(at, column, this.position(b, t)) : at(column);
  }

  /**
   * What a number of q, k or v is made of, before it is rotated: a row of x, a column of its matrix, its bias.
   *
   * @param {Side} side
   * @param {number} b
   * @param {number} t
   * @param {number} column
   */
  origin(side, b, t, column) {
    const { x, [`w_${SIDES[side]}`]: matrix, [`b_${SIDES[side]}`]: biases } = this.source ?? {};
    const [, T, E] = x.shape;
    const w = new Float64Array(E);
    for (let e = 0; e < E; e++) w[e] = matrix.numbers[e * matrix.shape[1] + column];
    const start = (b * T + t) * E;
    return { x: x.numbers.subarray(start, start + E), w, hasBias: !!biases, bias: biases ? biases.numbers[column] : 0 };
  }
}
