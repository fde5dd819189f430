// Stored weights as the arrays that the operations of a model take: decoded row by row, when somebody asks.

import { bytesOfWeights, dequantise, leasts, weightAt } from "./formats.js";

/** @typedef {import("../arrays.js").NumberArray} NumberArray */

/** Rows of a matrix in the kernels' memory, still quantised. */
export class StoredMatrix {
  /**
   * @param {number} kind of formats.js
   * @param {number[]} shape [outputs, inputs]
   * @param {() => Uint8Array} bytes of all its rows
   */
  constructor(kind, shape, bytes) {
    this.dtype = "float32";
    this.kind = kind;
    this.shape = shape;
    this.bytes = bytes;
    // What rowIn of operation.js asks for.
    this.numbers = { subarray: (/** @type {number} */ from, /** @type {number} */ to) => this.between(from, to) };
  }

  /**
   * Weights of whole blocks, as all rows are.
   *
   * @param {number} from
   * @param {number} to
   */
  between(from, to) {
    const numbers = new Float32Array(to - from);
    dequantise(this.kind, this.bytes().subarray(bytesOfWeights(this.kind, from)), numbers);
    return new Float64Array(numbers);
  }

  /** @param {number} n */
  row(n) {
    return this.between(n * this.shape[1], (n + 1) * this.shape[1]);
  }

  /**
   * The least of each block of a row.
   *
   * @param {number} n
   */
  leasts(n) {
    const [, inputs] = this.shape;
    return leasts(this.kind, this.bytes().subarray(bytesOfWeights(this.kind, n * inputs)), inputs);
  }

  /**
   * How a weight is stored.
   *
   * @param {number} row
   * @param {number} column
   */
  at(row, column) {
    return weightAt(this.kind, this.bytes(), row * this.shape[1] + column);
  }

  /** @returns {NumberArray} */
  get array() {
    return /** @type {any} */ (this);
  }
}

/** The weight of a linear or an embed step. @type {(step: import("../model/program.js").Step) => StoredMatrix} */
export const matrixOf = ({ parameters }) => /** @type {any} */ (parameters.weight);

/**
 * Gains in the kernels' memory, float32.
 *
 * @param {number} width
 * @param {() => Uint8Array} bytes
 * @returns {NumberArray}
 */
export function storedGain(width, bytes) {
  /** @type {Float64Array | undefined} */
  let all;
  const gain = {
    dtype: "float32",
    shape: [width],
    get numbers() {
      const { buffer, byteOffset } = bytes();
      all ??= new Float64Array(new Float32Array(buffer, byteOffset, width));
      return all;
    },
  };
  return /** @type {any} */ (gain);
}
