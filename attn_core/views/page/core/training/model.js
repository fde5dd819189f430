// The weights of an attention-only model: their names and places in one array, and what they begin with. As
// learning/model.py has them.

import { randomWords } from "../dice.js";

/**
 * @typedef {object} Shape
 * @property {number} vocabulary
 * @property {number} places
 * @property {number} width
 * @property {number} layers
 * @property {boolean} isMasked whether a place sees only itself and those before it
 *
 * @typedef {{ name: string, shape: number[], start: number, end: number }} Parameter where its numbers are in the array
 *
 * @typedef {object} LayerWeights
 * @property {Float64Array} query [width, width]
 * @property {Float64Array} key
 * @property {Float64Array} value
 * @property {Float64Array} out
 *
 * @typedef {object} Weights views of one array
 * @property {Float64Array} positions [places, width]
 * @property {Float64Array} embedding [vocabulary, width]
 * @property {LayerWeights[]} layers
 * @property {Float64Array} unembedding [vocabulary, width]
 */

const MATRICES = ["w_query", "w_key", "w_value", "out_proj"];
const KIND = 1; // of dice: 0 are the texts
const THROWS = 12;

/**
 * All weights, in the order of the array.
 *
 * @param {Shape} shape
 */
export function parametersOf({ vocabulary, places, width, layers }) {
  /** @type {Parameter[]} */
  const found = [];
  const add = (/** @type {string} */ name, /** @type {number[]} */ shape) => {
    const start = found.at(-1)?.end ?? 0;
    found.push({ name, shape, start, end: start + shape[0] * shape[1] });
  };
  add("positions", [places, width]);
  add("embedding.weight", [vocabulary, width]);
  for (let n = 0; n < layers; n++) {
    for (const matrix of MATRICES) add(`layers.${n}.attention.${matrix}.weight`, [width, width]);
  }
  add("unembedding.weight", [vocabulary, width]);
  return found;
}

/**
 * The parts of an array of all weights, or of all gradients.
 *
 * @param {Shape} shape
 * @param {Float64Array} numbers
 * @returns {Weights}
 */
export function partsOf(shape, numbers) {
  const views = parametersOf(shape).map(({ start, end }) => numbers.subarray(start, end));
  const [positions, embedding, ...others] = views;
  const layers = Array.from({ length: shape.layers }, (_, n) => {
    const [query, key, value, out] = others.slice(4 * n);
    return { query, key, value, out };
  });
  return { positions, embedding, layers, unembedding: others[others.length - 1] };
}

/**
 * What training begins with: nearly normal numbers with mean 0 and variance 1/width. Each is the sum of twelve that
 * are uniform, which no processor rounds.
 *
 * @param {Shape} shape
 * @param {number} seed
 */
export function initialWeights(shape, seed) {
  const parameters = parametersOf(shape);
  const numbers = new Float64Array(parameters[parameters.length - 1].end);
  for (const [k, { start, end }] of parameters.entries()) {
    const words = randomWords(seed, k, THROWS * (end - start), KIND);
    for (let n = start; n < end; n++) {
      let sum = 0;
      for (let i = THROWS * (n - start); i < THROWS * (n - start + 1); i++) sum += words[i];
      numbers[n] = (sum / 2 ** 32 - THROWS / 2) / Math.sqrt(shape.width);
    }
  }
  return numbers;
}
