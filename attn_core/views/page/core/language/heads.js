// The heads of a layer that was read, as the explorer and the small maps take them.

import { base64Of } from "../arrays.js";
import { Data } from "../data.js";

/**
 * The mask of a text: causal; without its sink only token 0 sees token 0.
 *
 * @param {number} count of tokens
 * @param {boolean} [hidesSink]
 */
export function keepOf(count, hidesSink) {
  if (!hidesSink) return { kind: "causal" };
  const bits = new Uint8Array(Math.ceil((count * count) / 8));
  for (let i = 0; i < count; i++) {
    for (let j = i ? 1 : 0; j <= i; j++) {
      const at = i * count + j;
      bits[at >> 3] |= 1 << (at & 7);
    }
  }
  return { kind: "dense", bits: base64Of(bits), shape: [1, 1, count, count] };
}

/**
 * Rows of heads side by side, head by head: [1, heads, rows, headDim].
 *
 * @param {Float32Array} rows
 * @param {number} count
 * @param {number} heads
 */
function byHead(rows, count, heads) {
  const width = rows.length / count / heads;
  const numbers = new Float32Array(rows.length);
  for (let row = 0, n = 0; row < count; row++) {
    for (let head = 0; head < heads; head++) {
      for (let d = 0, at = (head * count + row) * width; d < width; d++) numbers[at++] = rows[n++];
    }
  }
  return { dtype: "float32", shape: [1, heads, count, width], numbers };
}

/**
 * The data of an explorer.
 *
 * @param {import("./whole.js").HeadRecord} record one whose attention is on
 * @param {string[]} tokens
 * @param {{ heads: number, kvHeads: number, headDim: number }} shape
 * @param {boolean} [hidesSink]
 */
export function dataOf({ q, k, v }, tokens, { heads, kvHeads, headDim }, hidesSink) {
  const rows = [q, k, v].map((all, n) => byHead(/** @type {Float32Array} */ (all), tokens.length, n ? kvHeads : heads));
  return new Data({
    version: 1,
    tokens: { queries: tokens, keys: tokens },
    q: rows[0],
    k: rows[1],
    v: rows[2],
    keep: keepOf(tokens.length, hidesSink),
    scale: 1 / Math.sqrt(headDim),
  });
}

/** The data of the layer that is shown, and of the one that was asked for last: all of them would take much memory. */
export class Kept {
  /** @param {(layer: number) => Data} make */
  constructor(make) {
    this.make = make;
    /** By layer. @type {Map<number, Data>} */
    this.datas = new Map();
  }

  /**
   * @param {number} layer
   * @param {number} shown
   */
  of(layer, shown) {
    const known = this.datas.get(layer);
    if (known) return known;
    for (const other of this.datas.keys()) if (other !== shown) this.datas.delete(other);
    const data = this.make(layer);
    this.datas.set(layer, data);
    return data;
  }

  forget() {
    this.datas.clear();
  }
}
