// The pass of an attention-only model over texts of one length: learning/model.py by hand.

import { partsOf } from "./model.js";
import { product } from "./products.js";

/**
 * @typedef {object} LayerPass
 * @property {Float64Array} q [texts · length, width]
 * @property {Float64Array} k
 * @property {Float64Array} v
 * @property {Float64Array} weights [texts, length, length]
 * @property {Float64Array} mixed weights·v [texts · length, width]
 *
 * @typedef {object} Pass
 * @property {Float64Array[]} streams what goes into each layer, and what comes out of the last [texts · length, width]
 * @property {LayerPass[]} layers
 * @property {Float64Array} logits [texts · length, vocabulary]
 */

/**
 * @param {import("./model.js").Shape} shape
 * @param {Float64Array} numbers all weights
 * @param {Int32Array} ids [texts, length]
 * @param {number} length
 * @returns {Pass}
 */
export function forward(shape, numbers, ids, length) {
  const { width } = shape;
  const { embedding, positions, layers, unembedding } = partsOf(shape, numbers);
  const size = ids.length * width;
  /** @type {Float64Array} */
  let stream = new Float64Array(size);
  for (let row = 0; row < ids.length; row++) {
    const [word, place] = [ids[row] * width, (row % length) * width];
    for (let c = 0; c < width; c++) stream[row * width + c] = embedding[word + c] + positions[place + c];
  }
  const streams = [stream];
  /** @type {LayerPass[]} */
  const passes = [];
  for (const { query, key, value, out } of layers) {
    const [q, k, v] = [query, key, value].map((matrix) =>
      product(stream, matrix, width, width, new Float64Array(size)),
    );
    const weights = weightsOf(q, k, length, width, shape.isMasked);
    const mixed = mix(weights, v, length, width, shape.isMasked);
    stream = product(mixed, out, width, width, stream.slice());
    passes.push({ q, k, v, weights, mixed });
    streams.push(stream);
  }
  const logits = new Float64Array(ids.length * shape.vocabulary);
  product(stream, unembedding, width, shape.vocabulary, logits);
  return { streams, layers: passes, logits };
}

/**
 * softmax(q·kᵀ/√width) of each text.
 *
 * @param {Float64Array} q
 * @param {Float64Array} k
 * @param {number} length
 * @param {number} width
 * @param {boolean} isMasked
 */
function weightsOf(q, k, length, width, isMasked) {
  const rows = q.length / width;
  const scale = 1 / Math.sqrt(width);
  const weights = new Float64Array(rows * length);
  for (let row = 0; row < rows; row++) {
    const [first, i] = [row - (row % length), row % length];
    const seen = isMasked ? i + 1 : length;
    let largest = -Infinity;
    for (let j = 0; j < seen; j++) {
      let sum = 0;
      for (let c = 0; c < width; c++) sum += q[row * width + c] * k[(first + j) * width + c];
      weights[row * length + j] = sum * scale;
      if (sum * scale > largest) largest = sum * scale;
    }
    let sum = 0;
    for (let at = row * length; at < row * length + seen; at++) {
      weights[at] = Math.exp(weights[at] - largest);
      sum += weights[at];
    }
    for (let at = row * length; at < row * length + seen; at++) weights[at] /= sum;
  }
  return weights;
}

/**
 * weights·v of each text.
 *
 * @param {Float64Array} weights
 * @param {Float64Array} v
 * @param {number} length
 * @param {number} width
 * @param {boolean} isMasked
 */
function mix(weights, v, length, width, isMasked) {
  const mixed = new Float64Array(v.length);
  for (let row = 0; row < v.length / width; row++) {
    const first = row - (row % length);
    const seen = isMasked ? (row % length) + 1 : length;
    for (let j = 0; j < seen; j++) {
      const weight = weights[row * length + j];
      for (let c = 0; c < width; c++) mixed[row * width + c] += weight * v[(first + j) * width + c];
    }
  }
  return mixed;
}
