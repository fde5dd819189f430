// Arrays of numbers as a payload has them.

import { Problem } from "./problem.js";

export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const rest = bits & 1023;
  if (power === 31) return NaN; // or an infinity: neither is taken
  return sign * (power ? 2 ** (power - 25) * (1024 + rest) : 2 ** -24 * rest);
}

// A number as an array of its kind holds it, halves in float32.
export const stored = (x, dtype) => (dtype === "float64" ? x : Math.fround(x));

const halves = [];

export function decode(array, name, axes) {
  const kinds = { float16: Uint16Array, float32: Float32Array, float64: Float64Array };
  const Kind = array && kinds[array.dtype];
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
    if (Kind === Uint16Array) halves[held[n]] ??= half(held[n]);
    numbers[n] = Kind === Uint16Array ? halves[held[n]] : held[n];
    if (!Number.isFinite(numbers[n])) throw new Problem(`${name} must be finite`);
  }
  return { ...array, data: null, numbers };
}

export function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}
