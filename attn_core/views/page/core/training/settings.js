// What a training may be asked for: its settings, their first values and their checks.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { OPTIMISERS } from "./optimisers.js";
import { REPEATED_SEGMENTS } from "./task.js";

/**
 * @typedef {object} Settings
 * @property {number} seed draws the texts and the first weights
 * @property {number} texts of a step
 * @property {number} width
 * @property {number} layers
 * @property {boolean} isMasked
 * @property {number} every how many steps lie between two frames of the film
 * @property {import("./task.js").Task} task
 * @property {import("./optimisers.js").Optimiser} optimiser
 */

/** @type {Settings} */
export const FIRST = {
  seed: 1,
  texts: 16,
  width: 16,
  layers: 2,
  isMasked: true,
  every: 10,
  task: REPEATED_SEGMENTS,
  optimiser: OPTIMISERS.adamw,
};

/** The least and the most of each whole number. @type {Record<string, [number, number]>} */
const BOUNDS = {
  seed: [0, 2 ** 53 - 1],
  texts: [1, 64],
  width: [1, 64],
  layers: [1, 4],
  every: [1, 1000],
  letters: [2, 26],
  places: [2, 64],
  shortest: [1, 26],
  longest: [1, 26],
};
const FLAGS = ["isMasked", "hasStart"];
const RATES = ["lr", "weightDecay", "eps"];

/**
 * The settings with the first value of each that is left out.
 *
 * @param {Record<string, any>} asked as FIRST; of the task and the optimiser a part is enough, too
 * @returns {Settings}
 */
export function settingsOf({ task = {}, optimiser = {}, ...asked }) {
  const settings = {
    ...complete(FIRST, asked),
    task: complete(REPEATED_SEGMENTS, task),
    optimiser: optimiserOf(optimiser),
  };
  const { shortest, longest, letters } = settings.task;
  if (longest < shortest || longest > letters) {
    throw new Problem(say("segmentMust", { shortest, letters, value: longest }));
  }
  return settings;
}

/**
 * @param {Record<string, any>} asked without a kind it is AdamW
 * @returns {import("./optimisers.js").Optimiser}
 */
export function optimiserOf(asked) {
  const { kind = "adamw" } = asked;
  if (!Object.hasOwn(OPTIMISERS, kind)) throw new Problem(say("optimiserMust", { value: brief(kind) }));
  return complete(OPTIMISERS[kind], asked);
}

/**
 * @template {Record<string, any>} Known
 * @param {Known} first
 * @param {Record<string, any>} asked
 * @returns {Known}
 */
function complete(first, asked) {
  for (const [name, value] of Object.entries(asked)) {
    if (!Object.hasOwn(first, name)) throw new Problem(say("noSettingOf", { name: brief(name) }));
    check(name, value);
  }
  return { ...first, ...asked };
}

/**
 * @param {string} name
 * @param {any} value
 */
function check(name, value) {
  const wrong = (/** @type {string} */ phrase, places = {}) =>
    new Problem(say(phrase, { name, value: brief(value), ...places }));
  if (name in BOUNDS) {
    const [least, most] = BOUNDS[name];
    if (!Number.isInteger(value) || value < least || value > most) throw wrong("wholeFrom", { least, most });
  } else if (FLAGS.includes(name)) {
    if (typeof value !== "boolean") throw wrong("yesOrNo");
  } else if (RATES.includes(name)) {
    if (!Number.isFinite(value) || value < 0) throw wrong("rateMust");
  } else if (name.startsWith("beta")) {
    if (!Number.isFinite(value) || value < 0 || value >= 1) throw wrong("betaMust");
  }
}
