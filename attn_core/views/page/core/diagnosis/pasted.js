// What was pasted: nested lists, or rows of numbers, as Python, NumPy, torch, JAX, TensorFlow and MATLAB
// print them, or a spreadsheet. Each step takes time in proportion to the text, whatever it holds.

import { tell } from "../../words/box.js";

/**
 * An array, its cells row by row, and the lists that it is read from.
 *
 * @typedef {{ shape: number[], cells: Float64Array }} Table
 * @typedef {number | any[]} Tree
 */

// What is wrong with it, in one sentence about "yours".
export class Refused extends Error {}

const MOST_LETTERS = 200_000;
const MOST_AXES = 8;
const NUMBER = /^[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf|nan)$/;
const NAME = /^[\w.]+\s*=(?!=)\s*/;
const START =
  /^(?:(?:\w+\.)*(?:tensor|array|Tensor|Array|Parameter containing:\s*tensor)\s*\(|<tf\.(?:Tensor|Variable)[^[]*\bnumpy=\s*(?:array\()?)/;
const SAID = /^\s*(dtype|device|grad_fn|requires_grad|shape|size|weak_type)\s*=/;
// As mathematics and Chinese keyboards write them.
/** @type {Record<string, string>} */
const TYPED = { "−": "-", "–": "-", "－": "-", "∞": "inf", "，": ",", "；": ";" };
// A comma between digits: it stands for a point where something else parts the numbers.
const DECIMAL_COMMA = /^[+-]?\d+(,\d+)?(e[+-]?\d+)?$/i;

/** @type {(what: string, got: string | number) => Refused} */
export const must = (what, got) => new Refused(tell("must", { what, got }));

/**
 * { shape, cells }: the cells row by row.
 *
 * @param {string} text
 * @returns {Table}
 */
export function read(text) {
  if (text.length > MOST_LETTERS) throw must(tell("haveLetters", { most: MOST_LETTERS }), text.length);
  const bare = unwrapped(text.replace(/[−–－∞，；]/g, (sign) => TYPED[sign]).trim());
  if (!bare) throw must(tell("holdNumbers"), tell("nothing"));
  const tree = bare.includes("[") ? (rowsInBrackets(bare) ?? nested(bare)) : lines(bare);
  /** @type {number[]} */
  const cells = [];
  const shape = measure(tree, cells);
  if (shape.length < 2 || shape.includes(0)) throw must(tell("haveTable"), shown(shape));
  return { shape, cells: Float64Array.from(cells) };
}

/** @type {(shape: number[]) => string} */
export const shown = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/**
 * Without what a print has around its brackets: weights = tensor([[1., 0.]], dtype=torch.float64);
 *
 * @param {string} text
 */
function unwrapped(text) {
  const named = text.replace(NAME, "");
  const [start = ""] = START.exec(named) || [];
  let inside = named.slice(start.length);
  for (const end of [";", ">", ")"]) if (inside.endsWith(end)) inside = inside.slice(0, -1).trimEnd();
  const close = inside.lastIndexOf("]") + 1;
  const after = inside
    .slice(close)
    .replace(/=\s*\([^()]*\)/g, "=")
    .split(",")
    .filter((part) => !SAID.test(part));
  return (inside.slice(0, close) + after.join(",")).trim();
}

/** @param {string} given */
function number(given) {
  const word = given.toLowerCase();
  if (!NUMBER.test(word)) throw must(tell("holdNumbers"), tell("quoted", { text: given.slice(0, 30) }));
  if (word.endsWith("nan")) return NaN;
  return word.endsWith("inf") ? (word[0] === "-" ? -Infinity : Infinity) : Number(word);
}

/** @type {(text: string) => string[]} */
const words = (text) => text.split(/[\s,;|]+/).filter(Boolean);

/** @type {(rows: string[][]) => Tree} */
const table = (rows) => rows.filter((row) => row.length).map((row) => row.map(number));

/**
 * Rows without brackets. A comma stands for a point if each could and something else parts the numbers.
 * In a single line a semicolon ends a row where something else parts its numbers.
 *
 * @param {string} text
 * @returns {Tree}
 */
function lines(text) {
  const rows = text.split("\n").map((line) => line.trim());
  const cells = rows.map((row) => row.split(/[\s;|]+/).filter(Boolean));
  const isDecimal =
    text.includes(",") && cells.flat().every((cell) => DECIMAL_COMMA.test(cell)) && cells.some((row) => row.length > 1);
  if (isDecimal) return table(cells.map((row) => row.map((cell) => cell.replace(",", "."))));
  const parts = rows.length === 1 ? rows[0].split(";").map(words) : [];
  return table(parts.some((row) => row.length > 1) ? parts : rows.map(words));
}

/**
 * As in MATLAB: in one pair of brackets, each row ended by a semicolon or a line.
 *
 * @param {string} text
 * @returns {Tree | null}
 */
function rowsInBrackets(text) {
  const inside = text.slice(1, -1);
  const isMatlab = text.startsWith("[") && text.endsWith("]") && !/[[\]]/.test(inside) && inside.includes(";");
  return isMatlab ? table(inside.split(/[;\n]/).map(words)) : null;
}

/**
 * @param {string} text
 * @returns {Tree}
 */
function nested(text) {
  /** @type {any[]} */
  const root = [];
  /** @type {any[][]} */
  const open = [];
  let here = root;
  for (const part of text.split(/([[\]])/)) {
    if (part === "[") {
      if (open.length === MOST_AXES) throw must(tell("haveAxes", { most: MOST_AXES }), tell("more"));
      /** @type {any[]} */
      const inner = [];
      here.push(inner);
      open.push(here);
      here = inner;
    } else if (part === "]") {
      const outer = open.pop();
      if (!outer) throw must(tell("closeBrackets"), tell("closed"));
      here = outer;
    } else for (const word of words(part)) here.push(number(word));
  }
  if (open.length) throw must(tell("closeBrackets"), tell("open", { count: open.length }));
  if (root.length !== 1) throw must(tell("beOne"), root.length);
  return root[0];
}

/**
 * @param {Tree} tree
 * @param {number[]} cells
 * @returns {number[]}
 */
function measure(tree, cells) {
  if (!Array.isArray(tree)) {
    cells.push(tree);
    return [];
  }
  const shapes = tree.map((part) => measure(part, cells));
  if (shapes.some((shape) => String(shape) !== String(shapes[0]))) {
    throw must(tell("haveRows"), tell("ragged"));
  }
  return [tree.length, ...(shapes[0] || [])];
}
