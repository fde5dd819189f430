// What a reader can choose of a training, as settings: core/state.js checks them, the address holds them.

import { numberIn } from "../../core/numbers.js";
import { flag, numbersIn, oneOf, textSetting } from "../../core/state.js";
import { OPTIMISERS } from "../../core/training/optimisers.js";

const WEIGHT = /^$|^[\w.]+\/\d{1,4},\d{1,4}$/;
/** What decides which training it is: with another value it begins anew. */
export const BEGIN = ["seed", "layers", "mask", "start"];
/** What changes the steps that follow. */
export const CHANGE = ["optimiser", "rate"];

/**
 * @param {any} asked the settings of the training that Python has, as FIRST of core/training/settings.js
 * @returns {import("../../core/state.js").Settings}
 */
export function settingsOf({ seed, layers, isMasked, task, optimiser }) {
  const isWhole = (n) => Number.isInteger(n) && n >= 0;
  return {
    seed: { first: seed, read: numberIn, fits: (n) => Number.isSafeInteger(n) && n >= 0, must: ["tr_seedForm"] },
    layers: { first: layers, read: numberIn, fits: (n) => n === 1 || n === 2, must: ["oneOf", { list: "1, 2" }] },
    mask: { ...flag, first: isMasked },
    start: { ...flag, first: task.hasStart },
    optimiser: oneOf(optimiser.kind, Object.keys(OPTIMISERS)),
    rate: { first: optimiser.lr, read: numberIn, fits: (x) => Number.isFinite(x) && x >= 0, must: ["tr_rateForm"] },
    layer: { first: layers - 1, read: numberIn, fits: (n) => n === 0 || n === 1, must: ["oneOf", { list: "0, 1" }] },
    select: {
      first: null,
      read: numbersIn,
      fits: (place) => place === null || (place.length === 2 && place.every(isWhole)),
      must: ["tr_placeForm"],
    },
    weight: textSetting("", (text) => WEIGHT.test(text), "tr_weightForm"),
    heat: oneOf("value", ["value", "gradient"]),
  };
}

/**
 * The training that a state asks for.
 *
 * @param {any} asked
 * @param {import("../../core/state.js").State} state
 */
export function askedIn(asked, state) {
  const { seed, layers, mask, start } = state;
  const task = { ...asked.task, hasStart: start };
  return { ...asked, seed, layers, isMasked: mask, task, optimiser: optimiserIn(asked, state) };
}

/**
 * The optimiser of a state: that of Python with another learning rate, or another kind as it is at first.
 *
 * @param {any} asked
 * @param {import("../../core/state.js").State} state
 */
export function optimiserIn(asked, { optimiser: kind, rate: lr }) {
  return kind === asked.optimiser.kind ? { ...asked.optimiser, lr } : { kind, lr };
}
