// Texts that a language model read before, from small files that come as they are asked for: what its engine would
// record of them, without the model. attn_core/views/light.py and publishing/site/language_light.py write the files.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";
import { bytesOfWeights, dequantise, Q8_0 } from "./formats.js";
import { jsonOf } from "./json.js";

/**
 * Brings the bytes of a file.
 *
 * @typedef {(name: string) => Promise<Uint8Array>} Bring
 *
 * @typedef {{ layers: number, heads: number, kvHeads: number, headDim: number, width: number }} LightShape
 *
 * @typedef {{ name: string, text: string, tokens: number }} Listed
 *
 * @typedef {{ id: number, piece: string, chance: number }} LightToken
 *
 * What the likeliest tokens would be if the model ended there; place: the rank there, from 1, of the token that is
 * likeliest at the end.
 * @typedef {{ place: number, likeliest: LightToken[] }} Lens
 */

export class Light {
  /**
   * The list of texts.
   *
   *     const light = await Light.open(bring);
   *     const text = await light.text("capital");
   *     const { q, k, v } = await text.heads(18);
   *
   * @param {Bring} bring
   */
  static async open(bring) {
    return new Light(jsonOf("index.json", await bring("index.json")), bring);
  }

  /**
   * @param {any} index
   * @param {Bring} bring
   */
  constructor({ layers, heads, kv_heads: kvHeads, width, texts }, bring) {
    /** @type {LightShape} */
    this.shape = { layers, heads, kvHeads, width, headDim: width / heads };
    /** @type {Listed[]} */
    this.texts = texts;
    this.bring = bring;
  }

  /**
   * A text with its small maps.
   *
   * @param {string} name
   */
  async text(name) {
    const listed = this.texts.find((text) => text.name === name);
    if (!listed) throw new Problem(say("noTextOf", { name: brief(name) }));
    const { layers, heads } = this.shape;
    const { tokens } = listed;
    const files = [`${name}.json`, `${name}-maps.bin`];
    const [index, maps] = await Promise.all(files.map((file) => this.bring(file)));
    checkBytes(files[1], maps, (layers * heads * tokens * (tokens + 1)) / 2);
    return new LightText(this, listed, jsonOf(files[0], index), maps);
  }
}

export class LightText {
  /**
   * @param {Light} light
   * @param {Listed} listed
   * @param {any} index
   * @param {Uint8Array} maps
   */
  constructor({ shape, bring }, { name, text, tokens }, { ids, pieces, likeliest, lens, measures }, maps) {
    this.shape = shape;
    this.bring = bring;
    this.name = name;
    this.text = text;
    this.tokens = tokens;
    /** @type {number[]} */
    this.ids = ids;
    /** @type {string[]} */
    this.pieces = pieces;
    /** What may come next. @type {LightToken[]} */
    this.likeliest = likeliest;
    /** Of the last row: behind the embedding, then behind each layer. @type {Lens[]} */
    this.lens = lens;
    /** By the names of measures.js, a number for each head of each layer. @type {Record<string, number[]>} */
    this.measures = measures;
    this.maps = maps;
    /** @type {Map<string, Promise<Uint8Array>>} */
    this.files = new Map();
  }

  /**
   * The weights of a head as bytes, 255 for 1: the rows of the triangle one behind the other.
   *
   * @param {number} layer
   * @param {number} head
   */
  map(layer, head) {
    const cells = (this.tokens * (this.tokens + 1)) / 2;
    const at = (layer * this.shape.heads + head) * cells;
    return this.maps.subarray(at, at + cells);
  }

  /** The rows of the embedding: as the model has them. */
  async embedded() {
    const rows = new Float32Array(this.tokens * this.shape.width);
    dequantise(Q8_0, await this.file("embedding.bin", bytesOfWeights(Q8_0, rows.length)), rows);
    return rows;
  }

  /**
   * q, k and v of a layer, q and k rotated.
   *
   * @param {number} layer
   */
  async heads(layer) {
    const { heads, kvHeads, headDim } = this.shape;
    const count = this.tokens * (heads + 2 * kvHeads);
    const { buffer } = (await this.layerFile("heads", layer, count * (4 + 2 * headDim))).slice();
    let at = 0;
    /** @param {number} rows a scale for each, and its numbers */
    const part = (rows) => {
      const scales = new Float32Array(buffer, at, rows);
      const numbers = new Int16Array(buffer, at + scales.byteLength, rows * headDim);
      at += scales.byteLength + numbers.byteLength;
      return Float32Array.from(numbers, (number, n) => scales[Math.floor(n / headDim)] * number);
    };
    const [q, k, v] = [heads, kvHeads, kvHeads].map((each) => part(each * this.tokens));
    return { q, k, v };
  }

  /**
   * The rows of the residual stream behind a layer's attention, and behind the layer.
   *
   * @param {number} layer
   */
  async rows(layer) {
    const count = this.tokens * this.shape.width;
    const bytes = await this.layerFile("rows", layer, 2 * 3 * count);
    const bits = new Uint32Array(2 * count);
    for (let n = 0, at = 0; n < bits.length; n++, at += 3) {
      bits[n] = (bytes[at] << 8) | (bytes[at + 1] << 16) | (bytes[at + 2] << 24);
    }
    const numbers = new Float32Array(bits.buffer);
    return { attended: numbers.slice(0, count), stream: numbers.slice(count) };
  }

  /**
   * All that an engine would record of a layer.
   *
   * @param {number} layer
   * @returns {Promise<import("./engine.js").LayerRecord>}
   */
  async layer(layer) {
    const [heads, rows] = await Promise.all([this.heads(layer), this.rows(layer)]);
    return { ...heads, ...rows };
  }

  /**
   * @param {string} kind
   * @param {number} layer
   * @param {number} wanted
   */
  layerFile(kind, layer, wanted) {
    const { layers } = this.shape;
    if (!isWhole(layer, layers)) throw new Problem(say("noLayerOf", { last: layers - 1, layer: brief(layer) }));
    return this.file(`${kind}-${String(layer).padStart(2, "0")}.bin`, wanted);
  }

  /**
   * A file of the text, brought once; one that did not come is brought again.
   *
   * @param {string} kind
   * @param {number} wanted bytes
   */
  file(kind, wanted) {
    const name = `${this.name}-${kind}`;
    const known = this.files.get(name);
    if (known) return known;
    const brought = this.bring(name).then((bytes) => checkBytes(name, bytes, wanted));
    this.files.set(name, brought);
    brought.catch(() => this.files.delete(name));
    return brought;
  }
}

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 * @param {number} wanted
 */
function checkBytes(name, bytes, wanted) {
  if (bytes.length === wanted) return bytes;
  throw new Problem(say("wrongBytes", { name, wanted, count: bytes.length }));
}
