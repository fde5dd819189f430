// The sizes of a language model, and where its weights and its numbers lie in the kernels' memory.

import { brief } from "../../words/words.js";
import { Problem } from "../problem.js";
import { BLOCK, bytesOfWeights, Q4_1, Q8_0 } from "./formats.js";

/**
 * As index.json of the shards has it.
 *
 * @typedef {object} Settings
 * @property {number} width of the residual stream
 * @property {number} heads of queries
 * @property {number} kv_heads of keys and values
 * @property {number} hidden neurons of a feed-forward
 * @property {number} layers
 * @property {number} vocabulary tokens
 * @property {number} eps of RMSNorm
 * @property {number} base of the rotation: pair i of a head rotates by base^(−2i / head width) radians a position
 * @property {number[]} rates radians by which each pair of a head rotates from a position to the next; its numbers are
 *   neighbours
 */

const NUMBER = 4; // bytes of a float32
const ALIGNED = 16;

/** @type {[keyof Settings, string, (value: any, settings: any) => boolean][]} */
const RULES = [
  ["width", "a multiple of 32", (width) => isMultiple(width, 32)],
  ["heads", "a divisor of width, with a quotient that 4 divides", (n, { width }) => isMultiple(width, 4 * n)],
  ["kv_heads", "a divisor of heads", (n, { heads }) => isMultiple(heads, n)],
  ["hidden", "a multiple of 32", (hidden) => isMultiple(hidden, 32)],
  ["layers", "a whole number above 0", (layers) => isMultiple(layers, 1)],
  ["vocabulary", "a whole number above 0", (vocabulary) => isMultiple(vocabulary, 1)],
  ["eps", "a number of at least 0", (eps) => Number.isFinite(eps) && eps >= 0],
  ["base", "a number of at least 1", (base) => Number.isFinite(base) && base >= 1],
  [
    "rates",
    "a number for each pair of a head",
    (rates, { width, heads }) =>
      Array.isArray(rates) && rates.length === width / heads / 2 && rates.every(Number.isFinite),
  ],
];

/**
 * @param {number} n
 * @param {number} of
 */
const isMultiple = (n, of) => Number.isInteger(n) && n > 0 && Number.isInteger(of) && of > 0 && n % of === 0;

/**
 * The weights of a layer, in the order that they have in its bytes.
 *
 * @param {{ width: number, kvWidth: number, hidden: number }} shape
 */
function partsOf({ width, kvWidth, hidden }) {
  const norm = NUMBER * width;
  /** @type {(outputs: number, inputs: number) => number} */
  const matrix = (outputs, inputs) => bytesOfWeights(Q4_1, outputs * inputs);
  const sizes = {
    attention_norm: norm,
    w_query: matrix(width, width),
    w_key: matrix(kvWidth, width),
    w_value: matrix(kvWidth, width),
    out_proj: matrix(width, width),
    feed_forward_norm: norm,
    gate: matrix(hidden, width),
    up: matrix(hidden, width),
    down: matrix(width, hidden),
  };
  let bytes = 0;
  const parts = { ...sizes };
  for (const name of /** @type {(keyof typeof sizes)[]} */ (Object.keys(sizes))) {
    parts[name] = bytes;
    bytes += sizes[name];
  }
  return { parts, bytes };
}

/** Numbers of a row as the kernels arrange it: with the sum of each block behind it, and zeros up to whole blocks. */
const arranged = (/** @type {number} */ inputs) => inputs + BLOCK * Math.ceil(inputs / BLOCK / BLOCK);

export class Shape {
  /** @param {any} settings of `Settings` */
  constructor(settings) {
    for (const [name, must, isRight] of RULES) {
      const value = settings?.[name];
      if (!isRight(value, settings ?? {})) throw new Problem(`its ${name} must be ${must}, got ${brief(value)}`);
    }
    const { width, heads, kv_heads, hidden, layers, vocabulary, eps, base, rates } = /** @type {Settings} */ (settings);
    this.width = width;
    this.heads = heads;
    this.kvHeads = kv_heads;
    this.hidden = hidden;
    this.layers = layers;
    this.vocabulary = vocabulary;
    this.eps = eps;
    this.base = base;
    this.rates = rates;
    this.headDim = width / heads;
    this.kvWidth = this.headDim * kv_heads;
    this.rowBytes = bytesOfWeights(Q8_0, width);
    this.normBytes = NUMBER * width;
    const { parts, bytes } = partsOf(this);
    /** Where each part begins in the bytes of a layer. */
    this.parts = parts;
    this.layerBytes = bytes;
  }

  /**
   * Where everything lies in a memory, for texts of up to `longest` tokens; `end` is the first byte behind it. What a
   * text does not reach of it costs nothing: browsers give pages of a memory when they are written.
   *
   * @param {number} longest
   * @param {number} [start]
   */
  places(longest, start = 0) {
    let end = start;
    /** @param {number} bytes */
    const place = (bytes) => {
      const at = Math.ceil(end / ALIGNED) * ALIGNED;
      end = at + bytes;
      return at;
    };
    /** @param {number} bytes */
    const ofLayers = (bytes) => Array.from({ length: this.layers }, () => place(bytes));
    const { width, kvWidth, hidden, headDim, vocabulary } = this;
    const cache = NUMBER * longest * kvWidth;
    const rows = NUMBER * longest * width;
    return {
      // First: the kernels read up to three rows behind it.
      embedding: place(this.rowBytes * vocabulary),
      norm: place(this.normBytes),
      layers: ofLayers(this.layerBytes),
      keys: ofLayers(cache),
      values: ofLayers(cache),
      queries: ofLayers(rows),
      attended: ofLayers(rows),
      streams: ofLayers(rows),
      rates: place(8 * (headDim / 2)),
      rotations: place(NUMBER * longest * 2 * headDim),
      // Of the kernels: rows that they arrange, and two of weights with their scales; or the scores of a row.
      spare: place(NUMBER * Math.max((longest + 3) * arranged(Math.max(width, hidden)), longest + 4)),
      stream: place(rows),
      normed: place(rows),
      heads: place(rows),
      gate: place(NUMBER * longest * hidden),
      up: place(NUMBER * longest * hidden),
      scores: place(NUMBER * vocabulary),
      end,
    };
  }
}
