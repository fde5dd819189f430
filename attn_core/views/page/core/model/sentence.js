// A reader's sentence: its words, and their ids in the model's list.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";

const FARTHEST = 2; // letters by which a word may differ from what somebody meant

/**
 * @typedef {import("./machine.js").Machine} Machine
 * @typedef {import("./machine.js").Side} Side
 */

/**
 * The words of a typed text, without what stands between them.
 *
 * @param {string} text
 */
export const wordsIn = (text) =>
  text
    .normalize("NFC")
    .split(/[\s,.!?;:，。！？；：、]+/)
    .filter(Boolean);

/**
 * The words that somebody may type: all but the marks.
 *
 * @param {Machine} machine
 * @param {Side} [side]
 */
export function knownWords({ words, marks }, side = "source") {
  const others = Object.values(marks);
  return words[side].filter((word) => !others.includes(word));
}

/**
 * How many letters one must put in, take out or change to make one word of another.
 *
 * @param {string} a
 * @param {string} b
 */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (letter === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

/**
 * The known words that begin with a text; if there are none, those that look like it, the nearest first.
 *
 * @param {Machine} machine
 * @param {string} text
 * @param {Side} [side]
 * @param {number} [most]
 */
export function fitting(machine, text, side = "source", most = 5) {
  const typed = text.toLowerCase();
  const known = knownWords(machine, side);
  const begun = known.filter((word) => word.toLowerCase().startsWith(typed));
  if (begun.length || typed.length > 40) return begun.slice(0, most);
  return known
    .map((word) => ({ word, far: distance(typed, word.toLowerCase()) }))
    .filter(({ far }) => far <= FARTHEST)
    .sort((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ word }) => word);
}

/**
 * The id of each word; large letters count as small ones where no other word is meant.
 *
 * @param {Machine} machine
 * @param {string[]} words
 * @param {Side} [side]
 */
export function idsOf(machine, words, side = "source") {
  if (!words.length) throw new Problem(say("noWords"));
  const { longest } = machine;
  if (words.length > longest) throw new Problem(say("tooManyWords", { most: longest, count: words.length }));
  const known = knownWords(machine, side);
  return words.map((word) => {
    const alike = known.filter((other) => other.toLowerCase() === word.toLowerCase());
    const meant = known.includes(word) ? word : alike.length === 1 && alike[0];
    if (meant) return machine.words[side].indexOf(meant);
    const list = fitting(machine, word, side).join(", ");
    throw new Problem(say(list ? "unknownWordNear" : "unknownWord", { word: brief(word), list }));
  });
}
