// Arrays of numbers as a payload has them.

import { Problem } from "./problem.js";

/**
 * An array of a payload, and the same decoded.
 *
 * @typedef {{ dtype: string, shape: number[], data: string, heads?: number[] }} SentArray
 * @typedef {{ dtype: string, shape: number[], numbers: Float64Array, heads?: number[] }} NumberArray
 * heads: of a large record only the values of some heads may have been sent
 */

/** @param {string} base64 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// What the last bit of a number of 16 bits is worth, by its exponent.
const UNITS = Float64Array.from({ length: 31 }, (_, power) => 2 ** (Math.max(power, 1) - 25));

/** @param {number} bits a number of 16 bits */
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const rest = bits & 1023;
  if (power === 31) return NaN; // or an infinity: neither is taken
  return sign * UNITS[power] * (power ? 1024 + rest : rest);
}

/**
 * A number as an array of its kind holds it, halves in float32.
 *
 * @param {number} x
 * @param {string} dtype
 */
export const stored = (x, dtype) => (dtype === "float64" ? x : Math.fround(x));

/** @type {Record<string, Uint16ArrayConstructor | Float32ArrayConstructor | Float64ArrayConstructor>} */
const KINDS = { float16: Uint16Array, float32: Float32Array, float64: Float64Array };

/**
 * @param {SentArray & { numbers?: Float64Array }} array one that is decoded already is taken as it is
 * @param {string} name for sentences about what is wrong with it
 * @param {number} axes
 * @returns {NumberArray}
 */
export function decode(array, name, axes) {
  if (array?.numbers instanceof Float64Array) return /** @type {any} */ (array);
  const Kind = array && KINDS[array.dtype];
  if (!Kind || !Array.isArray(array.shape) || array.shape.length !== axes) {
    throw new Problem(`${name} must be a float array with ${axes} axes`);
  }
  const bytes = bytesOf(array.data);
  const count = array.shape.reduce((a, b) => a * b, 1);
  if (!(count > 0) || bytes.length !== count * Kind.BYTES_PER_ELEMENT) {
    throw new Problem(`${name} must hold the numbers of its shape ${array.shape.join("×")}`);
  }
  const held = new Kind(bytes.buffer);
  const numbers = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    numbers[n] = Kind === Uint16Array ? half(held[n]) : held[n];
    if (!Number.isFinite(numbers[n])) throw new Problem(`${name} must be finite`);
  }
  const { dtype, shape, heads } = array;
  return { dtype, shape, heads, numbers };
}

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}
