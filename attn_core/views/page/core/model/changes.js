// What a reader switches off in a model.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";
import { KINDS } from "./declared.js";

/**
 * Steps by the kind of change; heads as [step, head].
 *
 * @typedef {object} Changes
 * @property {[string, number][]} heads_off what these heads give is 0
 * @property {string[]} positions_off x passes on as it is
 * @property {string[]} residuals_off only what the sublayer made passes on
 * @property {string[]} norms_off x passes on as it is
 * @property {string[]} mask_off attention without its mask
 * @property {string[]} scale_off attention with the scale 1
 *
 * @typedef {keyof Changes} Kind
 * @typedef {import("./machine.js").Machine} Machine
 * @typedef {import("./program.js").Step} Step
 * @typedef {{ kind: Kind, step: string, head?: number }} Switch
 */

const OF_HEADS = "heads_off"; // a head at a time, as [step, head]

/**
 * @param {any} value
 * @returns {value is Kind}
 */
function isKind(value) {
  return KINDS.includes(value);
}

/**
 * @param {Machine} machine
 * @param {Kind} kind
 * @param {any} change
 */
function check(machine, kind, change) {
  const [name, head] = kind === OF_HEADS && Array.isArray(change) ? change : [change];
  const step = typeof name === "string" ? machine.byName.get(name) : undefined;
  const isThere = step && Object.hasOwn(step.switches, kind) && (kind !== OF_HEADS || isWhole(head, step.heads));
  if (!isThere) throw new Problem(say("noSwitch", { kind, name: brief(change) }));
}

/**
 * What is wanted, checked, in one order, nothing twice.
 *
 * @param {Machine} machine
 * @param {any} wanted some of the kinds
 * @returns {Changes}
 */
export function changesOf(machine, wanted) {
  for (const [kind, all] of Object.entries(wanted)) {
    if (!isKind(kind) || !Array.isArray(all))
      throw new Problem(say("noSwitch", { kind: brief(kind), name: brief(all) }));
    for (const change of all) check(machine, kind, change);
  }
  /** @param {any[]} all */
  const sorted = (all) =>
    [...new Map(all.map((change) => [`${change}`, change])).entries()].sort().map(([, change]) => change);
  const lists = KINDS.map((kind) => [kind, sorted(wanted[kind] ?? [])]);
  return Object.fromEntries(lists);
}

/**
 * @param {Changes} changes
 * @param {Kind} kind
 * @param {string} step
 * @param {number} [head]
 */
export function isOff(changes, kind, step, head) {
  const wanted = `${head === undefined ? step : [step, head]}`;
  return changes[kind].some((change) => `${change}` === wanted);
}

/**
 * All that would change something in a step if it were switched off.
 *
 * @type {(step: Step) => Switch[]}
 */
export function switchesOf({ name, heads, settings, switches }) {
  const kinds = /** @type {Kind[]} */ (Object.keys(switches));
  return kinds.flatMap((kind) => {
    const sets = switches[kind];
    if (!sets) return [...Array(heads).keys()].map((head) => ({ kind, step: name, head }));
    return Object.keys(sets).some((key) => settings[key] !== sets[key]) ? [{ kind, step: name }] : [];
  });
}

/**
 * The settings of a step with what is switched off.
 *
 * @param {Step} step
 * @param {Changes} changes
 * @returns {Record<string, any>}
 */
export function settingsWith({ name, settings, switches }, changes) {
  const all = { ...settings };
  for (const kind of /** @type {Kind[]} */ (Object.keys(switches))) {
    const sets = switches[kind];
    if (!sets) all[kind] = changes[OF_HEADS].filter(([step]) => step === name).map(([, head]) => head);
    else if (/** @type {any[]} */ (changes[kind]).includes(name)) Object.assign(all, sets);
  }
  return all;
}

/** @param {Changes} changes */
export const isNone = (changes) => Object.values(changes).every((all) => !all.length);

/**
 * The same with one thing switched: on what was off, off what was on.
 *
 * @param {Machine} machine
 * @param {Changes} changes
 * @param {Kind} kind
 * @param {string} step
 * @param {number} [head]
 */
export function switched(machine, changes, kind, step, head) {
  const change = head === undefined ? step : [step, head];
  const others = changes[kind].filter((other) => `${other}` !== `${change}`);
  return changesOf(machine, { ...changes, [kind]: isOff(changes, kind, step, head) ? others : [...others, change] });
}

/**
 * For an address: "heads_off:encoder.0.attention.2,mask_off:decoder.0.self_attention"; "" for none.
 *
 * @param {Changes} changes
 */
export const changesText = (changes) =>
  Object.entries(changes)
    .flatMap(([kind, all]) => all.map((change) => `${kind}:${[change].flat().join(".")}`))
    .join(",");

/**
 * The changes of such a text.
 *
 * @param {Machine} machine
 * @param {string} text
 */
export function changesIn(machine, text) {
  /** @type {Record<string, any[]>} */
  const wanted = {};
  for (const item of text.split(",").filter(Boolean)) {
    const [kind, name = ""] = item.split(":");
    const [, step, head] = (kind === OF_HEADS && /^(.+)\.(\d{1,3})$/.exec(name)) || [];
    if (!isKind(kind)) throw new Problem(say("noSwitch", { kind: brief(kind), name: brief(name) }));
    wanted[kind] = [...(wanted[kind] ?? []), step ? [step, Number(head)] : name];
  }
  return changesOf(machine, wanted);
}
