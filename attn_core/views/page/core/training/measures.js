// What the maps of a batch say of an induction head and of a sink: learning/measures.py.

import { isFirst, isRepeat } from "./task.js";

/**
 * How much of its weight a map gives, on average, to the places that matter.
 *
 * @typedef {object} Shares
 * @property {number} previous to the place before, over all letters but the first
 * @property {number} copied to the letters after earlier ones like the query's, over the repeats
 * @property {number} startAtFirst to the start token, over places that predict a letter for the first time
 * @property {number} startAtRepeats to the start token, over the repeats
 */

/**
 * @param {Float64Array} weights [texts, length, length]
 * @param {import("./task.js").Batch} batch
 * @returns {Shares}
 */
export function sharesOf(weights, batch) {
  const { segments, length, start } = batch;
  const [previous, copied, startAtFirst, startAtRepeats] = [new Mean(), new Mean(), new Mean(), new Mean()];
  for (const [b, segment] of segments.entries()) {
    for (let t = start; t < length; t++) {
      const row = (b * length + t) * length;
      if (t > start) previous.add(weights[row + t - 1]);
      if (start && isFirst(batch, b, t)) startAtFirst.add(weights[row]);
      if (!isRepeat(batch, b, t)) continue;
      if (start) startAtRepeats.add(weights[row]);
      let sum = 0;
      for (let j = t - segment + 1; j >= start; j -= segment) if (j < t) sum += weights[row + j];
      copied.add(sum);
    }
  }
  return {
    previous: previous.value,
    copied: copied.value,
    startAtFirst: startAtFirst.value,
    startAtRepeats: startAtRepeats.value,
  };
}

/**
 * The loss over places that predict a letter for the first time, and over repeats.
 *
 * @param {Float64Array} losses of each place
 * @param {import("./task.js").Batch} batch
 */
export function lossesOf(losses, batch) {
  const [first, repeats] = [new Mean(), new Mean()];
  for (let at = 0; at < losses.length; at++) {
    const [b, t] = [Math.floor(at / batch.length), at % batch.length];
    if (isFirst(batch, b, t)) first.add(losses[at]);
    if (isRepeat(batch, b, t)) repeats.add(losses[at]);
  }
  return { first: first.value, repeats: repeats.value };
}

class Mean {
  sum = 0;
  count = 0;

  /** @param {number} number */
  add(number) {
    this.sum += number;
    this.count += 1;
  }

  /** 0 of nothing. */
  get value() {
    return this.count ? this.sum / this.count : 0;
  }
}
