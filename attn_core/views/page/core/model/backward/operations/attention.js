// Back through the six stages of each head. Nothing is dropped here, so the gradients of weights and of dropped weights
// are the same. Heads that share a key and its value add up what they bring to it.

import { dot } from "../../../arrays.js";
import { keyHeadOf } from "../../operations/attention.js";
import { aboveAverageText, equal, nothing, passedOn, products, productText } from "../lines.js";
import { Tensor, table, tables } from "../tensor.js";

/**
 * @typedef {import("./operation.js").Backward} Backward
 * @typedef {import("../cell.js").Cell} Cell
 * @typedef {import("../cell.js").How} How
 * @typedef {import("../tensor.js").Tensor} Numbers
 */

// The inputs: the gradient, queries, keys and values, and two stages of the forward pass.
const [GRADIENT, QUERIES, KEYS, VALUES, WEIGHTS, OUTPUT] = [0, 1, 2, 3, 4, 5];
const OF_INPUTS = ["grad_q", "grad_k", "grad_v"];

/** Head h of rows with heads side by side. @type {(rows: Numbers, t: number, h: number, width: number) => Float64Array} */
const partOf = (rows, t, h, width) => rows.row(t).subarray(h * width, (h + 1) * width);

/**
 * For each row, the columns of all heads side by side: sums of rows of another table, in shares.
 *
 * @param {number} T
 * @param {number} heads
 * @param {number} width
 * @param {(add: (share: number, row: Float64Array, t: number, head: number) => void) => void} all
 */
function summed(T, heads, width, all) {
  const made = new Tensor([T, heads * width]);
  all((share, row, t, head) => {
    const into = partOf(made, t, head, width);
    for (let d = 0; d < width; d++) into[d] += share * row[d];
  });
  return made;
}

/** @type {Backward} */
export const attention = {
  formula([gradient, queries, keys, values, shares, output], step, { heads_off, scale }) {
    const { heads: H, keyHeads } = step;
    const [, L, S] = shares.shape;
    const [D, Dv] = [queries.shape[1] / H, values.shape[1] / keyHeads];
    const sharedBy = (/** @type {number} */ h) => keyHeadOf(step, h);
    const isOff = (/** @type {number} */ h) => heads_off.includes(h);
    const gradOutput = tables([H, L, Dv], (h, i, d) => (isOff(h) ? 0 : gradient.at(i, h * Dv + d)));
    const gradWeights = tables([H, L, S], (h, i, j) => dot(gradOutput.row(h, i), partOf(values, j, sharedBy(h), Dv)));
    const rowDot = table([H, L], (h, i) => dot(gradOutput.row(h, i), output.row(h, i)));
    const gradMasked = tables([H, L, S], (h, i, j) => shares.at(h, i, j) * (gradWeights.at(h, i, j) - rowDot.at(h, i)));
    const gradScores = tables([H, L, S], (h, i, j) => gradMasked.at(h, i, j) * scale);
    const each = (/** @type {(h: number, i: number, j: number) => void} */ act) => {
      for (let h = 0; h < H; h++) for (let i = 0; i < L; i++) for (let j = 0; j < S; j++) act(h, i, j);
    };
    return {
      grad_output: gradOutput,
      row_dot: rowDot,
      grad_dropped: gradWeights,
      grad_weights: gradWeights,
      grad_masked: gradMasked,
      grad_scaled: gradMasked, // where the mask hides, the weight is exactly 0, and so is this
      grad_scores: gradScores,
      grad_q: summed(L, H, D, (add) =>
        each((h, i, j) => add(gradScores.at(h, i, j), partOf(keys, j, sharedBy(h), D), i, h)),
      ),
      grad_k: summed(S, keyHeads, D, (add) =>
        each((h, i, j) => add(gradScores.at(h, i, j), partOf(queries, i, h, D), j, sharedBy(h))),
      ),
      grad_v: summed(S, keyHeads, Dv, (add) =>
        each((h, i, j) => add(shares.at(h, i, j), gradOutput.row(h, i), j, sharedBy(h))),
      ),
    };
  },

  line(cell) {
    const { index, settings, stage } = cell;
    if (OF_INPUTS.includes(stage)) return ofInput(cell);
    const [head, row, column] = index;
    if (stage === "grad_output") {
      if (settings.heads_off.includes(head)) return nothing("headIsOff", { head });
      const [, , width] = cell.tensor("grad_output").shape;
      return passedOn(cell.input(GRADIENT, row, head * width + column));
    }
    if (stage === "row_dot") {
      const parts = (/** @type {number} */ d) => [
        cell.at("grad_output", head, row, d),
        cell.input(OUTPUT, head, row, d),
      ];
      return products(cell, cell.tensor("grad_output").row(head, row), cell.inputTensor(OUTPUT).row(head, row), parts);
    }
    if (stage === "grad_dropped" || stage === "grad_weights") return helpOfValue(cell);
    if (stage === "grad_scores") {
      const grad = cell.at("grad_scaled", ...index);
      return equal(cell, productText(grad.value, settings.scale), () => [grad]);
    }
    if (stage === "grad_scaled" && settings.keep) {
      const keeps = cell.gradients.pass.attention(cell.forward.name, head).keeps(row);
      return keeps[column] ? passedOn(cell.at("grad_masked", ...index)) : nothing("notKept");
    }
    const [share, grad] = [cell.input(WEIGHTS, ...index), cell.at("grad_weights", ...index)];
    const rowDot = cell.at("row_dot", head, row);
    const text = aboveAverageText(share.value, grad.value, rowDot.value);
    return equal(cell, text, () => [share, grad, rowDot]);
  },
};

