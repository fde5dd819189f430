// What each operation takes, as attn_core/steps/operations lists it. Not to be changed by hand:
// python -m generate.operations writes it.

/**
 * kind: "number", "whole", "flag", "choice", "mask" or "text"; without a default a step must have
 * it; one that is a switch is never in a program.
 *
 * @typedef {object} Setting
 * @property {string} kind
 * @property {any} [default]
 * @property {number} [least]
 * @property {string[]} [choices]
 * @property {boolean} [is_switch]
 *
 * shape: sizes with a space between: E, the columns of what goes in (of words: how many there
 * are), a part of them as E/3, and other letters for sizes that the weight decides.
 * turned_by: the flag with which the weight is kept the other way round.
 * unless: the setting, and its value, with which a step has no such weight.
 *
 * @typedef {object} Parameter
 * @property {string} shape
 * @property {string} [turned_by]
 * @property {boolean} [is_optional]
 * @property {[string, string]} [unless]
 *
 * @typedef {object} Declared
 * @property {[number, number | null]} takes the least and the most inputs; null: any number
 * @property {string[]} stages the arrays that it makes, its output last
 * @property {string[]} statistics of each row, one number each
 * @property {Record<string, Parameter>} parameters
 * @property {Record<string, Setting>} settings
 * @property {Record<string, Record<string, any> | null>} switches what a change sets; null: one
 * head at a time
 * @property {Backward} [backward]
 *
 * inputs: for each input the stage of the backward step that is its gradient, counted where there
 * may be any number of inputs; null: it has none. stages: what is computed before these.
 * statistics: numbers of each row. reads: what it takes of the forward step, "inputs" and stages.
 *
 * @typedef {object} Backward
 * @property {(string | null)[]} inputs
 * @property {string[]} stages
 * @property {string[]} statistics
 * @property {string[]} reads
 */

/** @type {Declared} */
const USUAL = {"takes": [1, 1], "stages": ["output"], "statistics": [], "parameters": {}, "settings": {}, "switches": {}};

