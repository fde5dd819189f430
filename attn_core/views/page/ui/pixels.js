// Numbers as pixels: what the long map and the small maps of the heads are painted with.

import { make } from "./dom.js";
import { HEAT, inkOn, mix } from "./heat.js";

/** @type {(element: Element) => boolean} */
export const isDark = (element) => {
  const scheme = getComputedStyle(element).colorScheme;
  return scheme === "dark" || (scheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};

/** @typedef {{ css: string[], inks: string[], pixels: Uint32Array }} Shades */

/**
 * Acts when the element turns light or dark.
 *
 * @param {Element} element
 * @param {() => void} act
 */
export function onTheme(element, act) {
  /** @type {boolean | null} */
  let was = null;
  const look = () => {
    const is = isDark(element);
    if (was !== null && is !== was) act();
    was = is;
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);
  const observer = new MutationObserver(look);
  for (const root of [document.documentElement, document.body]) observer.observe(root, { attributes: true });
  requestAnimationFrame(look);
}

/** @type {Map<Record<string, string[]>, Shades>} */
const made = new Map();

/**
 * The colours for −1 to 1 in 401 steps, the same as pixels, and the ink on them.
 *
 * @param {string} mode "light" or "dark"
 * @param {import("./heat.js").Ramp} ramp
 * @returns {Shades}
 */
export function shades(mode, ramp = HEAT) {
  const known = made.get(ramp[mode]) ?? newShades(ramp[mode]);
  made.set(ramp[mode], known);
  return known;
}

/** @param {Record<string, string[]>} sides */
function newShades(sides) {
  const colours = Array.from({ length: 401 }, (_, n) => mix(sides[n < 200 ? "less" : "more"], Math.abs(n - 200) / 200));
  const pixels = new Uint8Array(colours.flatMap((rgb) => [...rgb, 255]));
  const css = colours.map((rgb) => `rgb(${rgb.join(" ")})`);
  return { css, inks: colours.map(inkOn), pixels: new Uint32Array(pixels.buffer) };
}

/** @type {(share: number) => number} */
export const shadeAt = (share) => Math.round(Math.max(-1, Math.min(1, share)) * 200) + 200;

/**
 * Numbers as pixels; a masked one is left clear, so that the hatching shows.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {ArrayLike<number>} numbers
 * @param {number} columns
 * @param {number} end where the colours end
 * @param {Shades} shades
 * @param {{ x?: number, y?: number }} at
 */
export function paint(context, numbers, columns, end, shades, { x = 0, y = 0 } = {}) {
  const image = context.createImageData(columns, numbers.length / columns);
  const pixels = new Uint32Array(image.data.buffer);
  for (let n = 0; n < numbers.length; n++) {
    if (numbers[n] !== -Infinity) pixels[n] = shades.pixels[shadeAt(numbers[n] / end)];
  }
  context.putImageData(image, x, y);
}

/** @type {(width: number, height: number) => CanvasRenderingContext2D} */
export const surface = (width, height) => make("canvas", { width, height }).getContext("2d");
