// The functions of attn_core/views/kernels/kernels.ts as plain script: for browsers without SIMD, and as a reference.
//
// Places count bytes in the memory, numbers are float32 there. Sums are float64 here, so results differ from those of
// the other kernels by what float32 rounds away in a sum.

import { bytesOfWeights, dequantise, Q4_1, Q8_0 } from "./formats.js";

/** @typedef {import("./kernels.js").Kernels} Kernels */

/** @implements {Kernels} */
export class PlainKernels {
  /** @param {number} bytes of memory */
  constructor(bytes) {
    this.memory = new ArrayBuffer(bytes);
    this.floats = new Float32Array(this.memory);
    this.start = 0;
  }

  /**
   * @param {number} at
   * @param {number} count
   */
  row(at, count) {
    return this.floats.subarray(at / 4, at / 4 + count);
  }

  /**
   * @param {number} weights
   * @param {number} count
   * @param {number} into
   */
  dequantise(weights, count, into) {
    dequantise(Q8_0, new Uint8Array(this.memory, weights), this.row(into, count));
  }

  /**
   * @param {number} x
   * @param {number} inputs
   * @param {number} weights
   * @param {number} outputs
   * @param {number} y
   */
  scores(x, inputs, weights, outputs, y) {
    this.products(Q8_0, x, 1, inputs, weights, outputs, y);
  }

  /**
   * @param {number} x
   * @param {number} rows
   * @param {number} inputs
   * @param {number} weights
   * @param {number} outputs
   * @param {number} _spare
   * @param {number} y
   */
  matmul(x, rows, inputs, weights, outputs, _spare, y) {
    this.products(Q4_1, x, rows, inputs, weights, outputs, y);
  }

  /**
   * @param {number} kind
   * @param {number} x
   * @param {number} rows
   * @param {number} inputs
   * @param {number} weights
   * @param {number} outputs
   * @param {number} y
   */
  products(kind, x, rows, inputs, weights, outputs, y) {
    const numbers = this.row(x, rows * inputs);
    const weight = new Float32Array(inputs);
    const made = this.row(y, rows * outputs);
    const length = bytesOfWeights(kind, inputs);
    for (let o = 0; o < outputs; o++) {
      dequantise(kind, new Uint8Array(this.memory, weights + o * length, length), weight);
      for (let r = 0, at = 0; r < rows; r++, at += inputs) {
        let sum = 0;
        for (let i = 0; i < inputs; i++) sum += numbers[at + i] * weight[i];
        made[r * outputs + o] = sum;
      }
    }
  }

  /**
   * @param {number} x
   * @param {number} rows
   * @param {number} width
   * @param {number} gain
   * @param {number} eps
   * @param {number} y
   */
  rmsNorm(x, rows, width, gain, eps, y) {
    const gains = this.row(gain, width);
    for (let r = 0; r < rows; r++) {
      const numbers = this.row(x + 4 * r * width, width);
      const made = this.row(y + 4 * r * width, width);
      let squares = 0;
      for (let i = 0; i < width; i++) squares += numbers[i] * numbers[i];
      const root = Math.sqrt(squares / width + eps);
      for (let i = 0; i < width; i++) made[i] = (numbers[i] / root) * gains[i];
    }
  }

  /**
   * @param {number} table
   * @param {number} positions
   * @param {number} headDim
   * @param {number} rates
   */
  rotaryTable(table, positions, headDim, rates) {
    const rate = new Float64Array(this.memory.slice(rates, rates + 4 * headDim));
    for (let position = 0; position < positions; position++) {
      const cosines = this.row(table + 8 * position * headDim, headDim);
      const sines = this.row(table + 8 * position * headDim + 4 * headDim, headDim);
      for (let column = 0; column < headDim; column++) {
        const angle = position * rate[column >> 1];
        cosines[column] = Math.cos(angle);
        sines[column] = column % 2 ? Math.sin(angle) : -Math.sin(angle);
      }
    }
  }

  /**
   * @param {number} x
   * @param {number} rows
   * @param {number} heads
   * @param {number} headDim
   * @param {number} table
   */
  rotate(x, rows, heads, headDim, table) {
    for (let n = 0; n < rows * heads; n++) {
      const numbers = this.row(x + 4 * n * headDim, headDim);
      const rotations = this.row(table + 8 * Math.floor(n / heads) * headDim, 2 * headDim);
      for (let d = 0; d < headDim; d += 2) {
        const [first, second] = [numbers[d], numbers[d + 1]];
        numbers[d] = first * rotations[d] + second * rotations[headDim + d];
        numbers[d + 1] = second * rotations[d + 1] + first * rotations[headDim + d + 1];
      }
    }
  }

  /**
   * @param {number} q
   * @param {number} k
   * @param {number} v
   * @param {number} rows
   * @param {number} first
   * @param {number} heads
   * @param {number} kvHeads
   * @param {number} headDim
   * @param {number} hidden
   * @param {number} _spare
   * @param {number} y
   */
  attend(q, k, v, rows, first, heads, kvHeads, headDim, hidden, _spare, y) {
    const step = kvHeads * headDim;
    const [keys, values] = [k, v].map((at) => this.row(at, (first + rows) * step));
    const weights = new Float64Array(first + rows);
    for (let r = 0; r < rows; r++) {
      const position = first + r;
      const from = Math.min(hidden, position);
      for (let h = 0; h < heads; h++) {
        const query = this.row(q + 4 * (r * heads + h) * headDim, headDim);
        const made = this.row(y + 4 * (r * heads + h) * headDim, headDim);
        const column = Math.floor((h * kvHeads) / heads) * headDim;
        let largest = -Infinity;
        for (let j = from; j <= position; j++) {
          let score = 0;
          for (let d = 0; d < headDim; d++) score += query[d] * keys[j * step + column + d];
          weights[j] = score / Math.sqrt(headDim);
          largest = Math.max(largest, weights[j]);
        }
        let sum = 0;
        for (let j = from; j <= position; j++) {
          weights[j] = Math.exp(weights[j] - largest);
          sum += weights[j];
        }
        for (let d = 0; d < headDim; d++) {
          let mixed = 0;
          for (let j = from; j <= position; j++) mixed += weights[j] * values[j * step + column + d];
          made[d] = mixed / sum;
        }
      }
    }
  }

  /**
   * @param {number} gate
   * @param {number} up
   * @param {number} count
   */
  swiglu(gate, up, count) {
    const [gates, ups] = [this.row(gate, count), this.row(up, count)];
    for (let n = 0; n < count; n++) gates[n] = (gates[n] / (1 + Math.exp(-gates[n]))) * ups[n];
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} count
   */
  add(x, y, count) {
    const [numbers, others] = [this.row(x, count), this.row(y, count)];
    for (let n = 0; n < count; n++) numbers[n] += others[n];
  }
}
