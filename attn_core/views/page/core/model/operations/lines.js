// What the lines of several operations have in common: those of attn_core/steps.

import { say } from "../../../words/words.js";
import { written } from "../../digits.js";
import { factor } from "../../workings.js";

/**
 * @typedef {import("../place.js").How} How
 * @typedef {import("../../workings.js").Line} Line
 * @typedef {import("../place.js").Place} Place
 * @typedef {import("../program.js").Step} Step
 */

/** @type {(x: number) => [string, string]} */
export const result = (x) => [written(x), "result"];
/** @type {(text: string, x: number) => Line} */
export const equals = (text, x) => [[`${text} = `], result(x)];
/** @type {(x: number, beside?: number) => string} */
export const signed = (x, beside) => factor(x, undefined, beside)[0];

/**
 * A number that is taken over from a step as it is.
 *
 * @param {Place} place
 * @param {Step} step
 * @param {number} [t]
 * @param {number} [col]
 * @returns {How}
 */
export const passedOn = (place, step, t, col) => [[result(place.value)], () => [place.number(step, t, col)]];

/**
 * @param {Place} place
 * @param {Step} step whose number passes on
 * @param {string} what the phrase that says what is switched off
 * @returns {How}
 */
export function switchedOff(place, step, what) {
  const [how, parts] = passedOn(place, step);
  return [[...how, [say(what)]], parts];
}
