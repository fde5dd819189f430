// What a reader can choose of a model, as settings: core/state.js checks them, the address holds them.

import { changesIn, changesText } from "../../core/model/changes.js";
import { idsOf, wordsIn } from "../../core/model/sentence.js";
import { numberIn } from "../../core/numbers.js";
import { Problem } from "../../core/problem.js";
import { isWhole, numbersIn } from "../../core/state.js";
import { brief, say } from "../../words/words.js";

const MOST_HEAT = 10; // the largest temperature
const TRAIL = /^$|^(all|\d{1,4})(,(all|\d{1,4}))*$/;

/**
 * @typedef {import("../../core/model/machine.js").Machine} Machine
 * @typedef {import("../../core/state.js").State} State
 */

/**
 * Words that were taken instead of the likeliest: "1:猫,3:狗" by their places.
 *
 * @param {Machine} machine
 * @param {string} text
 * @returns {Record<number, number>} the word's id by its place
 */
export function takenIn(machine, text) {
  /** @type {Record<number, number>} */
  const taken = {};
  for (const part of text.split(",").filter(Boolean)) {
    const [place, word] = part.split(/:(.*)/s);
    const id = machine.words.target.indexOf(word);
    if (!/^\d{1,2}$/.test(place) || id < 0) throw new Problem(say("takenForm"));
    taken[Number(place)] = id;
  }
  return taken;
}

/**
 * @param {Machine} machine
 * @param {Record<number, number>} taken
 */
export const takenText = (machine, taken) =>
  Object.entries(taken)
    .map(([place, id]) => `${place}:${machine.words.target[id]}`)
    .join(",");

/**
 * The number whose gradients are shown: "probabilities:2,7".
 *
 * @param {Machine} machine
 * @param {string} text
 */
export function lossIn(machine, text) {
  const [, name, row, column] = /^([^:]+):(\d{1,3}),(\d{1,5})$/.exec(text) ?? [];
  const step = machine.byName.get(name);
  if (!step || step.kind.isOfWords || Number(column) >= step.width) throw new Problem(say("lossForm"));
  return { name, index: [Number(row), Number(column)] };
}

/**
 * What a model shows at first must be there, or a sentence says what is not.
 *
 * @param {Machine} machine
 * @param {any} view
 */
export function checkView(machine, view) {
  if (typeof view?.say !== "string" || !machine.byName.has(view.at)) throw new Problem(say("viewForm"));
  const { examples = [], arcs, explorer = {}, select = null, show = [], together = "" } = view;
  const isText = (text) => typeof text === "string";
  const texts = ["taken", "off", "stage", "loss"].map((name) => view[name] ?? "");
  const isRight = [
    Array.isArray(examples) && Array.isArray(show),
    [...[examples, show].flat(), ...texts, together].every(isText),
    explorer !== null && typeof explorer === "object",
    select === null || Array.isArray(select),
    Number.isInteger(view.longest_trained ?? 1),
  ];
  if (!isRight.every(Boolean)) throw new Problem(say("viewForm"));
  for (const { step, head } of arcs ? [arcs.within ?? {}, arcs.across ?? {}] : []) {
    const { kind, heads } = machine.step(step);
    if (!kind.isOfHeads || !isWhole(head, heads)) throw new Problem(say("viewForm"));
  }
  for (const [name, { first, fits }] of Object.entries(settingsOf(machine, view))) {
    if (!fits(first, {})) throw new Problem(say("viewHas", { name, value: brief(first) }));
  }
}

/**
 * @param {Machine} machine
 * @param {State} view what is chosen at first
 * @returns {import("../../core/state.js").Settings}
 */
export function settingsOf(machine, view) {
  const names = new Set(machine.steps.map(({ name }) => name));
  const { at } = view;
  const heads = Math.max(...machine.steps.map(({ settings }) => settings.num_heads ?? 1));
  const count = {
    read: numberIn,
    fits: (/** @type {number} */ n) => Number.isInteger(n) && n >= 0 && n <= machine.longest,
    must: /** @type {[string, object]} */ (["writtenForm", { most: machine.longest }]),
  };
  return {
    // An address may write a space as a plus.
    say: {
      first: view.say,
      read: (text) => text.replaceAll("+", " "),
      fits: (text) => idsOf(machine, wordsIn(text)),
      alters: true,
    },
    taken: { first: view.taken ?? "", fits: (text) => takenIn(machine, text), alters: true },
    written: { ...count, first: view.written ?? 0 },
    // Whose likeliest are shown, from 1; 0 is none that the reader chose.
    word: { ...count, first: 0 },
    off: {
      first: changesText(changesIn(machine, view.off ?? "")),
      fits: (text) => changesIn(machine, text),
      alters: true,
    },
    loss: { first: view.loss ?? "", fits: (text) => text === "" || lossIn(machine, text) },
    temperature: {
      first: view.temperature ?? 1,
      read: numberIn,
      fits: (t) => t > 0 && t <= MOST_HEAT,
      must: ["temperatureForm", { most: MOST_HEAT }],
    },
    at: { first: at, fits: (name) => names.has(name), must: ["stationForm"] },
    stage: { first: view.stage ?? "", fits: (name) => /^\w*$/.test(name), must: ["stageForm"] },
    head: {
      first: view.head ?? view.select?.at?.(-3) ?? 0,
      read: numberIn,
      fits: (head) => isWhole(head, heads),
      must: ["below", { n: heads }],
    },
    select: {
      first: view.select ?? null,
      read: numbersIn,
      fits: (place) => place === null || (place.length <= 3 && place.every((n) => Number.isInteger(n) && n >= 0)),
      must: ["selectForm"],
    },
    // The parts that were opened one in the other, below the selected number: lines.js.
    trail: { first: "", fits: (text) => TRAIL.test(text), must: ["trailForm"] },
  };
}
