// A language model on the page: from ids of tokens to a score for each token that may come next.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";
import { loadKernels } from "./kernels.js";
import { Shape } from "./shape.js";
import { ALL_ON, switchesOf } from "./switches.js";
import { Weights } from "./weights.js";

const LONGEST = 512; // tokens of a text
const NUMBER = 4; // bytes of a float32

/**
 * What a layer computed of the text so far, its rows one behind the other: views of the kernels' memory, which the next
 * text overwrites. q, k and v are null where the attention is off.
 *
 * @typedef {object} LayerRecord
 * @property {Float32Array | null} q [rows, heads, headDim], rotated
 * @property {Float32Array | null} k [rows, kvHeads, headDim], rotated
 * @property {Float32Array | null} v [rows, kvHeads, headDim]
 * @property {Float32Array} attended [rows, width]: the residual stream behind the attention
 * @property {Float32Array} stream [rows, width]: the residual stream behind the layer
 */

/**
 * The weights come in any order, and a layer works as soon as it is there.
 *
 *     const engine = await Engine.make(settings, KERNELS);
 *     engine.weights.addRows(0, rows); engine.weights.addLayer(0, bytes); …; engine.weights.addNorm(bytes);
 *     let scores = engine.read(ids); // prefill
 *     scores = engine.read([next]); // decode: the cache has the keys and values of the others
 */
export class Engine {
  /**
   * @param {Shape} shape
   * @param {import("./kernels.js").Kernels} kernels
   * @param {number} longest
   */
  constructor(shape, kernels, longest) {
    this.shape = shape;
    this.kernels = kernels;
    this.longest = longest;
    this.places = shape.places(longest, kernels.start);
    this.weights = new Weights(shape, this.places, kernels.memory);
    /** How many tokens were read, whose keys and values are in the cache. */
    this.length = 0;
    /** How many are being read. */
    this.rows = 0;
    /** The next layer for them; behind the last come the scores. */
    this.layer = 0;
    /** @type {Float32Array | null} of the token behind the last */
    this.scores = null;
    this.switches = ALL_ON;
    const { rotations, rates } = this.places;
    new Float64Array(kernels.memory, rates, shape.rates.length).set(shape.rates);
    kernels.rotaryTable(rotations, longest, shape.headDim, rates);
  }

  /**
   * An engine without weights yet.
   *
   * @param {any} settings of shape.js
   * @param {string} compiled KERNELS of views/built/kernels.js; "": plain script, as where SIMD is missing
   * @param {number} [longest] tokens of a text; the memory follows from it
   */
  static async make(settings, compiled, longest = LONGEST) {
    const shape = new Shape(settings);
    return new Engine(shape, await loadKernels(shape.places(longest).end, compiled), longest);
  }

  /**
   * Switches parts off, and all others on. The text must be read again.
   *
   * @param {any} wanted of switches.js
   */
  switch(wanted) {
    this.switches = switchesOf(this.shape, wanted);
    this.cut(0);
  }

  /**
   * Keeps the first tokens that were read, and forgets the others.
   *
   * @param {number} length
   */
  cut(length) {
    if (!isWhole(length, this.length + 1)) {
      throw new Problem(say("cannotCut", { most: this.length, count: brief(length) }));
    }
    this.length = length;
    this.rows = 0;
    this.scores = null;
  }

  /**
   * Reads tokens behind those of the cache: the scores of what may come next.
   *
   * @param {number[]} ids
   */
  read(ids) {
    this.begin(ids);
    while (this.proceed());
    if (this.scores) return this.scores;
    const { layer } = this;
    const name = layer < this.shape.layers ? say("theLayer", { layer }) : this.weights.missing;
    throw new Problem(say("notThereYet", { name }));
  }

  /**
   * Begins to read tokens behind those of the cache; `proceed` goes on with it.
   *
   * @param {number[]} ids
   */
  begin(ids) {
    this.check(ids);
    const { width, rowBytes } = this.shape;
    const { embedding, stream } = this.places;
    for (const [row, id] of ids.entries()) {
      this.kernels.dequantise(embedding + id * rowBytes, width, stream + NUMBER * width * row);
    }
    this.rows = ids.length;
    this.layer = 0;
    this.scores = null;
  }

  /** @param {number[]} ids */
  check(ids) {
    const { vocabulary } = this.shape;
    if (!ids.length) throw new Problem(say("noTokens"));
    const count = this.length + ids.length;
    if (count > this.longest) throw new Problem(say("tooManyTokens", { most: this.longest, count }));
    for (const id of ids) {
      if (!isWhole(id, vocabulary)) throw new Problem(say("noTokenOf", { count: vocabulary, id: brief(id) }));
      if (!this.weights.hasRow[id]) throw new Problem(say("notThereYet", { name: say("rowOfToken", { id }) }));
    }
  }

  /** Computes the next layer, or the scores; false: there is nothing to do, or its weights are not there yet. */
  proceed() {
    if (!this.rows) return false;
    if (this.layer < this.shape.layers) {
      if (!this.weights.hasLayer[this.layer]) return false;
      this.compute(this.layer);
      this.layer += 1;
      return true;
    }
    if (this.weights.missing) return false;
    this.scores = this.unembedded();
    this.length += this.rows;
    this.rows = 0;
    return true;
  }

  /** @param {number} layer */
  compute(layer) {
    if (!this.switches.attention_off.includes(layer)) this.attention(layer);
    this.keep(this.places.attended[layer]);
    this.feedForward(layer);
    this.keep(this.places.streams[layer]);
  }

