// Numbers along one, two or three axes: what a backward step takes and makes.

export class Tensor {
  /**
   * @param {number[]} shape
   * @param {Float64Array} [numbers] zeros if they are left out
   */
  constructor(shape, numbers = new Float64Array(shape.reduce((all, size) => all * size, 1))) {
    this.shape = shape;
    this.numbers = numbers;
  }

  /** @param {number[]} index */
  placeOf(index) {
    return index.reduce((at, n, axis) => at * this.shape[axis] + n, 0);
  }

  /** @param {number[]} index */
  at(...index) {
    return this.numbers[this.placeOf(index)];
  }

  /**
   * The numbers along the last axis.
   *
   * @param {number[]} index of the axes before it
   */
  row(...index) {
    const width = this.shape[this.shape.length - 1];
    const start = this.placeOf(index) * width;
    return this.numbers.subarray(start, start + width);
  }

  /**
   * Column n of a table.
   *
   * @param {number} n
   */
  column(n) {
    const [rows, width] = this.shape;
    return Float64Array.from({ length: rows }, (_, t) => this.numbers[t * width + n]);
  }
}

/**
 * @param {number} size
 * @param {(n: number) => number} number
 */
export const vector = (size, number) =>
  new Tensor(
    [size],
    Float64Array.from({ length: size }, (_, n) => number(n)),
  );

/**
 * @param {[rows: number, columns: number]} shape
 * @param {(t: number, n: number) => number} number
 */
export function table(shape, number) {
  const made = new Tensor(shape);
  const [rows, columns] = shape;
  for (let t = 0, at = 0; t < rows; t++) for (let n = 0; n < columns; n++) made.numbers[at++] = number(t, n);
  return made;
}

/**
 * A table for each head.
 *
 * @param {[heads: number, rows: number, columns: number]} shape
 * @param {(h: number, t: number, n: number) => number} number
 */
export function tables(shape, number) {
  const made = new Tensor(shape);
  const [heads, rows, columns] = shape;
  for (let h = 0, at = 0; h < heads; h++) {
    for (let t = 0; t < rows; t++) for (let n = 0; n < columns; n++) made.numbers[at++] = number(h, t, n);
  }
  return made;
}

/** @type {(tensor: Tensor) => [number, number]} */
export const sizeOf = ({ shape: [rows, columns] }) => [rows, columns];

/**
 * The sum of a table's rows.
 *
 * @param {Tensor} tensor
 */
export function sumOfRows(tensor) {
  const [rows, columns] = tensor.shape;
  return vector(columns, (n) => {
    let sum = 0;
    for (let t = 0; t < rows; t++) sum += tensor.numbers[t * columns + n];
    return sum;
  });
}

/** @param {Tensor} tensor */
export const zerosLike = ({ shape }) => new Tensor(shape);
