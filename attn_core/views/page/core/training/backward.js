// The way back through an attention-only model, by hand.

import { partsOf } from "./model.js";
import { toMatrix, toRows } from "./products.js";

/**
 * What flows back through a layer.
 *
 * @typedef {object} LayerGradients
 * @property {Float64Array} mixed [texts · length, width]
 * @property {Float64Array} weights dP = dO·vᵀ [texts, length, length]
 * @property {Float64Array} scaled dS = P ∘ (dP − r), r being the row's Σ P∘dP [texts, length, length]
 * @property {Float64Array} q
 * @property {Float64Array} k
 * @property {Float64Array} v
 *
 * @typedef {object} Gradients
 * @property {Float64Array} numbers of all weights, in their order
 * @property {LayerGradients[]} layers
 * @property {Float64Array[]} streams of what goes into each layer, and of what comes out of the last
 */

/**
 * @param {import("./model.js").Shape} shape
 * @param {Float64Array} numbers all weights
 * @param {Int32Array} ids [texts, length]
 * @param {number} length
 * @param {import("./forward.js").Pass} pass
 * @param {Float64Array} ofLogits the gradient of the loss with respect to the logits
 * @returns {Gradients}
 */
export function backward(shape, numbers, ids, length, pass, ofLogits) {
  const { width, vocabulary } = shape;
  const gradients = new Float64Array(numbers.length);
  const [weights, found] = [partsOf(shape, numbers), partsOf(shape, gradients)];
  const last = pass.streams[shape.layers];
  toMatrix(ofLogits, last, width, vocabulary, found.unembedding);
  let stream = toRows(ofLogits, weights.unembedding, width, vocabulary, new Float64Array(last.length));
  const streams = [stream];
  /** @type {LayerGradients[]} */
  const layers = [];
  for (let n = shape.layers - 1; n >= 0; n--) {
    const [matrices, into, layer] = [weights.layers[n], found.layers[n], pass.layers[n]];
    toMatrix(stream, layer.mixed, width, width, into.out);
    const mixed = toRows(stream, matrices.out, width, width, new Float64Array(stream.length));
    const back = throughAttention(layer, mixed, length, width, shape.isMasked);
    const before = stream.slice();
    for (const [gradient, matrix, of] of /** @type {const} */ ([
      [back.q, matrices.query, into.query],
      [back.k, matrices.key, into.key],
      [back.v, matrices.value, into.value],
    ])) {
      toMatrix(gradient, pass.streams[n], width, width, of);
      toRows(gradient, matrix, width, width, before);
    }
    stream = before;
    layers.unshift(back);
    streams.unshift(stream);
  }
  for (let row = 0; row < ids.length; row++) {
    const [word, place] = [ids[row] * width, (row % length) * width];
    for (let c = 0; c < width; c++) {
      found.embedding[word + c] += stream[row * width + c];
      found.positions[place + c] += stream[row * width + c];
    }
  }
  return { numbers: gradients, layers, streams };
}

/**
 * dV = Pᵀ·dO, dP = dO·Vᵀ, dS = P ∘ (dP − r), dQ = dS·K/√width, dK = dSᵀ·Q/√width. A hidden cell has P = 0, so dS = 0.
 *
 * @param {import("./forward.js").LayerPass} layer
 * @param {Float64Array} mixed dO
 * @param {number} length
 * @param {number} width
 * @param {boolean} isMasked
 * @returns {LayerGradients}
 */
function throughAttention({ q, k, v, weights }, mixed, length, width, isMasked) {
  const scale = 1 / Math.sqrt(width);
  const [ofQ, ofK, ofV] = [q, k, v].map(({ length: size }) => new Float64Array(size));
  const ofWeights = new Float64Array(weights.length);
  const scaled = new Float64Array(weights.length);
  for (let row = 0; row < q.length / width; row++) {
    const first = row - (row % length);
    const seen = isMasked ? (row % length) + 1 : length;
    let r = 0;
    for (let j = 0; j < seen; j++) {
      const at = row * length + j;
      const other = (first + j) * width;
      const weight = weights[at];
      let sum = 0;
      for (let c = 0; c < width; c++) {
        const g = mixed[row * width + c];
        sum += g * v[other + c];
        ofV[other + c] += weight * g;
      }
      ofWeights[at] = sum;
      r += weight * sum;
    }
    for (let j = 0; j < seen; j++) {
      const at = row * length + j;
      const other = (first + j) * width;
      scaled[at] = weights[at] * (ofWeights[at] - r);
      const s = scaled[at] * scale;
      for (let c = 0; c < width; c++) {
        ofQ[row * width + c] += s * k[other + c];
        ofK[other + c] += s * q[row * width + c];
      }
    }
  }
  return { mixed, weights: ofWeights, scaled, q: ofQ, k: ofK, v: ofV };
}
