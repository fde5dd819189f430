// Which rows of which steps a row is made of.

/**
 * @typedef {import("../../core/model/pass.js").Pass} Pass
 * @typedef {import("../../core/model/program.js").Step} Step
 */

/**
 * The rows of a query that the mask keeps, in one head or in any.
 *
 * @type {(pass: Pass, step: Step, t: number, head?: number) => number[]}
 */
function kept(pass, { name, settings, inputs }, t, head) {
  const heads = head === undefined ? [...Array(settings.num_heads).keys()] : [head];
  const rows = heads.map((n) => pass.row(name, "weights", t, n));
  return [...Array(pass.length(inputs[1].name)).keys()].filter((j) => rows.some((row) => row[j] > 0));
}

/**
 * By the name of each step that row t of this one is made of, its rows.
 *
 * @param {Pass} pass
 * @param {Step} step
 * @param {number} t
 * @param {number} [head] of attention
 * @returns {Map<string, number[]>}
 */
export function feeding(pass, step, t, head) {
  const [first, second] = step.inputs;
  switch (step.operation) {
    case "words":
      return new Map();
    case "attention": {
      const keys = kept(pass, step, t, head);
      return new Map(step.inputs.map((input, n) => [input.name, n ? keys : [t]]));
    }
    case "gru": {
      const before = t ? [step.name, [t - 1]] : second && [second.name, [0]];
      return new Map(/** @type {[string, number[]][]} */ ([[first.name, [t]], before].filter(Boolean)));
    }
    case "last_row":
      return new Map([[first.name, [pass.length(first.name) - 1]]]);
    case "repeat":
      return new Map([[first.name, [0]]]);
    default:
      return new Map(step.inputs.map((input) => [input.name, [t]]));
  }
}
