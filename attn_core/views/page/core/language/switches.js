// What a reader switches off in a language model.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";

/**
 * Layers and heads count from 0.
 *
 * @typedef {object} Switches
 * @property {[number, number][]} heads_off what these heads of a layer give is 0
 * @property {number[]} attention_off these layers add nothing of their attention
 * @property {boolean} rotary_off queries and keys have no positions
 * @property {number[]} sink_off in these layers only token 0 itself sees token 0
 */

/** @type {Switches} */
export const ALL_ON = { heads_off: [], attention_off: [], rotary_off: false, sink_off: [] };

/**
 * What is wanted, checked; what it does not name is on.
 *
 * @param {import("./shape.js").Shape} shape
 * @param {any} wanted some of the switches
 * @returns {Switches}
 */
export function switchesOf({ layers, heads }, wanted) {
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(ALL_ON, name)) throw new Problem(say("noSwitchOf", { name: brief(name) }));
  }
  const { heads_off, attention_off, rotary_off, sink_off } = { ...ALL_ON, ...wanted };
  for (const head of listed("heads_off", heads_off)) {
    const isThere = Array.isArray(head) && head.length === 2 && isWhole(head[0], layers) && isWhole(head[1], heads);
    if (!isThere) throw new Problem(say("noHeadOf", { layers, heads, head: brief(head) }));
  }
  for (const layer of [...listed("attention_off", attention_off), ...listed("sink_off", sink_off)]) {
    if (!isWhole(layer, layers)) throw new Problem(say("noLayerOf", { last: layers - 1, layer: brief(layer) }));
  }
  if (typeof rotary_off !== "boolean") {
    throw new Problem(say("isYesOrNo", { name: "rotary_off", value: brief(rotary_off) }));
  }
  return { heads_off, attention_off, rotary_off, sink_off };
}

/**
 * @param {string} name
 * @param {any} list
 * @returns {any[]}
 */
function listed(name, list) {
  if (!Array.isArray(list)) throw new Problem(say("noSwitchOf", { name: `${name}: ${brief(list)}` }));
  return list;
}
