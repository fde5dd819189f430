// The operations by their names in a program.

import { gelu, multiply, relu, silu, tanh } from "./activations.js";
import { attention } from "./attention.js";
import { addPositions, addRow, embed } from "./embedding.js";
import { gru } from "./gru.js";
import { words } from "./leaves.js";
import { layerNorm, rmsNorm } from "./norms.js";
import { rotary } from "./rotary.js";
import { concat, lastRow, repeat } from "./rows.js";
import { softmax } from "./softmax.js";
import { add, linear } from "./sums.js";

/** @type {Record<string, import("./operation.js").Operation>} */
export const OPERATIONS = {
  words,
  embed,
  add_positions: addPositions,
  add_row: addRow,
  linear,
  attention,
  add,
  layer_norm: layerNorm,
  rms_norm: rmsNorm,
  rotary,
  relu,
  gelu,
  tanh,
  silu,
  multiply,
  softmax,
  concat,
  gru,
  last_row: lastRow,
  repeat,
};
