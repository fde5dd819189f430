// A film of a training: the maps of each layer on the example, in 32 bits a weight, and the curves.

import { Kept } from "./kept.js";

const MOST_BYTES = 20e6;

/** @extends {Kept<Float32Array[]>} */
export class Film extends Kept {
  /**
   * @param {number} every
   * @param {number} layers
   * @param {number} cells of a map
   */
  constructor(every, layers, cells) {
    const bytes = layers * cells * Float32Array.BYTES_PER_ELEMENT;
    super(every, Math.floor(MOST_BYTES / bytes));
    this.frameBytes = bytes;
  }

  /**
   * Keeps the maps after a step, if the step is one of the film's; not those of weights that have overflowed.
   *
   * @param {number} step
   * @param {() => Float64Array[]} maps
   */
  look(step, maps) {
    if (!this.isDue(step)) return;
    const frame = maps().map((map) => Float32Array.from(map));
    if (frame.every((map) => map.every(Number.isFinite))) this.add(step, frame);
  }

  get bytes() {
    return this.items.size * this.frameBytes;
  }
}
