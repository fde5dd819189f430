// Numbers as pixels: what the long map and the small maps of the heads are painted with.

import { Problem, bytesOf } from "./data.js";
import { HEAT, inkOn, mix } from "./heat.js";
import { make } from "./dom.js";

// Rows of cells pooled into rows × columns: the largest, or the mean of those that are kept.
export function pooled(cells, rows, columns, how) {
  const [height, width] = [cells.length, cells[0].length];
  const [found, counts] = [new Float64Array(rows * columns), new Float64Array(rows * columns)];
  if (how === "max") found.fill(-Infinity);
  for (let i = 0; i < height; i++) {
    const start = Math.floor((i * rows) / height) * columns;
    for (let j = 0; j < width; j++) {
      const [x, at] = [cells[i][j], start + Math.floor((j * columns) / width)];
      if (x === -Infinity) continue;
      counts[at]++;
      if (how !== "max") found[at] += x;
      else if (x > found[at]) found[at] = x;
    }
  }
  for (let n = 0; n < found.length; n++) {
    if (!counts[n]) found[n] = -Infinity;
    else if (how !== "max") found[n] /= counts[n];
  }
  return found;
}

// Cells joined two by two, along rows and columns.
export function halved(cells, columns, join, nothing) {
  const [height, width] = [Math.ceil(cells.length / columns / 2), Math.ceil(columns / 2)];
  const made = new Float64Array(height * width).fill(nothing);
  for (let n = 0, i = 0, j = 0; n < cells.length; n++) {
    const at = (i >> 1) * width + (j >> 1);
    made[at] = join(made[at], cells[n]);
    if (++j === columns) [i, j] = [i + 1, 0];
  }
  return made;
}

export const isDark = (element) => {
  const scheme = getComputedStyle(element).colorScheme;
  return scheme === "dark" || (scheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};

// The pooled weights that came with the data, while nothing is changed that they follow from.
export function overviewOf({ data, batch, head, isGiven }, stage, how) {
  if (!isGiven || stage !== "weights" || !data.overview) return null;
  const sent = data.overview[how] || {};
  const { shape = [], scale = [] } = sent;
  const [B, H, rows, columns] = shape;
  const bytes = (sent.bytes ??= bytesOf(sent.data || ""));
  const fits = B === data.B && H === data.H && scale.length === B * H && rows > 0 && bytes.length === B * H * rows * columns;
  if (!fits) throw new Problem("its overview must fit q and k");
  const [at, unit] = [(batch * H + head) * rows * columns, scale[batch * H + head] / 255];
  return { numbers: Float64Array.from(bytes.subarray(at, at + rows * columns), (byte) => byte * unit), columns };
}

// Acts when the element turns light or dark.
export function onTheme(element, act) {
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

// The colours for −1 to 1 in 401 steps, the same as pixels, and the ink on them.
const shadesOf = {};
export const shades = (mode) => (shadesOf[mode] ??= newShades(mode));

function newShades(mode) {
  const colours = Array.from({ length: 401 }, (_, n) => mix(HEAT[mode][n < 200 ? "less" : "more"], Math.abs(n - 200) / 200));
  const pixels = new Uint8Array(colours.flatMap((rgb) => [...rgb, 255]));
  const css = colours.map((rgb) => `rgb(${rgb.join(" ")})`);
  return { css, inks: colours.map(inkOn), pixels: new Uint32Array(pixels.buffer) };
}

export const shadeAt = (share) => Math.round(Math.max(-1, Math.min(1, share)) * 200) + 200;

// Numbers as pixels; a masked one is left clear, so that the hatching shows.
export function paint(context, numbers, columns, end, shades, y = 0) {
  const image = context.createImageData(columns, numbers.length / columns);
  const pixels = new Uint32Array(image.data.buffer);
  for (let n = 0; n < numbers.length; n++) {
    if (numbers[n] !== -Infinity) pixels[n] = shades.pixels[shadeAt(numbers[n] / end)];
  }
  context.putImageData(image, 0, y);
}

export const surface = (width, height) => make("canvas", { width, height }).getContext("2d");
