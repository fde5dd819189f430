// Operations that make each number of the number in its place, or of two.

import { written } from "../../digits.js";
import { equals, signed } from "./lines.js";
import { rowOf, USUAL, widthOfBoth } from "./operation.js";

/**
 * The area under the bell curve to the left of x: (1 + erf(x / √2)) / 2. The series has terms of one sign, so that
 * nothing cancels in it; beyond 9 nothing is left to add in 64 bits.
 *
 * @param {number} x
 */
export function bell(x) {
  if (Math.abs(x) > 9) return x > 0 ? 1 : 0;
  let [term, sum] = [x, 0];
  for (let n = 3; sum + term !== sum; n += 2) {
    sum += term;
    term *= (x * x) / n;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * @param {(x: number) => number} formula
 * @param {(x: number) => string} text its arithmetic
 * @returns {import("./operation.js").Operation}
 */
const each = (formula, text) => ({
  ...USUAL,
  rows: (pass, { inputs: [x] }, t) => [pass.output(x, t).map(formula)],
  lines: {
    output(place) {
      const [x] = place.inputs;
      return [equals(text(place.row(x)[place.col]), place.value), () => [place.number(x)]];
    },
  },
});

export const relu = each(
  (x) => Math.max(0, x),
  (x) => `max(0, ${written(x)})`,
);
export const gelu = each(
  (x) => x * bell(x),
  (x) => `${signed(x)} · Φ(${written(x)})`,
);
export const silu = each(
  (x) => x / (1 + Math.exp(-x)),
  (x) => `${written(x)} / (1 + exp(${written(-x)}))`,
);

/** x·y. @type {import("./operation.js").Operation} */
export const multiply = {
  ...USUAL,
  width: widthOfBoth,
  rows(pass, { inputs: [x, y], width }, t) {
    const [a, b] = [pass.output(x, t), pass.output(y, t)];
    return [rowOf(width, (n) => a[n] * b[n])];
  },
  lines: {
    output(place) {
      const [x, y] = place.inputs.map((input) => place.row(input)[place.col]);
      const text = `${written(x, y)} · ${signed(y, x)}`;
      return [equals(text, place.value), () => place.inputs.map((input) => place.number(input))];
    },
  },
};

export const tanh = each(Math.tanh, (x) => `tanh(${written(x)})`);
