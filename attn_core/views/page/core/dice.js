// Throws that are counted, not drawn from a generator: those of dice.py.

import { philox } from "./philox.js";

/**
 * The first 32-bit words of a series.
 *
 * @param {number} seed below 2**53
 * @param {number} series
 * @param {number} count
 * @param {number} kind what is drawn: series of one kind have nothing in common with those of another
 */
export function randomWords(seed, series, count, kind = 0) {
  const words = new Float64Array(Math.ceil(count / 4) * 4);
  const key = [seed % 2 ** 32, Math.floor(seed / 2 ** 32)];
  for (let block = 0; 4 * block < words.length; block++) words.set(philox([block, series, 0, kind], key), 4 * block);
  return words.subarray(0, count);
}

export class Dice {
  /** @param {Float64Array} words as many as it is thrown */
  constructor(words) {
    this.words = words;
    this.thrown = 0;
  }

  /**
   * A whole number from 0 on and below n.
   *
   * @param {number} n
   */
  below(n) {
    return Math.floor((this.words[this.thrown++] * n) / 2 ** 32);
  }

  /**
   * Different items of a list.
   *
   * @template Item
   * @param {Item[]} items
   * @param {number} count
   */
  pick(items, count) {
    const left = items.slice();
    return Array.from({ length: count }, () => left.splice(this.below(left.length), 1)[0]);
  }
}
