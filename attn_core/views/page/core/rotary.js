// Rotary positions: how attn_core/rotary.py rotates a pair of numbers by its position.

import { written } from "./digits.js";
import { Problem } from "./problem.js";

export const PAIRINGS = ["halves", "interleaved"];

/** Rotates each pair of a head's numbers by position · base^(−2i / head_dim), i its pair. */
export class Rotary {
  /**
   * @param {{ head_dim: number, base: number, pairing: string }} settings
   */
  constructor({ head_dim, base, pairing }) {
    const isRight =
      Number.isInteger(head_dim) && head_dim > 0 && head_dim % 2 === 0 && Number.isFinite(base) && base >= 1;
    if (!isRight || !PAIRINGS.includes(pairing)) {
      throw new Problem("its rotary must have an even head_dim, a base of at least 1 and a pairing");
    }
    this.headDim = head_dim;
    this.base = base;
    this.pairing = pairing;
  }

  /**
   * The pair of a column of rows of heads side by side, and the column of the pair's other number.
   *
   * @param {number} column
   */
  pairOf(column) {
    const d = column % this.headDim;
    const half = this.headDim / 2;
    if (this.pairing === "halves") {
      return { pair: d % half, other: column - d + ((d + half) % this.headDim), isFirst: d < half };
    }
    return { pair: Math.floor(d / 2), other: d % 2 ? column - 1 : column + 1, isFirst: d % 2 === 0 };
  }

  /**
   * In radians.
   *
   * @param {number} place
   * @param {number} pair
   */
  angle(place, pair) {
    return place * this.base ** ((-2 * pair) / this.headDim);
  }

  /**
   * 3 · 10000^(-2 · 1 / 4)
   *
   * @param {number} place
   * @param {number} pair
   */
  angleText(place, pair) {
    return `${written(place)} · ${written(this.base)}^(-2 · ${pair} / ${this.headDim})`;
  }

  /**
   * A number of a row, rotated.
   *
   * @param {(column: number) => number} at the row
   * @param {number} column
   * @param {number} place
   */
  rotated(at, column, place) {
    const { pair, other, isFirst } = this.pairOf(column);
    const angle = this.angle(place, pair);
    const across = at(other) * Math.sin(angle);
    return at(column) * Math.cos(angle) + (isFirst ? -across : across);
  }
}
