// A sum seen at once: what is multiplied, the products as bars, and the bar that they add up to. The
// arithmetic says the same in words, so nobody is read these.

import { plain } from "../core/digits.js";
import { say, sayParts } from "../words/words.js";
import { make, token, visible } from "./dom.js";

const MOST_WRITTEN = 16; // numbers of which each product is written under its bar
const MOST_BARS = 64;
const MOST_SHARES = 32; // of a longer row all parts before and after the marked one are one part each

/**
 * Two rows of numbers that are multiplied one by one, what they add up to, and what becomes of that.
 *
 * @typedef {object} Sum
 * @property {ArrayLike<number>} a
 * @property {ArrayLike<number>} b
 * @property {string[]} colours of a and b
 * @property {string[]} names of a and b
 * @property {[name: string, x: number][]} ends the sum first
 */

/**
 * A bar from zero, up or down, in a well that holds all the others, too.
 *
 * @param {number} x
 * @param {number[]} range from its lowest to its highest
 * @param {string} [colour]
 */
function well(x, [low, high], colour = x < 0 ? "less" : "more") {
  const room = high - low || 1;
  const bar = make("i", { class: `ax-rise ax-on-${colour}` });
  const hidden = make("i", { class: "ax-well ax-masked" });
  if (x === -Infinity) return hidden;
  const top = (high - Math.max(x, 0)) / room;
  Object.assign(bar.style, { top: `${100 * top}%`, height: `${(100 * Math.abs(x)) / room}%` });
  const made = make("i", { class: "ax-well" }, bar);
  made.style.setProperty("--ax-zero", `${(100 * high) / room}%`);
  return made;
}

/** @type {(numbers: number[]) => number[]} */
const rangeOf = (numbers) => {
  const finite = numbers.filter(Number.isFinite);
  return [Math.min(0, ...finite), Math.max(0, ...finite)];
};

/** @type {(sum: Sum, count?: number) => number[]} */
const productsOf = ({ a, b }, count = a.length) => Array.from({ length: count }, (_, n) => a[n] * b[n]);

/**
 * The products under the two rows of a table, each in its column; nothing where they are too many.
 *
 * @param {Sum} sum
 */
export function productRow(sum) {
  const { names, ends } = sum;
  if (sum.a.length > MOST_WRITTEN) return undefined;
  const products = productsOf(sum);
  const range = rangeOf([...products, ...ends.map(([, x]) => x)]);
  const cell = (x) => make("td", {}, well(x, range), plain(x));
  const end = ([name, x]) => make("td", { class: "ax-end" }, well(x, range), make("b", {}, plain(x)), name);
  const title = make("th", {}, names.join(" · "));
  return make("tr", { class: "ax-products", "aria-hidden": "true" }, title, ...products.map(cell), ...ends.map(end));
}

/**
 * The same as bars alone, where the numbers have no room.
 *
 * @param {Sum} sum
 */
export function barsAlone(sum) {
  const { a, b, colours, names, ends } = sum;
  const count = Math.min(a.length, MOST_BARS);
  const products = productsOf(sum, count);
  const range = rangeOf([...products, ...ends.map(([, x]) => x)]);
  const own = (numbers, name, colour) => {
    const all = Array.from({ length: count }, (_, n) => numbers[n]);
    const bars = all.map((x) => well(x, rangeOf(all), colour));
    return [make("span", { class: `ax-${colour}` }, name), make("span", { class: "ax-wells" }, ...bars)];
  };
  const isPart = count < a.length;
  return [
    make("p", {}, say(isPart ? "barsOf" : "bars", { count, all: a.length })),
    ...own(a, names[0], colours[0]),
    make("span"),
    ...own(b, names[1], colours[1]),
    make("span"),
    make("span", {}, names.join("·")),
    make("span", { class: "ax-wells" }, ...products.map((x) => well(x, range))),
    make(
      "span",
      { class: "ax-ends" },
      isPart ? "… " : "",
      ...ends.map(([name, x]) => make("span", {}, well(x, range), make("b", {}, plain(x)), name)),
    ),
  ];
}

/**
 * A row of weights as one bar of length 1, the part of one key marked.
 *
 * @param {import("../core/attention.js").Attention} attention
 * @param {number[]} place
 * @param {boolean} isDropped hatches what does not survive
 */
export function shares(attention, [i, j], isDropped) {
  const { queries, keys } = attention.data;
  const row = [...attention.row("weights", i)];
  const survives = isDropped ? attention.survives(i) : null;
  if (!row.some((x) => x > 0)) return [];
  const part = (x, n, name = "") => {
    const isGone = n >= 0 && survives && !survives[n];
    const made = make("span", { class: `ax-share${n === j ? " ax-here" : ""}${isGone ? " ax-masked" : ""}` }, name);
    made.style.flexGrow = x;
    return made;
  };
  const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);
  const parts =
    row.length > MOST_SHARES
      ? [part(total(row.slice(0, j)), -1), part(row[j], j), part(total(row.slice(j + 1)), -1)]
      : row.map((x, n) => part(x, n, visible(keys[n])));
  const hasSink = attention.sink !== null;
  // Marked as no key is: -1 is no place.
  if (hasSink) parts.push(part(Math.max(0, 1 - total(row)), -1, say("sink")));
  const places = { query: token(queries[i], "q"), key: token(keys[j], "k") };
  return [
    make("div", { class: "ax-shares" }, ...parts),
    make(
      "p",
      {},
      ...sayParts(row[j] > 0 ? `shares${hasSink ? "Sink" : ""}${survives ? "Dropped" : ""}` : "sharesNone", places),
    ),
  ];
}
