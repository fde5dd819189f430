// What is kept of a training at some of its steps, within a bound: the longer it is, the fewer. As learning/kept.py.

/** @template Item */
export class Kept {
  /**
   * @param {number} every how many steps lie between two items
   * @param {number} most of items: where there are more, every second one is dropped and `every` doubles
   */
  constructor(every, most) {
    this.every = every;
    this.most = most;
    /** By their steps, which rise. @type {Map<number, Item>} */
    this.items = new Map();
  }

  /** @param {number} step */
  isDue(step) {
    return step % this.every === 0;
  }

  /**
   * @param {number} step
   * @param {Item} item
   */
  add(step, item) {
    this.items.set(step, item);
    while (this.items.size > this.most) {
      this.every *= 2;
      for (const kept of [...this.items.keys()]) if (!this.isDue(kept)) this.items.delete(kept);
    }
  }

  /**
   * The last step up to this one of which there is an item.
   *
   * @param {number} step
   */
  before(step) {
    const found = [...this.items.keys()].filter((kept) => kept <= step);
    return found.length ? Math.max(...found) : null;
  }

  /** @param {number} step */
  dropAfter(step) {
    for (const kept of [...this.items.keys()]) if (kept > step) this.items.delete(kept);
  }
}
