// Two runs, cell by cell: the first minus the second, in each stage.

/**
 * Both attentions under the same settings, and what their runs are called.
 *
 * @typedef {object} Runs
 * @property {import("./attention.js").Attention[]} both
 * @property {string[]} names
 */

/** @type {(a: number, b: number) => number} */
const minus = (a, b) => (a === -Infinity && b === -Infinity ? a : a - b);

/**
 * The formulas of the difference. A cell that both masks hide stays hidden.
 *
 * @param {Runs} runs
 * @returns {Record<string, import("./formulas.js").Formula>}
 */
export function differences({ both: [first, second] }) {
  /** @type {(stage: string) => import("./formulas.js").Formula} */
  const of = (stage) => (_attention, i) => {
    const [row, other] = [first.row(stage, i), second.row(stage, i)];
    return Float64Array.from(row, (x, j) => minus(x, other[j]));
  };
  return Object.fromEntries(Object.keys(first.formulas).map((stage) => [stage, of(stage)]));
}

/**
 * By how much a row of weights differs: the share that went to other keys, 0 to 1.
 *
 * @param {Runs} runs
 * @param {number} i
 */
export function distance({ both: [first, second] }, i) {
  const [row, other] = [first.row("weights", i), second.row("weights", i)];
  let sum = 0;
  for (let j = 0; j < row.length; j++) sum += Math.abs(row[j] - other[j]);
  return sum / 2;
}
