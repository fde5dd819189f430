// Arrays of numbers as a payload has them.

import { Problem } from "./problem.js";

/**
 * An array of a payload, and the same decoded.
 *
 * @typedef {{ dtype: string, shape: number[], data: string, data85?: string, heads?: number[] }} SentArray
 * @typedef {{ dtype: string, shape: number[], numbers: Float64Array, heads?: number[], halves?: Uint16Array }} NumberArray
 * numbers: those of a language model's heads are a Float32Array, which takes half the memory; heads: of a large record
 * only the values of some heads may have been sent; halves: of a large array what its numbers are decoded from, of
 * which a part can be asked for alone
 */

const MOST_DECODED = 2 ** 22; // of more numbers of 16 bits each is decoded when it is asked for

/** @param {string} base64 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array} bytes */
export const base64Of = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

// The letters of base85, as views/payload.py has them: those that stand for themselves in JSON and in a script.
const LETTERS = Uint8Array.from({ length: 127 }, (_, n) => n).filter(
  (n) => n > 32 && !"\"&'/<>\\`|".includes(String.fromCharCode(n)),
);

/**
 * Five letters for four bytes, most significant first; what is left of the last four is not wanted.
 *
 * @param {string} text
 * @param {number} count of bytes
 */
export function bytesOf85(text, count) {
  const values = new Uint8Array(127).fill(85);
  for (const [value, letter] of LETTERS.entries()) values[letter] = value;
  const view = new DataView(new ArrayBuffer(Math.floor(text.length / 5) * 4));
  for (let n = 0, at = 0; at < view.byteLength; at += 4) {
    let word = 0;
    for (let end = n + 5; n < end; n++) word = word * 85 + values[text.charCodeAt(n)];
    view.setUint32(at, word);
  }
  return new Uint8Array(view.buffer, 0, Math.min(count, view.byteLength));
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
  if (array && "halves" in array) return /** @type {any} */ (array);
  if (ArrayBuffer.isView(array?.numbers)) return /** @type {any} */ (array);
  const Kind = array && KINDS[array.dtype];
  if (!Kind || !Array.isArray(array.shape) || array.shape.length !== axes) {
    throw new Problem(`${name} must be a float array with ${axes} axes`);
  }
  const count = array.shape.reduce((a, b) => a * b, 1);
  const { data, data85 } = array;
  const bytes = data85 ? bytesOf85(data85, count * Kind.BYTES_PER_ELEMENT) : bytesOf(data);
  if (!(count > 0) || bytes.length !== count * Kind.BYTES_PER_ELEMENT) {
    throw new Problem(`${name} must hold the numbers of its shape ${array.shape.join("×")}`);
  }
  const held = new Kind(bytes.buffer, 0, count);
  if (held instanceof Uint16Array && count > MOST_DECODED) return decodedLater(array, name, held);
  const numbers = held instanceof Uint16Array ? decoded(held) : new Float64Array(held);
  for (let n = 0; n < count; n++) if (!Number.isFinite(numbers[n])) throw new Problem(`${name} must be finite`);
  const { dtype, shape, heads } = array;
  return { dtype, shape, heads, numbers };
}

/** @type {Float64Array | undefined} each number of 16 bits: to look it up takes a tenth of the time */
let table;

/**
 * Numbers of 16 bits as float64.
 *
 * @param {Uint16Array} halves
 */
export function decoded(halves) {
  table ??= Float64Array.from({ length: 2 ** 16 }, (_, bits) => half(bits));
  const numbers = new Float64Array(halves.length);
  for (let n = 0; n < numbers.length; n++) numbers[n] = table[halves[n]];
  return numbers;
}

/**
 * @param {SentArray} array
 * @param {string} name
 * @param {Uint16Array} halves
 * @returns {NumberArray}
 */
function decodedLater({ dtype, shape, heads }, name, halves) {
  for (let n = 0; n < halves.length; n++) {
    if (((halves[n] >> 10) & 31) === 31) throw new Problem(`${name} must be finite`);
  }
  /** @type {Float64Array | undefined} */
  let all;
  return {
    dtype,
    shape,
    heads,
    halves,
    get numbers() {
      all ??= decoded(halves);
      return all;
    },
  };
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
