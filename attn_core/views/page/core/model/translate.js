// A translation, written word after word.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";

/**
 * @typedef {import("./machine.js").Machine} Machine
 * @typedef {import("./pass.js").Pass} Pass
 *
 * @typedef {{ id: number, word: string, probability: number }} Choice
 * @typedef {Choice & { choices: Choice[], isTaken: boolean }} Written a word, and the likeliest at its place
 *
 * @typedef {object} Translation
 * @property {Written[]} words the end mark last, if it came
 * @property {Pass} pass its row n of probabilities is the one that chose word n
 * @property {boolean} hasEnded
 *
 * @typedef {object} Wish
 * @property {number[]} source
 * @property {Partial<import("./changes.js").Changes>} [changes]
 * @property {Record<number, number>} [taken] by the place of a word the id that is taken instead of the likeliest
 * @property {number} [temperature]
 * @property {number} [most] how many words may be written, the end mark among them
 */

/**
 * All words at one row of a pass with their probabilities, the likeliest first.
 *
 * @param {Pass} pass
 * @param {{ t?: number, temperature?: number }} [how] t: the last row if it is left out
 * @returns {Choice[]}
 */
export function choices(pass, { t = pass.target.length - 1, temperature = 1 } = {}) {
  const { steps, words } = pass.machine;
  const last = steps[steps.length - 1];
  const { shares } = last.kind;
  const fits = shares && last.axis === "target" && last.width === words.target.length;
  if (!fits) throw new Problem("its last step must be a softmax over the words of the target");
  if (!(temperature > 0 && temperature < Infinity))
    throw new Problem(say("noTemperature", { value: brief(temperature) }));
  const scores = pass.row(last.inputs[0].name, undefined, t);
  const probabilities = shares(scores, temperature);
  // By their scores, which a high temperature does not make equal.
  const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
  return order.map((id) => ({ id, word: words.target[id], probability: probabilities[id] }));
}

/**
 * Writes the likeliest word again and again: until the end mark, or as many as may be.
 *
 * @param {Machine} machine
 * @param {Wish} wish
 * @returns {Translation}
 */
export function translate(machine, { source, changes, taken = {}, temperature, most = machine.longest }) {
  const target = [machine.start];
  /** @type {Written[]} */
  const words = [];
  for (;;) {
    const pass = machine.read({ source, target, changes });
    const all = choices(pass, { temperature });
    const wanted = taken[words.length];
    if (wanted !== undefined && !isWhole(wanted, all.length)) {
      throw new Problem(say("noId", { count: all.length, id: brief(wanted) }));
    }
    const chosen = all.find(({ id }) => id === wanted) ?? all[0];
    words.push({ ...chosen, choices: all.slice(0, 5), isTaken: wanted !== undefined });
    const hasEnded = chosen.id === machine.end;
    if (hasEnded || words.length >= Math.min(most, machine.longest)) return { words, pass, hasEnded };
    target.push(chosen.id);
  }
}
