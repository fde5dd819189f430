// Reads a text layer by layer, and keeps what each layer computed of it. A text that goes on with the one before takes
// over what the two have in common.

import { ALL_ON } from "./switches.js";

/**
 * @typedef {import("./engine.js").Engine} Engine
 * @typedef {import("./engine.js").LayerRecord} LayerRecord
 * @typedef {import("./engine.js").Recorded} Recorded
 */

const PARTS = /** @type {const} */ (["q", "k", "v", "attended", "stream"]);

/**
 * @param {Float32Array | null} rows
 * @param {Float32Array | null} more
 */
function joined(rows, more) {
  if (!rows || !more) return more;
  const all = new Float32Array(rows.length + more.length);
  all.set(rows);
  all.set(more, rows.length);
  return all;
}

export class Reader {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine;
    /** @type {number[]} */
    this.ids = [];
    /** The tokens of the text before, which are in the cache. @type {Recorded} */
    this.before = { embedded: new Float32Array(), layers: [] };
    /** Of the whole text, as far as its layers are computed. @type {Recorded} */
    this.recorded = this.before;
    this.switches = ALL_ON;
    this.said = "";
  }

  /**
   * @param {number[]} ids
   * @param {any} switches of switches.js
   */
  begin(ids, switches) {
    const { engine } = this;
    // A text that was not read to its end left only what is in the cache.
    const whole = this.isDone ? this.recorded : this.before;
    const said = JSON.stringify(switches);
    if (said !== this.said) engine.switch(switches);
    this.said = said;
    this.switches = engine.switches;
    // What is behind the last token is asked for: that one is read again in any case.
    let same = 0;
    const most = Math.min(engine.length, ids.length - 1);
    while (same < most && this.ids[same] === ids[same]) same++;
    engine.cut(same);
    this.before = this.firstOf(whole, same);
    this.ids = [...ids];
    this.recorded = { embedded: new Float32Array(), layers: [] };
    engine.begin(ids.slice(same), true);
    const { embedded } = /** @type {Recorded} */ (engine.recorded);
    this.recorded.embedded = /** @type {Float32Array} */ (joined(this.before.embedded, embedded));
  }

  /**
   * The rows of the first tokens.
   *
   * @param {Recorded} recorded
   * @param {number} count
   * @returns {Recorded}
   */
  firstOf({ embedded, layers }, count) {
    const { width } = this.engine.shape;
    if (!count) return { embedded: new Float32Array(), layers: [] };
    const all = embedded.length / width;
    const cut = (/** @type {Float32Array | null} */ rows) => rows?.slice(0, (rows.length / all) * count) ?? null;
    return {
      embedded: /** @type {Float32Array} */ (cut(embedded)),
      layers: layers.map(
        (layer) => /** @type {any} */ (Object.fromEntries(PARTS.map((part) => [part, cut(layer[part])]))),
      ),
    };
  }

  /** The next layer, or the scores; false: its weights are not there yet, or all is done. */
  proceed() {
    const { engine } = this;
    if (!engine.proceed()) return false;
    const { layers } = /** @type {Recorded} */ (engine.recorded);
    const n = this.recorded.layers.length;
    if (n === layers.length) return true;
    const of = this.before.layers[n];
    const parts = PARTS.map((part) => [part, joined(of?.[part] ?? null, layers[n][part])]);
    this.recorded.layers.push(/** @type {any} */ (Object.fromEntries(parts)));
    return true;
  }

  get isDone() {
    return !!this.engine.scores;
  }

  /**
   * The scores that a row has behind a layer: the model's own behind the last.
   *
   * @param {number} layer
   * @param {number} t
   */
  scores(layer, t) {
    const { width } = this.engine.shape;
    return this.engine.lens(this.recorded.layers[layer].stream.subarray(t * width, (t + 1) * width));
  }
}
