// Texts that repeat a segment: the task of learning/task.py.

import { Dice, randomWords } from "../dice.js";

/**
 * @typedef {object} Task
 * @property {number} letters how many different ones
 * @property {number} places of a text
 * @property {number} shortest segment
 * @property {number} longest segment
 * @property {boolean} hasStart whether a text begins with a start token, which is the last of the vocabulary
 *
 * @typedef {object} Text
 * @property {number[]} ids one more than the model reads: each is what the place before it predicts
 * @property {number} segment how many letters are repeated
 *
 * @typedef {object} Batch
 * @property {Int32Array} ids what the model reads, [texts, length]
 * @property {Int32Array} targets what each place predicts
 * @property {number[]} segments of each text
 * @property {number} length of a text, its start token counted
 * @property {number} start how many start tokens a text has
 */

/** @type {Task} */
export const REPEATED_SEGMENTS = { letters: 8, places: 12, shortest: 3, longest: 6, hasStart: false };

/** @param {Task} task */
export const vocabularySize = ({ letters, hasStart }) => letters + Number(hasStart);

/** @param {Task} task */
export const textLength = ({ places, hasStart }) => places + Number(hasStart);

/**
 * Text `number` of a seed.
 *
 * @param {Task} task
 * @param {number} seed
 * @param {number} number
 * @returns {Text}
 */
export function textOf({ letters, places, shortest, longest, hasStart }, seed, number) {
  const dice = new Dice(randomWords(seed, number, longest + 1));
  const segment = shortest + dice.below(longest - shortest + 1);
  const picked = dice.pick([...Array(letters).keys()], segment);
  const repeated = Array.from({ length: places + 1 }, (_, i) => picked[i % segment]);
  return { ids: hasStart ? [letters, ...repeated] : repeated, segment };
}

/**
 * A text that no training of a seed reaches.
 *
 * @param {Task} task
 * @param {number} seed
 */
export const exampleOf = (task, seed) => textOf(task, seed, 2 ** 32 - 1);

/**
 * Texts side by side, as a model reads them.
 *
 * @param {Task} task
 * @param {Text[]} texts
 * @returns {Batch}
 */
export function batchOf(task, texts) {
  const length = textLength(task);
  const ids = new Int32Array(texts.length * length);
  const targets = new Int32Array(texts.length * length);
  for (const [b, text] of texts.entries()) {
    ids.set(text.ids.slice(0, length), b * length);
    targets.set(text.ids.slice(1), b * length);
  }
  return { ids, targets, segments: texts.map(({ segment }) => segment), length, start: Number(task.hasStart) };
}

/**
 * Whether a place predicts a letter that its text has not had. The first repeated letter is neither this nor a repeat:
 * nobody can know that the segment ends there.
 *
 * @param {Batch} batch
 * @param {number} b
 * @param {number} t
 */
export const isFirst = ({ segments, start }, b, t) => t >= start && t < start + segments[b] - 1;

/**
 * Whether a place predicts a letter that follows from the text before it.
 *
 * @param {Batch} batch
 * @param {number} b
 * @param {number} t
 */
export const isRepeat = ({ segments, start }, b, t) => t >= start + segments[b];

/** What stands for the start token. */
export const START = "BOS";

/**
 * The tokens of ids, as a reader sees them.
 *
 * @param {Task} task
 * @param {ArrayLike<number>} ids
 */
export const tokensOf = ({ letters }, ids) =>
  Array.from(ids, (id) => (id === letters ? START : String.fromCharCode("A".charCodeAt(0) + id)));

/**
 * The least mean loss over places that predict a letter for the first time: whoever knows which letters were said has
 * the others left, all equally likely.
 *
 * @param {Task} task
 */
export function possibleLoss({ letters, shortest, longest }) {
  let [sum, count] = [0, 0];
  for (let segment = shortest; segment <= longest; segment++) {
    for (let said = 1; said < segment; said++) {
      sum += Math.log(letters - said);
      count += 1;
    }
  }
  return count ? sum / count : 0;
}
