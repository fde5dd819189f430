// The colours of the cells, light and dark. views/heat.py draws with the same.

/** @type {Record<string, Record<string, string[]>>} */
export const HEAT = {
  light: { more: ["#ffffff", "#a98fd8", "#3b1f6b"], less: ["#ffffff", "#dcbc55", "#8a6d00"] },
  dark: { more: ["#1b1b22", "#6d54a3", "#d9c8ff"], less: ["#1b1b22", "#8a7430", "#ffe08a"] },
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

export const PLAIN = ["", ""]; // a masked cell is hatched by its class
/** @type {Map<number, string[]>} */
export const heatCache = new Map();

/**
 * [background, ink] for a share of the legend's end, −1 to 1; CSS picks light or dark.
 *
 * @param {number} share
 */
export function heat(share) {
  const step = Math.round(Math.max(-1, Math.min(1, share)) * 200);
  if (!heatCache.has(step)) {
    const side = step < 0 ? "less" : "more";
    const [light, dark] = ["light", "dark"].map((mode) => mix(HEAT[mode][side], Math.abs(step) / 200));
    heatCache.set(step, [
      `light-dark(rgb(${light.join(" ")}), rgb(${dark.join(" ")}))`,
      `light-dark(${inkOn(light)}, ${inkOn(dark)})`,
    ]);
  }
  return heatCache.get(step);
}
