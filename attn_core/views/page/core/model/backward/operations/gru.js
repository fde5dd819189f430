// Back through the words of a recurrent network, the last first: each state hands on to the one before it. Werbos,
// "Backpropagation through time: what it does and how to do it" (1990).

import { dot } from "../../../arrays.js";
import { written } from "../../../digits.js";
import { keptTerms, sumOfProducts } from "../../../workings.js";
import { result, signed } from "../../operations/lines.js";
import { added, equal, passedOn, products, productText } from "../lines.js";
import { sumOfRows, Tensor, table } from "../tensor.js";

/**
 * @typedef {import("./operation.js").Backward} Backward
 * @typedef {import("../cell.js").Cell} Cell
 * @typedef {import("../cell.js").How} How
 */

const STAGES = ["recurrent", "reset", "update", "candidate", "state"]; // the last inputs
const [UPDATE, CANDIDATE] = [1, 2]; // gates, in the order of their columns; the reset comes first

/** @type {Backward} */
export const gru = {
  formula([gradient, , ...others], { parameters: { weight_hh } }) {
    const [recurrent, reset, update, candidate, state] = others.slice(-STAGES.length);
    const start = others.length > STAGES.length ? others[0] : null;
    const [T, E] = state.shape;
    const made = {
      grad_state: new Tensor([T, E]),
      grad_recurrent: new Tensor([T, 3 * E]),
      grad_before: new Tensor([T, E]),
      grad_input: new Tensor([T, 3 * E]),
    };
    const before = table([T, E], (t, n) => (t ? state.at(t - 1, n) : start ? start.at(0, n) : 0));
    for (let t = T - 1; t >= 0; t--) {
      const [ofState, brought, inside] = [made.grad_state.row(t), made.grad_input.row(t), made.grad_recurrent.row(t)];
      for (let n = 0; n < E; n++) {
        ofState[n] = gradient.at(t, n) + (t < T - 1 ? made.grad_before.at(t + 1, n) : 0);
        const [r, u, c] = [reset.at(t, n), update.at(t, n), candidate.at(t, n)];
        const ofCandidate = ofState[n] * (1 - u) * (1 - c * c);
        brought[n] = ofCandidate * recurrent.at(t, 2 * E + n) * r * (1 - r);
        brought[E + n] = ofState[n] * (before.at(t, n) - c) * u * (1 - u);
        brought[2 * E + n] = ofCandidate;
        inside[n] = brought[n];
        inside[E + n] = brought[E + n];
        inside[2 * E + n] = ofCandidate * r;
      }
      const handed = made.grad_before.row(t);
      for (let n = 0; n < E; n++) handed[n] = ofState[n] * update.at(t, n) + dot(inside, columnOf(weight_hh, n));
    }
    const columns = Array.from({ length: 3 * E }, (_, n) => made.grad_recurrent.column(n));
    return {
      ...made,
      grad_start: new Tensor([1, E], made.grad_before.row(0).slice()),
      grad_weight_hh: table([3 * E, E], (m, n) => dot(columns[m], before.column(n))),
      grad_bias_hh: sumOfRows(made.grad_recurrent),
    };
  },

  line(cell) {
    const { stage } = cell;
    if (stage === "grad_start") return passedOn(cell.at("grad_before", ...cell.index));
    if (stage === "grad_weight_hh" || stage === "grad_bias_hh") return ofParameter(cell);
    const [row, column] = cell.index;
    const [T, E] = cell.tensor("grad_state").shape;
    if (stage === "grad_state") {
      const gradient = cell.input(0, row, column);
      if (row === T - 1) return passedOn(gradient);
      const later = cell.at("grad_before", row + 1, column);
      return equal(cell, `${written(gradient.value)} + ${signed(later.value)}`, () => [gradient, later]);
    }
    if (stage === "grad_before") return ofStateBefore(cell);
    const [gate, n] = [Math.floor(column / E), column % E];
    if (stage === "grad_input") return ofGate(cell, gate, n);
    const brought = cell.at("grad_input", row, column);
    if (gate !== CANDIDATE) return passedOn(brought);
    const reset = ofForward(cell, "reset", row, n);
    return equal(cell, productText(brought.value, reset.value), () => [brought, reset]);
  },
};

