// The backward pass of each operation, and what else a backward pass needs, by its name.

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

/**
 * @typedef {import("../tensor.js").Tensor} Tensor
 * @typedef {import("../../program.js").Step} Step
 *
 * @typedef {object} Backward
 * @property {(inputs: Tensor[], step: Step, settings: Record<string, any>, gradients:
 * import("../gradients.js").Gradients) => Record<string, Tensor>} formula from the gradient of the output, and what
 * it reads of the forward pass, each stage; step: the one of the forward pass; settings: with what is switched off
 * @property {(cell: import("../cell.js").Cell) => import("../cell.js").How} line the arithmetic of a number
 */

/** @type {Record<string, Backward>} */
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
