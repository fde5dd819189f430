// A layer of a model that learns as an explorer takes it: its one head on the example.

import { Data } from "../data.js";

/**
 * @param {import("./forward.js").LayerPass} layer
 * @param {string[]} tokens
 * @param {{ width: number, isMasked: boolean }} shape
 * @param {import("../data.js").View} view
 */
export function dataOf({ q, k, v }, tokens, { width, isMasked }, view) {
  const [Q, K, V] = [q, k, v].map((numbers) => ({ dtype: "float64", shape: [1, 1, tokens.length, width], numbers }));
  return new Data({
    version: 1,
    tokens: { queries: tokens, keys: tokens },
    q: Q,
    k: K,
    v: V,
    keep: isMasked ? { kind: "causal" } : null,
    scale: 1 / Math.sqrt(width),
    view,
  });
}
