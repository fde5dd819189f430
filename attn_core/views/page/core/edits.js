// Changed inputs as a text: "x.0.2.1:0.5,tokens.1:cat" — a name, a place in its array, a value.

import { brief, say } from "../words/words.js";
import { stored } from "./arrays.js";
import { SIDES } from "./data.js";
import { EditedData } from "./editing.js";
import { numberIn } from "./numbers.js";
import { Problem } from "./problem.js";
import { isWhole, listOf } from "./state.js";
import { visible } from "./visible.js";

/**
 * @typedef {import("./data.js").Data} Data
 * @typedef {import("./arrays.js").NumberArray} NumberArray
 * @typedef {import("./editing.js").Edit} Edit
 */

/** @type {(a: any, b: any) => boolean} */
const same = (a, b) => `${a}` === `${b}`;
/** Whether q, k and v are equal. @type {WeakMap<Data, boolean>} */
const shared = new WeakMap();

/** @type {(data: Data) => boolean | undefined} */
const isShared = (data) => {
  const { H, q, k, v } = data;
  const isQ = (/** @type {NumberArray} */ { shape, numbers }) =>
    same(shape, q.shape) && numbers.every((x, n) => x === q.numbers[n]);
  if (!shared.has(data)) shared.set(data, H === 1 && isQ(k) && isQ(v));
  return shared.get(data);
};

/**
 * The inputs that a reader may change; x without a source stands for q, k and v that are equal.
 *
 * @param {Data} data
 */
export function inputsOf(data) {
  if (data.source) return Object.keys(data.source);
  return isShared(data) ? ["x"] : ["q", "k", "v"];
}
/** @type {(data: Data) => string[]} */
export const tokensOf = (data) => (same(data.queries, data.keys) ? ["tokens"] : ["queries", "keys"]);
/** @type {(name: string) => boolean} */
const isToken = (name) => ["tokens", "queries", "keys"].includes(name);

/**
 * In a value a comma is written %2C.
 *
 * @type {(text: string) => { name: string, place: number[], value: string | number, text: string }}
 */
const read = (text) => {
  const [, name, place, value] = /^(\w+)\.([\d.]+):(.*)$/s.exec(text) || ["", text, "", ""];
  const written = value.replaceAll("%2C", ",").replaceAll("%25", "%");
  return {
    name,
    place: place.split(".").map(Number),
    value: isToken(name) ? written : numberIn(written),
    text: written,
  };
};
/** @type {(edit: string) => [name: string, ...place: any[]]} */
export const placeIn = (edit) => {
  const [name, ...place] = edit.split(".");
  return [name, ...place.map(Number)];
};
/** @type {(name: string, place: number[], value: string | number) => string} */
export const editText = (name, place, value) =>
  `${name}.${place.join(".")}:${String(value).replaceAll("%", "%25").replaceAll(",", "%2C")}`;

/**
 * The array that an input's name stands for, and the place of a number of q, k or v as an input.
 *
 * @type {(data: Data, name: string) => NumberArray}
 */
export const arrayOf = (data, name) =>
  data.source ? data.source[name] : data[/** @type {import("./data.js").Side} */ (name === "x" ? "q" : name)];
/** @type {(data: Data, name: string) => number[]} */
export const shapeOf = (data, name) => {
  const { shape } = arrayOf(data, name);
  return name === "x" && !data.source ? [shape[0], ...shape.slice(2)] : shape;
};
/** @type {(data: Data, name: string, place: number[]) => number} */
export const numberAt = (data, name, place) =>
  arrayOf(data, name).numbers[place.reduce((at, n, axis) => at * shapeOf(data, name)[axis] + n, 0)];

/**
 * The sentence is about the input that was changed, not about what follows from it.
 *
 * @type {(data: Data, name: string, place: number[], value: number, text: string) => void}
 */
function checkNumber(data, name, place, value, text) {
  const shape = shapeOf(data, name);
  if (place.length !== shape.length || !place.every((n, axis) => isWhole(n, shape[axis]))) {
    throw new Problem(say("noNumber", { name: `${name}[${place.join(", ")}]` }));
  }
  const { dtype } = arrayOf(data, name);
  if (Number.isFinite(stored(value, dtype))) return;
  const must = Number.isNaN(value) ? say("number") : say("fits", { dtype });
  throw new Problem(say("mustBe", { name: named(data, name, place), must, value: brief(text) }));
}

/**
 * The data with all changes made; raises a sentence if one can't be.
 *
 * @param {Data} data
 * @param {string} text
 */
export function edited(data, text) {
  const inputs = [...inputsOf(data), ...tokensOf(data)];
  /** @type {Edit[]} */
  const edits = [];
  for (const { name, place, value, text: given } of listOf(text).map(read)) {
    if (!inputs.includes(name)) {
      const must = say("oneOf", { list: inputs.join(", ") });
      throw new Problem(say("mustBe", { name: "edits", must, value: brief(name) }));
    }
    if (value === "") throw new Problem(say("noToken"));
    if (typeof value === "number") checkNumber(data, name, place, value, given);
    if (name === "tokens") for (const side of ["queries", "keys"]) edits.push([side, place, value]);
    else if (name !== "x" || data.source) edits.push([name, place, value]);
    else for (const side of ["q", "k", "v"]) edits.push([side, [place[0], 0, ...place.slice(1)], value]);
  }
  return EditedData.of(data, edits);
}

/**
 * The name of an input as the text of the chapter has it: x[2, 1], without axes of size 1. Of a
 * token also what it is now.
 *
 * @param {Data} data
 * @param {string} name
 * @param {number[]} place
 * @param {string | number} [now]
 * @returns {string}
 */
export function named(data, name, place, now) {
  if (isToken(name)) {
    const tokens = name === "keys" ? data.keys : data.queries;
    return say("token", { name: visible(tokens[place[0]] ?? `${place}`), now: now === undefined ? now : visible(now) });
  }
  const heads = name in SIDES ? data.headsOf(/** @type {import("./data.js").Side} */ (name)) : data.H;
  const leads = [data.B, heads].slice(0, place.length - 2);
  const sent = arrayOf(data, name).heads;
  const shown = place.map((n, axis) => (sent && axis === 1 ? sent[n] : n));
  return `${name}[${shown.filter((_, axis) => axis >= place.length - 2 || leads[axis] > 1).join(", ")}]`;
}
/** @type {(data: Data, text: string) => string[]} */
export const names = (data, text) =>
  listOf(text)
    .map(read)
    .map(({ name, place, value }) => named(data, name, place, value));
