// A state that is changed word by word, by gates.

import { written } from "../../digits.js";
import { equals, signed } from "./lines.js";
import { rowOf, USUAL } from "./operation.js";
import { affine, affineLine } from "./sums.js";

/**
 * @typedef {import("../../arrays.js").NumberArray} NumberArray
 * @typedef {import("../pass.js").Pass} Pass
 * @typedef {import("../place.js").How} How
 * @typedef {import("../place.js").Place} Place
 * @typedef {import("../program.js").Step} Step
 */

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/**
 * The gates of a GRU and its next state, from its part of the input [3E] and the state before, in torch's order:
 * reset, update, candidate.
 *
 * @param {Float64Array} x
 * @param {Float64Array} before
 * @param {NumberArray} weight
 * @param {NumberArray} bias
 */
function gated(x, before, weight, bias) {
  const E = before.length;
  const recurrent = affine(before, weight, bias);
  const reset = rowOf(E, (n) => sigmoid(x[n] + recurrent[n]));
  const update = rowOf(E, (n) => sigmoid(x[E + n] + recurrent[E + n]));
  const candidate = rowOf(E, (n) => Math.tanh(x[2 * E + n] + reset[n] * recurrent[2 * E + n]));
  const state = rowOf(E, (n) => (1 - update[n]) * candidate[n] + update[n] * before[n]);
  return [recurrent, reset, update, candidate, state];
}

/**
 * The state before row t: at first its start, or zeros.
 *
 * @param {Pass} pass
 * @param {Step} step
 * @param {number} t
 */
function stateBefore(pass, step, t) {
  if (t) return pass.output(step, t - 1);
  return step.inputs[1] ? pass.output(step.inputs[1], 0) : new Float64Array(step.width);
}

/**
 * @param {Place} place
 * @param {number} first the column where the gate begins
 * @returns {How}
 */
function gate(place, first) {
  const at = first + place.col;
  const [x] = place.inputs;
  const text = `σ(${written(place.row(x)[at])} + ${signed(place.own("recurrent")[at])})`;
  return [equals(text, place.value), () => [place.number(x, place.t, at), place.ofStage("recurrent", at)]];
}

/** @type {import("./operation.js").Operation} */
export const gru = {
  ...USUAL,
  width(step) {
    const [x, start] = step.inputs;
    const width = x.width / 3;
    step.must(!start || (start.width === width && start.axis === "one"), "one row as its start");
    return width;
  },
  rows(pass, step, t) {
    const { weight_hh, bias_hh } = step.parameters;
    return gated(pass.output(step.inputs[0], t), stateBefore(pass, step, t), weight_hh, bias_hh);
  },
  madeOf(_pass, step, t) {
    const [x, start] = step.inputs;
    /** @type {[Step, number[]][]} */
    const before = t ? [[step, [t - 1]]] : start ? [[start, [0]]] : [];
    return [[x, [t]], ...before];
  },
  lines: {
    recurrent(place) {
      const { pass, step, t } = place;
      const [, start] = place.inputs;
      const { weight_hh, bias_hh } = step.parameters;
      const line = affineLine(place, stateBefore(pass, step, t), weight_hh, bias_hh);
      if (t) return [line, () => place.shown(step, t - 1)];
      return [line, start && (() => place.shown(start, 0))];
    },

    reset: (place) => gate(place, 0),
    update: (place) => gate(place, place.step.width),

    candidate(place) {
      const { col, inputs, step, t } = place;
      const at = 2 * step.width + col;
      const [a, b] = [place.own("reset")[col], place.own("recurrent")[at]];
      const text = `tanh(${written(place.row(inputs[0])[at])} + ${signed(a, b)}·${signed(b, a)})`;
      const parts = () => [place.number(inputs[0], t, at), place.ofStage("reset"), place.ofStage("recurrent", at)];
      return [equals(text, place.value), parts];
    },

    state(place) {
      const { col, pass, step, t } = place;
      const [, start] = place.inputs;
      const [update, candidate] = [place.own("update")[col], place.own("candidate")[col]];
      const before = signed(stateBefore(pass, step, t)[col]);
      const text = `(1 - ${written(update)})·${signed(candidate)} + ${written(update)}·${before}`;
      const last = () => (t ? [place.number(step, t - 1)] : start ? [place.number(start, 0)] : []);
      return [equals(text, place.value), () => [place.ofStage("update"), place.ofStage("candidate"), ...last()]];
    },
  },
};
