// The numbers of a station as a strip of ink: a band for each word.

import { paint } from "../pixels.js";

/**
 * @typedef {import("../../core/model/pass.js").Pass} Pass
 * @typedef {import("../../core/model/program.js").Step} Step
 */

const MOST_TALL = 104; // pixels of a strip: of more words each gets less
const [LEAST_BAND, MOST_BAND] = [2, 9]; // pixels of a word in a strip
const AT_ONCE = 16; // rows by which a canvas grows: one that has room is not made anew

/**
 * What comes out, a row for each word.
 * @type {(pass: Pass, step: Step, gradients?: any) => { columns: number, cells: Float64Array, end: number }}
 */
function outputs(pass, step) {
  const [rows, columns] = [pass.length(step.name), step.width];
  const cells = new Float64Array(rows * columns);
  let end = 0;
  for (let t = 0; t < rows; t++) {
    const row = pass.row(step.name, undefined, t);
    cells.set(row, t * columns);
    for (const x of row) if (Math.abs(x) > end) end = Math.abs(x);
  }
  return { columns, cells, end: end || 1 };
}

/** Gradients of what comes out; zeros where there are none. @type {typeof outputs} */
function slopes(pass, step, gradients) {
  const [rows, columns] = [pass.length(step.name), step.width];
  const address = gradients.address(step.name);
  const cells = address ? gradients.tensor(address).numbers : new Float64Array(rows * columns);
  return { columns, cells, end: cells.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1 };
}

/** @type {(element: HTMLElement, height: number) => void} */
function tall({ style }, height) {
  if (style.height !== `${height}px`) style.height = `${height}px`;
}

/** The weights of all heads side by side, a clear column between two. @type {typeof outputs} */
function maps(pass, step) {
  const heads = step.settings.num_heads;
  const [, rows, keys] = pass.shape(step.name, "weights");
  const columns = heads * (keys + 1) - 1;
  const cells = new Float64Array(rows * columns).fill(-Infinity);
  for (let head = 0; head < heads; head++) {
    for (let t = 0; t < rows; t++) {
      cells.set(pass.row(step.name, "weights", t, head), t * columns + head * (keys + 1));
    }
  }
  return { columns, cells, end: 1 };
}

/**
 * Paints a canvas in a box that shows as much of it as there are rows.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Pass} pass
 * @param {Step} step
 * @param {import("../pixels.js").Shades} colours
 * @param {import("../../core/model/backward/gradients.js").Gradients | null} gradients if they are to be shown
 */
export function ink(canvas, pass, step, colours, gradients) {
  const rows = pass.length(step.name);
  const numbers = gradients ? slopes : step.kind.isOfHeads ? maps : outputs;
  const { columns, cells, end } = numbers(pass, step, gradients);
  const room = AT_ONCE * Math.ceil(rows / AT_ONCE);
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== room) canvas.height = room;
  const height = Math.round(rows * Math.max(LEAST_BAND, Math.min(MOST_BAND, MOST_TALL / rows)));
  tall(canvas.parentElement, height);
  tall(canvas, (height * room) / rows);
  paint(canvas.getContext("2d"), cells, columns, end, colours);
}

/**
 * How far what a step gives is from what it gives in another pass of the same words, as a share of how large
 * that is: 0 for the same numbers, 1 and more for others altogether.
 *
 * @param {Pass} pass
 * @param {Pass} other
 * @param {Step} step
 */
export function distance(pass, other, { name, kind }) {
  if (kind.isOfWords) return 0;
  let [far, large] = [0, 0];
  for (let t = 0; t < pass.length(name); t++) {
    const [here, there] = [pass.row(name, undefined, t), other.row(name, undefined, t)];
    if (here === there) continue;
    for (let n = 0; n < here.length; n++) {
      far += (here[n] - there[n]) ** 2;
      large += there[n] ** 2;
    }
  }
  return far ? Math.sqrt(far / (large || far)) : 0;
}