  /**
   * Copies the residual stream of the rows that are being read.
   *
   * @param {number} at the place of the first row of the text
   */
  keep(at) {
    const { width } = this.shape;
    const stream = new Float32Array(this.kernels.memory, this.places.stream, this.rows * width);
    new Float32Array(this.kernels.memory, at + NUMBER * width * this.length, stream.length).set(stream);
  }

  /**
   * What a layer computed of all tokens that were read, and of those that are being read.
   *
   * @param {number} layer one that has computed
   * @returns {LayerRecord}
   */
  record(layer) {
    const { places, shape } = this;
    const rows = this.length + this.rows;
    const view = (/** @type {number[]} */ of, /** @type {number} */ width) =>
      new Float32Array(this.kernels.memory, of[layer], rows * width);
    const isOff = this.switches.attention_off.includes(layer);
    return {
      q: isOff ? null : view(places.queries, shape.width),
      k: isOff ? null : view(places.keys, shape.kvWidth),
      v: isOff ? null : view(places.values, shape.kvWidth),
      attended: view(places.attended, shape.width),
      stream: view(places.streams, shape.width),
    };
  }

  /** @param {number} layer */
  attention(layer) {
    const { kernels, places, rows, length, switches } = this;
    const { width, heads, kvHeads, headDim, kvWidth } = this.shape;
    const { queries, keys, values } = this.newPlaces(layer);
    this.norm(layer, "attention_norm");
    this.matmul(layer, "w_query", places.normed, width, queries, width);
    this.matmul(layer, "w_key", places.normed, width, keys, kvWidth);
    this.matmul(layer, "w_value", places.normed, width, values, kvWidth);
    if (!switches.rotary_off) {
      const rotations = places.rotations + 2 * NUMBER * headDim * length;
      kernels.rotate(queries, rows, heads, headDim, rotations);
      kernels.rotate(keys, rows, kvHeads, headDim, rotations);
    }
    const hidden = switches.sink_off.includes(layer) ? 1 : 0;
    const [k, v] = [places.keys[layer], places.values[layer]];
    kernels.attend(queries, k, v, rows, length, heads, kvHeads, headDim, hidden, places.spare, places.heads);
    this.silence(layer);
    this.matmul(layer, "out_proj", places.heads, width, places.normed, width);
    kernels.add(places.stream, places.normed, rows * width);
  }

  /** @param {number} layer */
  feedForward(layer) {
    const { kernels, places, rows } = this;
    const { width, hidden } = this.shape;
    this.norm(layer, "feed_forward_norm");
    this.matmul(layer, "gate", places.normed, width, places.gate, hidden);
    this.matmul(layer, "up", places.normed, width, places.up, hidden);
    kernels.swiglu(places.gate, places.up, rows * hidden);
    this.matmul(layer, "down", places.gate, hidden, places.normed, width);
    kernels.add(places.stream, places.normed, rows * width);
  }

  /** The scores of the token behind the last row. */
  unembedded() {
    return this.scoresOf(this.places.stream + NUMBER * this.shape.width * (this.rows - 1));
  }

  /**
   * What the scores would be if the model ended behind a row of the residual stream: a logit lens. Not while a layer
   * computes.
   *
   * @param {Float32Array} row
   */
  lens(row) {
    if (this.weights.missing) throw new Problem(say("notThereYet", { name: this.weights.missing }));
    const { kernels, places } = this;
    new Float32Array(kernels.memory, places.heads, row.length).set(row);
    return this.scoresOf(places.heads);
  }

  /** @param {number} row */
  scoresOf(row) {
    const { kernels, places } = this;
    const { width, eps, vocabulary } = this.shape;
    kernels.rmsNorm(row, 1, width, places.norm, eps, places.normed);
    kernels.scores(places.normed, width, places.embedding, vocabulary, places.scores);
    return new Float32Array(kernels.memory, places.scores, vocabulary).slice();
  }

  /**
   * @param {number} layer
   * @param {"attention_norm" | "feed_forward_norm"} part
   */
  norm(layer, part) {
    const { places, shape } = this;
    const gain = places.layers[layer] + shape.parts[part];
    this.kernels.rmsNorm(places.stream, this.rows, shape.width, gain, shape.eps, places.normed);
  }

  /**
   * @param {number} layer
   * @param {keyof Shape["parts"]} part
   * @param {number} x
   * @param {number} inputs
   * @param {number} y
   * @param {number} outputs
   */
  matmul(layer, part, x, inputs, y, outputs) {
    const weights = this.places.layers[layer] + this.shape.parts[part];
    this.kernels.matmul(x, this.rows, inputs, weights, outputs, this.places.spare, y);
  }

  /**
   * Makes 0 of what the heads give that are off.
   *
   * @param {number} layer
   */
  silence(layer) {
    const { width, headDim } = this.shape;
    const rows = new Float32Array(this.kernels.memory, this.places.heads, this.rows * width);
    for (const [of, head] of this.switches.heads_off) {
      if (of !== layer) continue;
      for (let at = head * headDim; at < rows.length; at += width) rows.fill(0, at, at + headDim);
    }
  }

  /**
   * Where the queries, keys and values of new tokens lie.
   *
   * @param {number} layer
   */
  newPlaces(layer) {
    const { queries, keys, values } = this.places;
    const [before, beforeKeys] = [this.shape.width, this.shape.kvWidth].map((width) => NUMBER * width * this.length);
    return { queries: queries[layer] + before, keys: keys[layer] + beforeKeys, values: values[layer] + beforeKeys };
  }
}
