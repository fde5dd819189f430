// Data with the gradient of their output, from which all others follow.

import { decode } from "../arrays.js";
import { Data } from "../data.js";
import { Problem } from "../problem.js";
import { AXES, FORMULAS_BACK } from "./formulas.js";
import { GradientWorkings } from "./lines.js";

/** @param {any} payload what Python wrote, with grad_output beside q, k and v */
export function withGradients(payload) {
  const data = new Data(payload);
  const { B, H, L, Dv } = data;
  const gradOutput = decode(payload.grad_output, "grad_output", 4);
  if (`${gradOutput.shape}` !== `${[B, H, L, Dv]}`) throw new Problem("grad_output must have the shape of the output");
  return Object.assign(data, { gradOutput, further: AXES, formulas: FORMULAS_BACK, Lines: GradientWorkings });
}
