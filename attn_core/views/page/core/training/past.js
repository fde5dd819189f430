// What a page knows of a training: the losses and the frames that it was told. Steps to which it went back stay known
// as long as the same steps would come again.

/**
 * @typedef {import("./session.js").News} News
 * @typedef {import("./training.js").Entry} Entry
 */

export class Past {
  constructor() {
    /** How many steps the weights have had. */
    this.count = 0;
    /** Of each step, also of those after `count`. @type {Entry[]} */
    this.entries = [];
    /** By step. @type {Map<number, Float32Array[]>} */
    this.frames = new Map();
    this.every = 1;
    /** The steps after which the optimiser was changed. @type {number[]} */
    this.changes = [];
  }

  /** The last step that is known. */
  get furthest() {
    return this.entries.length;
  }

  /** @param {News} news */
  take({ count, entries, frames, every }) {
    for (const entry of entries) this.entries[entry.step - 1] = entry;
    for (const [step, maps] of frames) this.frames.set(step, maps);
    this.count = count;
    this.every = every;
    for (const step of this.frames.keys()) if (step % every) this.frames.delete(step);
  }

  /**
   * The steps behind this one are others.
   *
   * @param {number} step
   */
  change(step) {
    this.forgetAfter(step);
    this.changes.push(step);
  }

  /** The training has gone back; behind a later change of the optimiser other steps would come. @param {News} news */
  rewind(news) {
    const changed = this.changes.find((step) => step > news.count);
    this.changes = this.changes.filter((step) => step <= news.count);
    if (changed !== undefined) this.forgetAfter(changed);
    this.take(news);
  }

  /** @param {number} step */
  forgetAfter(step) {
    this.entries.length = Math.min(this.entries.length, step);
    for (const kept of this.frames.keys()) if (kept > step) this.frames.delete(kept);
  }

  /** The loss of the last step. @returns {Entry | undefined} */
  get last() {
    return this.entries[this.count - 1];
  }

  /**
   * The steps of a strip of so many frames: evenly spaced, by a distance that doubles.
   *
   * @param {number} most
   */
  strip(most) {
    let steps = [...this.frames.keys()].sort((a, b) => a - b);
    for (let apart = this.every; steps.length > most; apart *= 2) steps = steps.filter((step) => step % apart === 0);
    return steps;
  }

  /**
   * A curve in so many points, each the mean of the steps around it.
   *
   * @param {"loss" | "first" | "repeats"} name
   * @param {number} most
   * @returns {[number, number][]} step and loss
   */
  curve(name, most) {
    const apart = Math.max(1, Math.ceil(this.furthest / most));
    /** @type {[number, number][]} */
    const points = [];
    for (let start = 0; start < this.furthest; start += apart) {
      const some = this.entries.slice(start, start + apart);
      points.push([start + (some.length + 1) / 2, some.reduce((sum, entry) => sum + entry[name], 0) / some.length]);
    }
    return points;
  }
}
