// Products of rows with a matrix, and the two products of their way back. A matrix has a row for each number that it
// makes, as torch keeps it. Four sums at a time, or each addition would wait for the one before.

/**
 * rows·matrixᵀ, added to what is there.
 *
 * @param {Float64Array} rows [count, inner]
 * @param {Float64Array} matrix [outer, inner]
 * @param {number} inner
 * @param {number} outer
 * @param {Float64Array} into [count, outer]
 */
export function product(rows, matrix, inner, outer, into) {
  const end = outer - (outer % 4);
  for (let row = 0, made = 0; row < rows.length; row += inner, made += outer) {
    for (let o = 0; o < end; o += 4) {
      const a = o * inner;
      const b = a + inner;
      const c = b + inner;
      const d = c + inner;
      let sumA = 0;
      let sumB = 0;
      let sumC = 0;
      let sumD = 0;
      for (let i = 0; i < inner; i++) {
        const x = rows[row + i];
        sumA += x * matrix[a + i];
        sumB += x * matrix[b + i];
        sumC += x * matrix[c + i];
        sumD += x * matrix[d + i];
      }
      into[made + o] += sumA;
      into[made + o + 1] += sumB;
      into[made + o + 2] += sumC;
      into[made + o + 3] += sumD;
    }
    for (let o = end; o < outer; o++) {
      let sum = 0;
      for (let i = 0; i < inner; i++) sum += rows[row + i] * matrix[o * inner + i];
      into[made + o] += sum;
    }
  }
  return into;
}

/**
 * What flows back to the rows: gradient·matrix, added to what is there.
 *
 * @param {Float64Array} gradient [count, outer]
 * @param {Float64Array} matrix [outer, inner]
 * @param {number} inner
 * @param {number} outer
 * @param {Float64Array} into [count, inner]
 */
export function toRows(gradient, matrix, inner, outer, into) {
  for (let row = 0, from = 0; row < into.length; row += inner, from += outer) {
    addMixed(gradient, from, 1, outer, matrix, inner, into, row);
  }
  return into;
}

/**
 * What flows back to the matrix: gradientᵀ·rows, added to what is there.
 *
 * @param {Float64Array} gradient [count, outer]
 * @param {Float64Array} rows [count, inner]
 * @param {number} inner
 * @param {number} outer
 * @param {Float64Array} into [outer, inner]
 */
export function toMatrix(gradient, rows, inner, outer, into) {
  for (let o = 0; o < outer; o++) {
    addMixed(gradient, o, outer, rows.length / inner, rows, inner, into, o * inner);
  }
  return into;
}

/**
 * Rows times a number each, added to one row: factors[first], factors[first + stride], … belong to row 0, 1, …
 *
 * @param {Float64Array} factors
 * @param {number} first
 * @param {number} stride
 * @param {number} count of rows
 * @param {Float64Array} rows [count, inner]
 * @param {number} inner
 * @param {Float64Array} into
 * @param {number} at where the one row begins
 */
function addMixed(factors, first, stride, count, rows, inner, into, at) {
  const end = count - (count % 4);
  for (let n = 0; n < end; n += 4) {
    const f = first + n * stride;
    const fA = factors[f];
    const fB = factors[f + stride];
    const fC = factors[f + 2 * stride];
    const fD = factors[f + 3 * stride];
    const a = n * inner;
    const b = a + inner;
    const c = b + inner;
    const d = c + inner;
    for (let i = 0; i < inner; i++) {
      into[at + i] += fA * rows[a + i] + fB * rows[b + i] + fC * rows[c + i] + fD * rows[d + i];
    }
  }
  for (let n = end; n < count; n++) {
    const factor = factors[first + n * stride];
    for (let i = 0; i < inner; i++) into[at + i] += factor * rows[n * inner + i];
  }
}
