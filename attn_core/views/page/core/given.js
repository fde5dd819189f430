// Weights that came alone: each number is as it was given, and nothing is known of what it follows from.

import { decode } from "./arrays.js";
import { Data } from "./data.js";

/** @type {(...shape: number[]) => import("./arrays.js").NumberArray} */
const zeros = (...shape) => ({
  dtype: "float32",
  shape,
  numbers: new Float64Array(shape.reduce((product, size) => product * size, 1)),
});

/** Data whose q, k and v are missing: zeros of width 1 have their places. */
export class GivenData extends Data {
  /** @param {any} payload what Python wrote, see views/given.py */
  constructor(payload) {
    const given = decode(payload.weights, "weights", 4);
    const [B, H, L, S] = given.shape;
    super({ ...payload, q: zeros(B, H, L, 1), k: zeros(B, H, S, 1), v: zeros(B, H, S, 1), scale: 1 });
    this.given = given;
    this.formulas = { weights: givenRow, dropped: givenRow };
  }
}

/**
 * A row as it was given.
 *
 * @type {import("./formulas.js").Formula}
 */
export function givenRow({ data: { given, H, L, S }, batch, head }, i) {
  const start = ((batch * H + head) * L + i) * S;
  return /** @type {import("./arrays.js").NumberArray} */ (given).numbers.subarray(start, start + S);
}

/**
 * The least and the most that a row with any weight adds up to, over a head.
 *
 * @param {import("./attention.js").Attention} attention
 */
export function sumsOf(attention) {
  let [least, most] = [Infinity, 0];
  for (let i = 0; i < attention.data.L; i++) {
    const sum = givenRow(attention, i).reduce((total, x) => total + x, 0);
    if (sum > 0) [least, most] = [Math.min(least, sum), Math.max(most, sum)];
  }
  return [Math.min(least, most), most];
}
