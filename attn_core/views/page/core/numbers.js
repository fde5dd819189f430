// Numbers as people write them.

const DECIMAL = "[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?";
const WRITTEN = new RegExp(`^(${DECIMAL})(?:/(${DECIMAL}))?$`, "i");

/**
 * 0.5, −2, 1/3, 2e-3; NaN if it is not a number.
 *
 * @param {string} text
 */
export function numberIn(text) {
  const [, above, below = 1] = WRITTEN.exec(text.trim().replace(/[−–]/g, "-")) || [];
  return above === undefined ? NaN : Number(above) / Number(below);
}
