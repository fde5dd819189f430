// Which weights survive dropout: the bits of dropout.py.

import { parts } from "./parts.js";

/**
 * The high 32 bits of a product; Math.imul has the low ones.
 *
 * @param {number} a
 * @param {number} b
 */
export function highBits(a, b) {
  return Math.floor(((a >>> 16) * b + Math.floor(((a & 0xffff) * b) / 0x10000)) / 0x10000);
}

/**
 * Philox 4x32-10: four random 32-bit words for a counter of four words.
 *
 * @param {number[]} counter
 * @param {number[]} key
 */
export function philox([c0, c1, c2, c3], [k0, k1]) {
  for (let round = 0; round < 10; round++) {
    const [high0, high1] = [highBits(0xd2511f53, c0), highBits(0xcd9e8d57, c2)];
    const [low0, low1] = [Math.imul(0xd2511f53, c0) >>> 0, Math.imul(0xcd9e8d57, c2) >>> 0];
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    [k0, k1] = [(k0 + 0x9e3779b9) >>> 0, (k1 + 0xbb67ae85) >>> 0];
  }
  return [c0, c1, c2, c3];
}

/**
 * A 1 for each weight of a row that survives.
 *
 * @param {import("./data.js").Dropout} dropout
 * @param {number} b
 * @param {number} h
 * @param {number} i
 * @param {number} count
 */
export function survivors({ p, seed }, b, h, i, count) {
  const key = [seed % 2 ** 32, Math.floor(seed / 2 ** 32)];
  const threshold = Math.floor(p * 2 ** 32);
  const survives = new Uint8Array(count);
  for (let j = 0; j < count; j += 4) {
    const words = philox([j / 4, i, h, b], key);
    for (let n = 0; n < 4 && j + n < count; n++) survives[j + n] = words[n] >= threshold ? 1 : 0;
  }
  return survives;
}

parts.philox = survivors;
