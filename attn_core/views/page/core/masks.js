// Masks: what a payload or a setting says of one, as a rule for rows of cells.

import { bytesOf } from "./arrays.js";
import { Problem } from "./problem.js";

/**
 * A mask in its JSON form.
 *
 * @typedef {object} Keep
 * @property {string} kind
 * @property {number} [before]
 * @property {number} [after]
 * @property {number[]} [lengths] of padding on the right: the key at which it begins, one a sequence
 * @property {number[]} [starts] of padding on the left: the key at which the words begin
 * @property {Keep[]} [of] what "and" joins
 * @property {string} [bits] of a dense mask
 * @property {number[]} [shape] of a dense mask
 *
 * Writes 0 into a row of ones where the mask does not keep.
 * @typedef {(row: Uint8Array, batch: number, head: number, i: number) => void} KeepRule
 */

/**
 * A mask's JSON form as a rule.
 *
 * @param {Keep} json
 * @param {number} L
 * @param {number} S
 * @returns {KeepRule}
 */
export function keepRule(json, L, S) {
  const first = S - L;
  /** @param {number} j */
  const past = (j) => Math.max(0, j);
  switch (json.kind) {
    case "causal":
    case "prefill":
      return (row, _b, _h, i) => row.fill(0, past(i + first + 1));
    case "window":
      return (row, _b, _h, i) =>
        row
          .fill(0, 0, past(i + first - (json.before ?? Infinity)))
          .fill(0, past(i + first + (json.after ?? Infinity) + 1));
    case "padding": {
      const { lengths, starts } = json;
      return (row, b) => row.fill(0, 0, starts?.[b] ?? 0).fill(0, lengths?.[b] ?? S);
    }
    case "and": {
      const rules = (json.of ?? []).map((part) => keepRule(part, L, S));
      return (...row) => {
        for (const rule of rules) rule(...row);
      };
    }
    case "dense": {
      const { shape = [] } = json;
      const bits = bytesOf(json.bits ?? "");
      const [B, H, R, C] = shape.map((size) => size > 1);
      return (row, b, h, i) => {
        const start = ((B ? b : 0) * shape[1] + (H ? h : 0)) * shape[2] + (R ? i : 0);
        for (let j = 0; j < S; j++) {
          const at = start * shape[3] + (C ? j : 0);
          if (!((bits[at >> 3] >> (at & 7)) & 1)) row[j] = 0;
        }
      };
    }
    default:
      throw new Problem(`the mask must be of a known kind, got ${json.kind}`);
  }
}

/**
 * The JSON form of a mask that a setting names, such as "window:2,0"; null for "none".
 *
 * @param {string} mask
 * @returns {Keep | null}
 */
export function maskJson(mask) {
  const [kind, sizes = ""] = mask.split(":");
  const numbers = sizes.split(",").map(Number);
  if (kind === "none") return null;
  if (kind === "padding") return { kind, lengths: numbers };
  return { kind, before: numbers[0], after: numbers[1] };
}
