// Where a step stands in the drawing of the machine: its side, its group, and its names.

import { say, WORDS } from "../../words/words.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 *
 * @typedef {object} Group steps that are drawn in a row: a sublayer, or what stands between two layers
 * @property {string} name
 * @property {"read" | "write"} side
 * @property {Step[]} steps
 */

const LAYER = /^(encoder|decoder)\.(\d+)\.(\w+)/;

/** @type {(step: Step, sides: Map<Step, string>) => "read" | "write"} */
function sideOf(step, sides) {
  // The keys and values of cross-attention are made of what was read, by the layer that writes.
  const [, stack] = LAYER.exec(step.name) ?? [];
  if (stack) return stack === "encoder" ? "read" : "write";
  if (step.kind.isOfWords) return step.settings.side === "source" ? "read" : "write";
  return step.inputs.every((input) => sides.get(input) === "read") && step.axis === "source" ? "read" : "write";
}

/** @type {(name: string) => string} */
const last = (name) => name.split(".").at(-1) ?? name;

/**
 * The steps of a program in groups, in their order.
 *
 * @param {Step[]} steps
 * @returns {Group[]}
 */
export function groupsOf(steps) {
  /** @type {Map<Step, "read" | "write">} */
  const sides = new Map();
  /** @type {Group[]} */
  const groups = [];
  let open = "";
  for (const step of steps) {
    const side = sideOf(step, sides);
    sides.set(step, side);
    const [, stack, layer, part] = LAYER.exec(step.name) ?? [];
    // What closes a sublayer, its sum and its norm, stands in the sublayer's row.
    const name = stack ? (part === "residuals" ? open : `${stack}.${layer}.${part}`) : side;
    const group = groups.at(-1);
    if (group && open === name && group.side === side) group.steps.push(step);
    else groups.push({ name: stack ? name : step.name, side, steps: [step] });
    open = name;
  }
  return groups;
}

/**
 * A heading of a group: "layer 1, self-attention"; nothing for what stands between layers.
 * @type {(group: Group) => string}
 */
export function titleOf({ name }) {
  const [, stack, layer, part] = LAYER.exec(name) ?? [];
  if (!stack) return "";
  return say("layer", { n: Number(layer) + 1, part: say(`part_${part}`) });
}

/**
 * The short name of a station: q, + x, norm.
 *
 * @param {Step} step
 */
export function labelOf({ name, operation }) {
  const key = `station_${last(name)}`;
  return key in WORDS ? say(key) : `station_${operation}` in WORDS ? say(`station_${operation}`) : last(name);
}

/**
 * Where the stations of a group stand: "decoder, layer 1, cross-attention".
 *
 * @param {Group} group
 */
export function groupName(group) {
  const [stack] = group.name.split(".");
  return LAYER.test(group.name) ? say("placeIn", { stack: say(stack), title: titleOf(group) }) : say(group.side);
}

/**
 * Its name in a sentence: "decoder, layer 1, cross-attention: q".
 *
 * @param {Step} step
 * @param {Group} group
 */
export const fullName = (step, group) => say("stationIn", { place: groupName(group), station: labelOf(step) });
