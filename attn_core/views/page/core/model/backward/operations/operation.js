// What the backward pass of an operation is.

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

export {};