/**
 * @param {import("../../../arrays.js").NumberArray} matrix
 * @param {number} n
 */
function columnOf({ numbers, shape: [rows, columns] }, n) {
  return Float64Array.from({ length: rows }, (_, m) => numbers[m * columns + n]);
}

/**
 * A number of what the word brought to a gate: through its σ or tanh.
 *
 * @param {Cell} cell
 * @param {number} gate
 * @param {number} n
 * @returns {How}
 */
function ofGate(cell, gate, n) {
  const [row] = cell.index;
  const state = cell.at("grad_state", row, n);
  const [candidate, update] = [ofForward(cell, "candidate", row, n), ofForward(cell, "update", row, n)];
  if (gate === CANDIDATE) {
    const text = `${signed(state.value)} · (1 - ${signed(update.value)}) · (1 - (${written(candidate.value)})²)`;
    return equal(cell, text, () => [state, update, candidate]);
  }
  if (gate === UPDATE) {
    const before = stateBefore(cell, row, n);
    const share = signed(update.value);
    const above = `${written(before?.value ?? 0)} - ${signed(candidate.value)}`;
    const text = `${signed(state.value)} · (${above}) · ${share} · (1 - ${share})`;
    return equal(cell, text, () => [state, ...(before ? [before] : []), candidate, update]);
  }
  const [, E] = cell.tensor("grad_state").shape;
  const ofCandidate = cell.at("grad_input", row, CANDIDATE * E + n);
  const recalled = ofForward(cell, "recurrent", row, CANDIDATE * E + n);
  const reset = ofForward(cell, "reset", row, n);
  const share = signed(reset.value);
  const text = `${productText(ofCandidate.value, recalled.value)} · ${share} · (1 - ${share})`;
  return equal(cell, text, () => [ofCandidate, recalled, reset]);
}

/**
 * What a state hands on to the one before: by the update, and by all gates.
 *
 * @param {Cell} cell
 * @returns {How}
 */
function ofStateBefore(cell) {
  const [row, column] = cell.index;
  const [state, update] = [cell.at("grad_state", row, column), ofForward(cell, "update", row, column)];
  const inside = cell.tensor("grad_recurrent").row(row);
  const sum = sumOfProducts(inside, columnOf(cell.parameters.weight_hh, column), undefined, undefined, cell.most);
  const own = `${signed(state.value)}·${signed(update.value)} + `;
  const gates = () => keptTerms(inside.length, cell.most).map((n) => cell.at("grad_recurrent", row, n));
  return [[[own], ...sum, [" = "], result(cell.value)], () => [state, update, ...gates()]];
}

/**
 * A product for each word; of a bias the gradients alone.
 *
 * @param {Cell} cell
 * @returns {How}
 */
function ofParameter(cell) {
  const [made, column] = cell.index;
  const gradients = cell.tensor("grad_recurrent").column(made);
  const gradient = (/** @type {number} */ row) => cell.at("grad_recurrent", row, made);
  if (cell.stage === "grad_bias_hh") return added(cell, gradients, gradient);
  const states = Array.from(gradients, (_, row) => stateBefore(cell, row, column));
  const numbers = states.map((state) => state?.value ?? 0);
  return products(cell, gradients, numbers, (row) => {
    const state = states[row];
    return state ? [gradient(row), state] : [gradient(row)];
  });
}

/**
 * A number of a stage of the forward step.
 *
 * @param {Cell} cell
 * @param {string} stage
 * @param {number[]} index
 */
const ofForward = (cell, stage, ...index) =>
  cell.input(cell.step.inputs.length - STAGES.length + STAGES.indexOf(stage), ...index);

/**
 * The state before a word; none where it starts from nothing, which counts as 0.
 *
 * @param {Cell} cell
 * @param {number} row
 * @param {number} column
 */
function stateBefore(cell, row, column) {
  if (row > 0) return ofForward(cell, "state", row - 1, column);
  return cell.forward.inputs[1] ? cell.input(2, 0, column) : null;
}
