// Probabilities, as they are written beside words. No line ends between a number and its sign.

import { fixed } from "../core/digits.js";

/** @type {(share: number) => string} */
export function percent(share) {
  if (share < 0.0005) return "<\u00a00.1\u00a0%";
  if (share > 0.9995 && share < 1) return ">\u00a099.9\u00a0%";
  return `${fixed(100 * share, share < 0.0995 || share > 0.9005 ? 1 : 0)}\u00a0%`;
}