/** @type {Record<string, Declared>} */
export const DECLARED = {
  relu: { ...USUAL, "backward": {"inputs": ["grad_input"], "stages": ["slope"], "statistics": [], "reads": ["inputs"]} },
  gelu: { ...USUAL, "backward": {"inputs": ["grad_input"], "stages": ["slope"], "statistics": [], "reads": ["inputs"]} },
  tanh: { ...USUAL, "backward": {"inputs": ["grad_input"], "stages": ["slope"], "statistics": [], "reads": ["output"]} },
  silu: { ...USUAL, "backward": {"inputs": ["grad_input"], "stages": ["slope"], "statistics": [], "reads": ["inputs"]} },
  multiply: { ...USUAL, "takes": [2, 2], "backward": {"inputs": ["grad_x", "grad_y"], "stages": [], "statistics": [], "reads": ["inputs"]} },
  attention: { ...USUAL, "takes": [3, 3], "stages": ["scores", "scaled", "masked", "weights", "dropped", "output", "merged"], "statistics": ["row_max", "row_sum"], "settings": {"num_heads": {"kind": "whole", "least": 1}, "num_kv_heads": {"kind": "whole", "default": null, "least": 1}, "scale": {"kind": "number"}, "keep": {"kind": "mask", "default": null}, "heads_off": {"kind": "heads", "default": [], "is_switch": true}}, "switches": {"heads_off": null, "mask_off": {"keep": null}, "scale_off": {"scale": 1.0}}, "backward": {"inputs": ["grad_q", "grad_k", "grad_v"], "stages": ["grad_output", "grad_dropped", "grad_weights", "grad_masked", "grad_scaled", "grad_scores"], "statistics": ["row_dot"], "reads": ["inputs", "weights", "output"]} },
  embed: { ...USUAL, "parameters": {"weight": {"shape": "E F"}}, "settings": {"times": {"kind": "number", "default": 1.0}}, "backward": {"inputs": [null], "stages": [], "statistics": [], "reads": ["inputs"]} },
  add_positions: { ...USUAL, "parameters": {"table": {"shape": "N E", "unless": ["kind", "sinusoids"]}}, "settings": {"kind": {"kind": "choice", "default": "table", "choices": ["table", "sinusoids"]}, "off": {"kind": "flag", "default": false, "is_switch": true}}, "switches": {"positions_off": {"off": true}}, "backward": {"inputs": ["grad_input"], "stages": [], "statistics": [], "reads": []} },
  add_row: { ...USUAL, "parameters": {"table": {"shape": "N E"}}, "settings": {"row": {"kind": "whole", "least": 0}}, "backward": {"inputs": ["grad_input"], "stages": [], "statistics": [], "reads": []} },
  gru: { ...USUAL, "takes": [1, 2], "stages": ["recurrent", "reset", "update", "candidate", "state"], "parameters": {"weight_hh": {"shape": "E E/3"}, "bias_hh": {"shape": "E"}}, "backward": {"inputs": ["grad_input", "grad_start"], "stages": ["grad_state", "grad_recurrent", "grad_before"], "statistics": [], "reads": ["inputs", "recurrent", "reset", "update", "candidate", "state"]} },
  words: { ...USUAL, "takes": [0, 0], "settings": {"side": {"kind": "text"}} },
  layer_norm: { ...USUAL, "stages": ["mean", "variance", "normed", "output"], "parameters": {"gain": {"shape": "E"}, "bias": {"shape": "E"}}, "settings": {"eps": {"kind": "number", "least": 0}, "off": {"kind": "flag", "default": false, "is_switch": true}}, "switches": {"norms_off": {"off": true}}, "backward": {"inputs": ["grad_input"], "stages": ["grad_normed", "mean_grad", "mean_product"], "statistics": [], "reads": ["normed", "variance"]} },
  rms_norm: { ...USUAL, "stages": ["mean_square", "normed", "output"], "parameters": {"gain": {"shape": "E"}}, "settings": {"eps": {"kind": "number", "least": 0}, "off": {"kind": "flag", "default": false, "is_switch": true}}, "switches": {"norms_off": {"off": true}}, "backward": {"inputs": ["grad_input"], "stages": ["grad_normed", "mean_product"], "statistics": [], "reads": ["normed", "mean_square"]} },
  rotary: { ...USUAL, "stages": ["angle", "output"], "settings": {"head_dim": {"kind": "whole", "least": 2}, "base": {"kind": "number", "default": 10000.0, "least": 1}, "pairing": {"kind": "choice", "default": "halves", "choices": ["halves", "interleaved"]}, "off": {"kind": "flag", "default": false, "is_switch": true}}, "switches": {"positions_off": {"off": true}}, "backward": {"inputs": ["grad_input"], "stages": [], "statistics": [], "reads": ["angle"]} },
  concat: { ...USUAL, "takes": [1, null], "backward": {"inputs": ["grad_input"], "stages": [], "statistics": [], "reads": ["inputs"]} },
  last_row: { ...USUAL, "backward": {"inputs": ["grad_input"], "stages": [], "statistics": [], "reads": ["inputs"]} },
  repeat: { ...USUAL, "takes": [2, 2], "backward": {"inputs": ["grad_input", null], "stages": [], "statistics": [], "reads": []} },
  softmax: { ...USUAL, "statistics": ["row_max", "row_sum"], "backward": {"inputs": ["grad_input"], "stages": [], "statistics": ["row_dot"], "reads": ["output"]} },
  add: { ...USUAL, "takes": [2, 2], "settings": {"off": {"kind": "flag", "default": false, "is_switch": true}}, "switches": {"residuals_off": {"off": true}}, "backward": {"inputs": ["grad_x", "grad_y"], "stages": [], "statistics": [], "reads": []} },
  linear: { ...USUAL, "parameters": {"weight": {"shape": "F E", "turned_by": "transposed"}, "bias": {"shape": "F", "is_optional": true}}, "settings": {"transposed": {"kind": "flag", "default": false}}, "backward": {"inputs": ["grad_input"], "stages": [], "statistics": [], "reads": ["inputs"]} },
};

/** The kinds of change, in the order in which an address has them. */
export const KINDS = /** @type {const} */ (["heads_off", "positions_off", "residuals_off", "norms_off", "mask_off", "scale_off"]);

/** Words of a sentence: an attention has that many rows and columns. */
export const MOST_LONGEST = 512;
