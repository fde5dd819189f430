// What the page knows of an operation, as most have it: a file for each operation or family says what is different
// there, and list.js names them all. How many inputs it takes, its settings and its stages: declared.js.

/**
 * @typedef {import("../../arrays.js").NumberArray} NumberArray
 * @typedef {import("../pass.js").Pass} Pass
 * @typedef {import("../place.js").How} How
 * @typedef {import("../place.js").Place} Place
 * @typedef {import("../place.js").Term} Term
 * @typedef {import("../program.js").Step} Step
 *
 * @typedef {object} Operation
 * @property {(step: Step) => number} width how many columns its output has; refuses a step that it cannot compute
 * @property {(pass: Pass, step: Step, t: number) => Float64Array[]} rows row t of each of its stages
 * @property {Record<string, (place: Place) => How | Term>} lines the arithmetic of a number, by its stage
 * @property {(step: Step) => import("../program.js").Axis} axis which sentence gives it its rows
 * @property {(pass: Pass, step: Step, t: number, head?: number) => [Step, number[]][]} madeOf the steps that row t is
 * made of, each with its rows
 * @property {(step: Step, settings: Record<string, any>) => boolean} looksAhead whether a row depends on what stands
 * behind it in the target, when all steps before it look back only
 * @property {(pass: Pass, step: Step, index: number[]) => Record<string, number>} statistics of a row, by their
 * names: its index is [row], of heads [head, row]
 * @property {(x: Float64Array, temperature?: number) => Float64Array} [shares] of a row that goes in, if that is
 * what it makes
 * @property {boolean} isOfWords whether it gives the number of a word, which is no row of numbers
 * @property {boolean} takesWords whether that is what goes in
 * @property {boolean} isOfHeads whether it is an attention: all of its stages but the last are those of its heads
 */

/** @type {Omit<Operation, "rows" | "lines">} */
export const USUAL = {
  width: ({ inputs: [x] }) => x.width,
  axis: ({ inputs: [x] }) => x.axis,
  madeOf: (_pass, { inputs }, t) => inputs.map((input) => [input, [t]]),
  looksAhead: () => false,
  statistics: () => ({}),
  isOfWords: false,
  takesWords: false,
  isOfHeads: false,
};

/**
 * The columns of an operation on two rows, number by number.
 *
 * @param {Step} step
 */
export function widthOfBoth(step) {
  const [x, y] = step.inputs;
  step.must(x.width === y.width && x.axis === y.axis, "two inputs of one shape");
  return x.width;
}

/**
 * @param {number} width
 * @param {(n: number) => number} number
 */
export function rowOf(width, number) {
  const row = new Float64Array(width);
  for (let n = 0; n < width; n++) row[n] = number(n);
  return row;
}

/**
 * A row of a matrix.
 *
 * @param {NumberArray} matrix
 * @param {number} n
 */
export const rowIn = ({ numbers, shape }, n) => numbers.subarray(n * shape[1], (n + 1) * shape[1]);
