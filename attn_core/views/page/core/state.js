// The state of an explorer: each setting with its first value, its check, and its text in an address.

import { brief, say } from "../words/words.js";
import { stored } from "./arrays.js";
import { numberIn } from "./numbers.js";
import { Problem } from "./problem.js";

/**
 * What an explorer shows, by the names of its settings.
 *
 * @typedef {Record<string, any>} State
 *
 * @typedef {object} Setting
 * @property {any} first its value at first
 * @property {(value: any, state: State) => unknown} fits may also throw a Problem
 * @property {any[] | ((state: State) => any[])} [must] the phrase, with its places, of what it must be
 * @property {(text: string) => any} [read] how its text in an address is read
 * @property {boolean} [listed] a text with commas, of which the items that fit together are taken
 * @property {boolean} [alters] gives the same cells other numbers
 * @property {string} [phrase] names it in the sentence about what the reader changed
 *
 * @typedef {Record<string, Setting>} Settings
 */

/** @type {(n: number, below: number) => boolean} */
export const isWhole = (n, below) => Number.isInteger(n) && n >= 0 && n < below;
/** @type {(text: string) => number[] | null} */
export const numbersIn = (text) => (text === "" ? null : text.split(",").map(numberIn));
/** @type {(text: string) => string[]} */
export const listOf = (text) => text.split(",").filter(Boolean);
/** @type {(first: string, fits: (text: string) => unknown, ...must: any[]) => Setting} */
export const textSetting = (first, fits, ...must) => ({ first, fits, must });
/** @type {(first: string, list: string[]) => Setting} */
export const oneOf = (first, list) => textSetting(first, (v) => list.includes(v), "oneOf", { list: list.join(", ") });
/** @type {Setting} */
export const flag = { first: false, read: (text) => text === "1", fits: () => true };

/**
 * @param {string} text
 * @param {import("./data.js").Data} data
 */
function isMask(text, data) {
  return text
    .split("+")
    .every(
      (part) =>
        /^(given|none|causal|window:\d{1,6},\d{1,6})$/.test(part) ||
        (/^padding:\d{1,6}(,\d{1,6})*$/.test(part) && part.split(",").length === data.B),
    );
}

/**
 * The settings that every explorer has.
 *
 * @param {import("./data.js").Data} data
 * @param {Settings} [ofView] what a kind of matrix adds
 * @returns {Settings}
 */
export function settingsOf(data, ofView) {
  const { view } = data;
  const { stage = "weights", batch = 0, head = 0, select = null, hide = [] } = view;
  /** @type {(first: number, n: number) => Setting} */
  const below = (first, n) => ({ first, read: numberIn, fits: (v) => isWhole(v, n), must: ["below", { n }] });
  return {
    stage: oneOf(stage, data.stages),
    batch: below(batch, data.B),
    head: below(head, data.H),
    scale: {
      first: data.scale,
      read: numberIn,
      fits: (v) => Number.isFinite(stored(v, data.q.dtype)),
      must: ["fits", { dtype: data.q.dtype }],
      alters: true,
      phrase: "theScale",
    },
    mask: { ...textSetting("given", (v) => isMask(v, data), "maskForm"), alters: true, phrase: "theMask" },
    select: {
      first: select,
      read: numbersIn,
      fits: (v, { stage }) =>
        v === null || (v.length === 2 && isWhole(v[0], data.rowsIn(stage)) && isWhole(v[1], data.columns(stage))),
      must: ({ stage }) => ["rowBelow", { rows: data.rowsIn(stage), width: data.columns(stage) }],
    },
    ...ofView,
    hide: textSetting(hide.join(","), (v) => /^[a-z,]*$/.test(v), "names"),
    all: flag,
  };
}

/**
 * What is wanted (by the reader, an address, Python): the state with what can be taken, and sentences
 * about the rest. `check` raises a sentence about settings that fit one by one, but not together.
 *
 * @param {Settings} settings
 * @param {State} state
 * @param {State} wanted
 * @param {(state: State) => void} check
 * @returns {[State, string[]]}
 */
export function accepted(settings, state, wanted, check) {
  const result = acceptedOneByOne(settings, state, wanted, () => {});
  return problemOf(() => check(result[0])) ? acceptedOneByOne(settings, state, wanted, check) : result;
}

/**
 * The sentence of a problem that an action meets, "" if it meets none.
 *
 * @param {() => void} act
 */
function problemOf(act) {
  try {
    act();
    return "";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message;
  }
}

/**
 * One setting after the other, each checked with those before it.
 *
 * @type {typeof accepted}
 */
function acceptedOneByOne(settings, state, wanted, check) {
  const next = { ...state };
  /** @type {string[]} */
  const refused = [];
  /** @type {(name: string, value: any, raw: any) => string} */
  const why = (name, value, raw) =>
    problemOf(() => {
      const { fits, must } = settings[name];
      if (!fits(value, next)) {
        const [phrase, places] = (typeof must === "function" ? must(next) : must) ?? [];
        throw new Problem(say("mustBe", { name, must: say(phrase, places), value: brief(raw) }));
      }
      check({ ...next, [name]: value });
    });
  /**
   * Of a list that does not fit its first half, then what fits beside that: few trials for many items.
   *
   * @type {(name: string, items: string[], kept: string[]) => string[]}
   */
  const together = (name, items, kept) => {
    const all = [...kept, ...items];
    const sentence = why(name, all.join(","), items[0]);
    if (!sentence) return all;
    if (items.length > 1) {
      const middle = items.length >> 1;
      return together(name, items.slice(middle), together(name, items.slice(0, middle), kept));
    }
    refused.push(sentence);
    return kept;
  };
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(settings, name)) refused.push(say("noSetting", { name: brief(name) }));
  }
  for (const name of Object.keys(settings).filter((name) => Object.hasOwn(wanted, name))) {
    const [raw, { read, listed }] = [wanted[name], settings[name]];
    if (listed) {
      next[name] = together(name, listOf(raw), []).join(",");
      continue;
    }
    const value = read && typeof raw === "string" ? read(raw) : raw;
    const sentence = why(name, value, raw);
    if (sentence) refused.push(sentence);
    else next[name] = value;
  }
  return [next, refused];
}

// What opens a number or further controls leaves the view as it is; `run` says in which of the maps that are shown the
// number is.
const SAME_VIEW = ["all", "select", "run"];

/**
 * What the reader changed, in a sentence; `more` are changes of inputs.
 *
 * @param {Settings} settings
 * @param {State} first
 * @param {State} state
 * @param {string[]} more
 */
export function changes(settings, first, state, more) {
  const differing = Object.keys(settings).filter((name) => `${first[name]}` !== `${state[name]}`);
  const phrases = new Set(differing.map((name) => settings[name].phrase));
  const list = [...more, ...[...phrases].flatMap((phrase) => (phrase ? say(phrase) : []))];
  if (!list.length) return differing.some((name) => !SAME_VIEW.includes(name)) ? say("chose") : "";
  const last = list.pop();
  return say("changed", { list: list.length ? list.join(", ") + say("and") + last : last });
}
