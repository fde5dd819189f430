// The backward pass of each operation, and what else a backward pass needs, by its name. Not to be
// changed by hand: python -m generate.operations writes it.

import { gelu, multiply, relu, silu, tanh } from "./activations.js";
import { attention } from "./attention.js";
import { addPositions, addRow, embed } from "./embedding.js";
import { gru } from "./gru.js";
import { layerNorm, rmsNorm } from "./norms.js";
import { rotary } from "./rotary.js";
import { concat, lastRow, repeat } from "./rows.js";
import { softmax } from "./softmax.js";
import { itself, sum } from "./start.js";
import { add, linear } from "./sums.js";

/** @type {Record<string, import("./operation.js").Backward>} */
export const BACKWARD = {
  relu,
  gelu,
  tanh,
  silu,
  multiply,
  attention,
  embed,
  add_positions: addPositions,
  add_row: addRow,
  gru,
  layer_norm: layerNorm,
  rms_norm: rmsNorm,
  rotary,
  concat,
  last_row: lastRow,
  repeat,
  softmax,
  add,
  linear,
  itself,
  sum,
};
