// What is switched off, as an address has it: "18.6,a3,s18,rotary".

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";

/**
 * A switch: a head "18.6", the attention of a layer "a3", what a layer sees of token 0 "s18", "rotary", and "sink" for
 * token 0 in all layers.
 *
 * @typedef {string} Off
 * @typedef {{ layers: number, heads: number }} Sizes
 */

/** @type {(layer: number, head: number) => Off} */
export const headOff = (layer, head) => `${layer}.${head}`;
/** @type {(layer: number) => Off} */
export const attentionOff = (layer) => `a${layer}`;
/** @type {(layer: number) => Off} */
export const sinkOff = (layer) => `s${layer}`;

/**
 * @param {string} text
 * @param {Sizes} sizes
 * @returns {Off[]} each once, in one order
 */
export function offsIn(text, { layers, heads }) {
  const offs = [...new Set(text.split(",").filter(Boolean))];
  for (const off of offs) {
    const [, kind, layer, head] = /^([as]?)(\d{1,3})(?:\.(\d{1,3}))?$/.exec(off) ?? [];
    const isOfLayer = !!kind && head === undefined;
    const isOfHead = !kind && isWhole(Number(head), heads);
    const isThere = off === "rotary" || off === "sink" || (isWhole(Number(layer), layers) && (isOfLayer || isOfHead));
    if (!isThere) throw new Problem(say("noOff", { off: brief(off), layers, heads }));
  }
  return offs.sort();
}

/** @type {(offs: Off[], off: Off) => string} the text with one of them switched */
export const flipped = (offs, off) =>
  (offs.includes(off) ? offs.filter((other) => other !== off) : [...offs, off]).sort().join(",");

/**
 * As engine.js takes them; nothing is named where all is on.
 *
 * @param {Off[]} offs
 * @param {Sizes} sizes
 * @returns {Partial<import("./switches.js").Switches>}
 */
export function switchesIn(offs, { layers }) {
  const of = (/** @type {string} */ kind) =>
    offs.filter((off) => off[0] === kind && off.length < 5 && off !== "sink").map((off) => Number(off.slice(1)));
  const heads = offs.filter((off) => off.includes(".")).map((off) => off.split(".").map(Number));
  const sinks = offs.includes("sink") ? [...Array(layers).keys()] : of("s");
  return {
    ...(heads.length && { heads_off: /** @type {[number, number][]} */ (heads) }),
    ...(of("a").length && { attention_off: of("a") }),
    ...(offs.includes("rotary") && { rotary_off: true }),
    ...(sinks.length && { sink_off: sinks }),
  };
}
