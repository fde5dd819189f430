// A language model as the steps of core/model, under the names that the library gives them.

import { Step } from "../model/program.js";
import { bytesOfWeights, Q4_1, Q8_0 } from "./formats.js";
import { lensOf } from "./lens.js";
import { StoredMatrix, storedGain } from "./stored.js";

/**
 * @typedef {import("../arrays.js").NumberArray} NumberArray
 * @typedef {import("./shape.js").Shape} Shape
 */

/**
 * The weights by the names of their parameters. They may come later: nobody asks for one before it is there.
 *
 * @param {import("./weights.js").Weights} weights
 */
function storedOf({ shape, places, memory }) {
  const { width, hidden, kvWidth, vocabulary, layers, parts } = shape;
  const bytes = (/** @type {number} */ at, /** @type {number} */ count) => () => new Uint8Array(memory, at, count);
  /** @type {Map<string, any>} */
  const stored = new Map();
  const rows = bytes(places.embedding, shape.rowBytes * vocabulary);
  stored.set("embedding.weight", new StoredMatrix(Q8_0, [vocabulary, width], rows));
  stored.set("norm.gain", storedGain(width, bytes(places.norm, shape.normBytes)));
  /** @type {[string, keyof typeof parts, number, number][]} */
  const matrices = [
    ["attention.w_query", "w_query", width, width],
    ["attention.w_key", "w_key", kvWidth, width],
    ["attention.w_value", "w_value", kvWidth, width],
    ["attention.out_proj", "out_proj", width, width],
    ["feed_forward.gate", "gate", hidden, width],
    ["feed_forward.up", "up", hidden, width],
    ["feed_forward.down", "down", width, hidden],
  ];
  for (let n = 0; n < layers; n++) {
    const at = places.layers[n];
    for (const part of /** @type {const} */ (["attention_norm", "feed_forward_norm"])) {
      stored.set(`layers.${n}.${part}.gain`, storedGain(width, bytes(at + parts[part], shape.normBytes)));
    }
    for (const [name, part, outputs, inputs] of matrices) {
      const all = bytes(at + parts[part], bytesOfWeights(Q4_1, outputs * inputs));
      stored.set(`layers.${n}.${name}.weight`, new StoredMatrix(Q4_1, [outputs, inputs], all));
    }
  }
  return stored;
}

/**
 * @param {import("./weights.js").Weights} weights
 * @param {number} longest
 * @param {string[]} vocabulary as far as its tokens are named
 */
export function stepsOf(weights, longest, vocabulary) {
  const { heads, kvHeads, headDim, layers, eps, base } = weights.shape;
  const held = { weights: storedOf(weights), words: { target: vocabulary }, longest };
  /** @type {Map<string, Step>} */
  const steps = new Map();
  /** @type {(name: string, operation: string, inputs: string[], more?: object) => string} */
  const step = (name, operation, inputs, more = {}) => {
    steps.set(name, new Step({ name, operation, inputs, ...more }, steps, held));
    return name;
  };
  /** @type {(name: string, x: string, weight?: string) => string} */
  const linear = (name, x, weight = `${name}.weight`) => step(name, "linear", [x], { parameters: { weight } });
  /** @type {(name: string, x: string, gain?: string) => string} */
  const norm = (name, x, gain = `${name}.gain`) =>
    step(name, "rms_norm", [x], { parameters: { gain }, settings: { eps } });
  const rotary = { settings: { head_dim: headDim, base, pairing: "interleaved" } };
  const attention = {
    settings: { num_heads: heads, num_kv_heads: kvHeads, keep: { kind: "causal" }, scale: 1 / Math.sqrt(headDim) },
  };
  step("ids", "words", [], { settings: { side: "target" } });
  let x = step("embedding", "embed", ["ids"], { parameters: { weight: "embedding.weight" } });
  /** @type {(before: string, x: string) => void} */
  const scores = (before, x) => {
    const normed = norm(`${before}norm`, x, "norm.gain");
    const made = linear(`${before}unembedding`, normed, "embedding.weight");
    step(`${before}chances`, "softmax", [made]);
  };
  for (let n = 0; n < layers; n++) {
    const at = `layers.${n}`;
    const read = norm(`${at}.attention_norm`, x);
    const [q, k, v] = ["w_query", "w_key", "w_value"].map((name) => linear(`${at}.attention.${name}`, read));
    const rotated = [q, k].map((of, side) =>
      step(`${at}.attention.rotated_${side ? "key" : "query"}`, "rotary", [of], rotary),
    );
    const merged = step(`${at}.attention`, "attention", [...rotated, v], attention);
    x = step(`${at}.attention_sum`, "add", [x, linear(`${at}.attention.out_proj`, merged)]);
    const fed = norm(`${at}.feed_forward_norm`, x);
    const [gate, up] = ["gate", "up"].map((name) => linear(`${at}.feed_forward.${name}`, fed));
    const active = step(`${at}.feed_forward.activation`, "silu", [gate]);
    const product = step(`${at}.feed_forward.product`, "multiply", [active, up]);
    x = step(`${at}.sum`, "add", [x, linear(`${at}.feed_forward.down`, product)]);
    if (n < layers - 1) scores(`${lensOf(n)}.`, x);
  }
  scores("", x);
  return steps;
}