/**
 * How much the value of a key helps the query: the gradient of its output times the value.
 *
 * @param {Cell} cell
 * @returns {How}
 */
function helpOfValue(cell) {
  const [head, row, key] = cell.index;
  const gradient = cell.tensor("grad_output").row(head, row);
  const shared = keyHeadOf(cell.forward, head);
  const value = partOf(cell.inputTensor(VALUES), key, shared, gradient.length);
  return products(cell, gradient, value, (d) => [
    cell.at("grad_output", head, row, d),
    cell.input(VALUES, key, shared * gradient.length + d),
  ]);
}

/**
 * A number of grad_q, grad_k or grad_v: -1.5·0 + 1.5·1 = 1.5.
 *
 * @param {Cell} cell
 * @returns {How}
 */
function ofInput(cell) {
  const { forward, stage } = cell;
  const [place, column] = cell.index;
  const isOfQuery = stage === "grad_q";
  const heads = isOfQuery ? forward.heads : forward.keyHeads;
  const width = cell.tensor(stage).shape[1] / heads;
  const [head, d] = [Math.floor(column / width), column % width];
  if (isOfQuery) {
    const first = keyHeadOf(forward, head) * width;
    return products(
      cell,
      cell.tensor("grad_scores").row(head, place),
      cell.inputTensor(KEYS).column(first + d),
      (key) => [cell.at("grad_scores", head, place, key), cell.input(KEYS, key, first + d)],
    );
  }
  // Those who read this key, one head after the other.
  const group = forward.heads / forward.keyHeads;
  const [, L] = cell.inputTensor(WEIGHTS).shape;
  const readers = Array.from({ length: group * L }, (_, n) => [head * group + Math.floor(n / L), n % L]);
  const pairs = readers.map(([h, row]) =>
    stage === "grad_k"
      ? [cell.at("grad_scores", h, row, place), cell.input(QUERIES, row, h * width + d)]
      : [cell.input(WEIGHTS, h, row, place), cell.at("grad_output", h, row, d)],
  );
  const [left, right] = [0, 1].map((side) => pairs.map((pair) => pair[side].value));
  return products(cell, left, right, (n) => pairs[n]);
}
