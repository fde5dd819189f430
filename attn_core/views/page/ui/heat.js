// The colours of numbers, light and dark: more ink is more.

/** @typedef {Record<string, Record<string, string[]>>} Ramp */

/** Maps and small maps; views/heat.py draws pictures with the same. @type {Ramp} */
export const HEAT = {
  light: { more: ["#ffffff", "#a98fd8", "#3b1f6b"], less: ["#ffffff", "#dcbc55", "#8a6d00"] },
  dark: { more: ["#1b1b22", "#6d54a3", "#d9c8ff"], less: ["#1b1b22", "#8a7430", "#ffe08a"] },
};

/** Cells with numbers: one ink, --ax-on-heat, reads on all of them (4.5:1). @type {Ramp} */
export const CELLS = {
  light: { more: ["#ffffff", "#bdaeea", "#9474d4"], less: ["#ffffff", "#f4d078", "#bf8d14"] },
  dark: { more: ["#1b1b22", "#3c3170", "#6a55bb"], less: ["#1b1b22", "#54400f", "#80661a"] },
};

/** The same for gradients, whose sign says where a step leads. @type {Ramp} */
export const GRADIENT_HEAT = {
  light: { more: ["#ffffff", "#ee8a6c", "#8a1c10"], less: ["#ffffff", "#7fb2e0", "#0d3b6e"] },
  dark: { more: ["#1b1b22", "#a04a34", "#ffc9b5"], less: ["#1b1b22", "#3a6ea5", "#bfe0ff"] },
};

/** @type {Ramp} */
export const GRADIENT_CELLS = {
  light: { more: ["#ffffff", "#f5b09a", "#e07353"], less: ["#ffffff", "#a3c9ea", "#5b97d2"] },
  dark: { more: ["#1b1b22", "#5c2a20", "#9a4029"], less: ["#1b1b22", "#1f3f5f", "#2a679c"] },
};

/** @type {(hex: string) => number[]} */
export const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/**
 * A colour between three, as red, green and blue.
 *
 * @param {string[]} stops
 * @param {number} t from 0 to 1
 */
export function mix(stops, t) {
  const [from, to, part] = t < 0.5 ? [stops[0], stops[1], t * 2] : [stops[1], stops[2], t * 2 - 1];
  const ends = [channels(from), channels(to)];
  return ends[0].map((c, n) => Math.round(c + (ends[1][n] - c) * part));
}

/** @param {number[]} rgb */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * Ink on a cell: soft black if it reads well (4.5:1), else the better of white and black.
 *
 * @param {number[]} rgb
 */
export function inkOn(rgb) {
  const light = luminance(rgb) + 0.05;
  if (light / (luminance([27, 27, 34]) + 0.05) >= 4.5) return "#1b1b22";
  return 1.05 / light >= light / 0.05 ? "#ffffff" : "#000000";
}

/** @type {Map<Ramp, Record<number, string>>} */
const made = new Map();

/**
 * The background for a share of the legend's end, −1 to 1; CSS picks light or dark.
 *
 * @param {number} share
 * @param {Ramp} ramp
 */
export function heat(share, ramp = CELLS) {
  const step = Math.round(Math.max(-1, Math.min(1, share)) * 200);
  const colours = made.get(ramp) ?? {};
  made.set(ramp, colours);
  if (!colours[step]) {
    const side = step < 0 ? "less" : "more";
    const [light, dark] = ["light", "dark"].map((mode) => mix(ramp[mode][side], Math.abs(step) / 200).join(" "));
    colours[step] = `light-dark(rgb(${light}), rgb(${dark}))`;
  }
  return colours[step];
}
