// Which rows a pass can take over from another one, because they cannot differ.

/**
 * @typedef {import("./pass.js").Pass} Pass
 * @typedef {import("./program.js").Step} Step
 *
 * What reaches a step, from itself and from the steps before it.
 * @typedef {object} Reach
 * @property {string} changes those that alter its numbers
 * @property {boolean} isAhead whether a row depends on the target's words behind it
 */

/**
 * How many numbers two lists begin with in common.
 *
 * @param {number[]} a
 * @param {number[]} b
 */
function sharedStart(a, b) {
  const first = a.findIndex((id, n) => id !== b[n]);
  return first < 0 ? a.length : first;
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
export const isSame = (a, b) => a.length === b.length && sharedStart(a, b) === a.length;

/**
 * What reaches each step.
 *
 * @param {Step[]} steps
 * @param {Set<string>} off what is switched off, each as "kind step" or "kind step,head"
 * @param {Record<string, any>[]} settings of each step, with what is switched off
 */
export function reachIn(steps, off, settings) {
  /** @type {Reach[]} */
  const reach = [];
  for (const step of steps) {
    const own = [...off].filter((change) => change.split(/[ ,]/)[1] === step.name);
    const before = step.inputs.map((input) => reach[input.at]);
    const changes = new Set([...own, ...before.flatMap((reached) => reached.changes.split(";"))]);
    const isAhead = step.kind.looksAhead(step, settings[step.at]) || before.some((reached) => reached.isAhead);
    reach.push({ changes: [...changes].filter(Boolean).sort().join(";"), isAhead });
  }
  return reach;
}

/**
 * How many first rows of a step two passes have in common; Infinity if none can differ.
 *
 * @param {Step} step
 * @param {Pass} a
 * @param {Pass} b
 */
export function sharedRows({ at, axis, reads }, a, b) {
  if (a.reach[at].changes !== b.reach[at].changes) return 0;
  if (reads.has("source") && !isSame(a.source, b.source)) return 0;
  if (!reads.has("target") || isSame(a.target, b.target)) return Infinity;
  return axis === "target" && !b.reach[at].isAhead ? sharedStart(a.target, b.target) : 0;
}
