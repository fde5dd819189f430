// Probabilities, as they are written beside words.

import { fixed } from "../core/digits.js";

/** @type {(share: number) => string} */
export function percent(share) {
  if (share < 0.0005) return "< 0.1 %";
  if (share > 0.9995 && share < 1) return "> 99.9 %";
  return `${fixed(100 * share, share < 0.0995 || share > 0.9005 ? 1 : 0)} %`;
}
