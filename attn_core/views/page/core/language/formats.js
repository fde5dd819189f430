// How stored weights become numbers: attn_core/pretrained/gguf.py has the same formulas.

import { half } from "../arrays.js";

export const BLOCK = 32; // weights that share a scale

/** The kinds of weights, by the number that the kernels know them by: the bytes of a block. */
export const Q4_1 = 4;
export const Q8_0 = 8;
/** @type {Record<number, number>} */
const BLOCK_BYTES = { [Q4_1]: 4 + BLOCK / 2, [Q8_0]: 2 + BLOCK };

/**
 * The bytes of some weights.
 *
 * @param {number} kind
 * @param {number} count a multiple of 32
 */
export const bytesOfWeights = (kind, count) => (count / BLOCK) * BLOCK_BYTES[kind];

/**
 * A stored weight: weight = scale · number + least, in float32.
 *
 * @param {number} kind
 * @param {Uint8Array} bytes from the first weight on
 * @param {number} n which weight
 */
export function weightAt(kind, bytes, n) {
  const start = Math.floor(n / BLOCK) * BLOCK_BYTES[kind];
  const place = n % BLOCK;
  const scale = half(bytes[start] + 256 * bytes[start + 1]);
  if (kind === Q8_0) {
    const number = (bytes[start + 2 + place] << 24) >> 24;
    return { scale, least: 0, number, weight: Math.fround(scale * number) };
  }
  const least = half(bytes[start + 2] + 256 * bytes[start + 3]);
  const packed = bytes[start + 4 + (place % 16)];
  const number = place < 16 ? packed & 15 : packed >> 4;
  return { scale, least, number, weight: Math.fround(Math.fround(scale * number) + least) };
}

/**
 * The least of each block of a row.
 *
 * @param {number} kind
 * @param {Uint8Array} bytes from the row's first weight on
 * @param {number} count weights of the row
 */
export function leasts(kind, bytes, count) {
  const least = new Float64Array(count / BLOCK);
  if (kind === Q8_0) return least;
  const step = BLOCK_BYTES[kind];
  return least.map((_, block) => half(bytes[block * step + 2] + 256 * bytes[block * step + 3]));
}

/**
 * All weights of a row, as float32.
 *
 * @param {number} kind
 * @param {Uint8Array} bytes from the row's first weight on
 * @param {Float32Array} into as long as the row
 */
export function dequantise(kind, bytes, into) {
  const step = BLOCK_BYTES[kind];
  for (let n = 0, start = 0; n < into.length; n += BLOCK, start += step) {
    const scale = half(bytes[start] + 256 * bytes[start + 1]);
    if (kind === Q8_0) {
      for (let i = 0; i < BLOCK; i++) into[n + i] = scale * ((bytes[start + 2 + i] << 24) >> 24);
      continue;
    }
    const least = half(bytes[start + 2] + 256 * bytes[start + 3]);
    for (let i = 0; i < BLOCK / 2; i++) {
      const packed = bytes[start + 4 + i];
      into[n + i] = Math.fround(scale * (packed & 15)) + least;
      into[n + i + BLOCK / 2] = Math.fround(scale * (packed >> 4)) + least;
    }
  }
}
