// Small pictures of numbers: a canvas with a pixel a number, which CSS makes large.

import { make } from "../dom.js";
import { isDark, paint, shades } from "../pixels.js";

export const picture = (more = {}) => make("canvas", { width: 1, height: 1, class: "at-map", ...more });

/** @param {Element} element */
export const coloursOf = (element) => shades(isDark(element) ? "dark" : "light");

/**
 * @param {any} canvas
 * @param {ArrayLike<number>} numbers
 * @param {number} columns
 * @param {number} end where the colours end
 * @param {import("../pixels.js").Shades} colours
 */
export function show(canvas, numbers, columns, end, colours) {
  const rows = numbers.length / columns;
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
  paint(canvas.getContext("2d"), numbers, columns, end || 1, colours);
}

/** The largest size of some numbers. @param {ArrayLike<number>} numbers */
export function largest(numbers) {
  let most = 0;
  for (let n = 0; n < numbers.length; n++) most = Math.max(most, Math.abs(numbers[n]));
  return most;
}
