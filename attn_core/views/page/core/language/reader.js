// Reads a text layer by layer. A text that goes on with the one before takes over what the two have in common.

import { ALL_ON } from "./switches.js";

/**
 * @typedef {import("./engine.js").Engine} Engine
 * @typedef {import("./engine.js").LayerRecord} LayerRecord
 */

export class Reader {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine;
    /** @type {number[]} */
    this.ids = [];
    /** Of the whole text, the layers that are computed; only of the text that was begun last. @type {LayerRecord[]} */
    this.recorded = [];
    this.switches = ALL_ON;
    this.said = "";
  }

  /**
   * @param {number[]} ids
   * @param {any} switches of switches.js
   */
  begin(ids, switches) {
    const { engine } = this;
    const said = JSON.stringify(switches);
    if (said !== this.said) engine.switch(switches);
    this.said = said;
    this.switches = engine.switches;
    // What is behind the last token is asked for: that one is read again in any case.
    let same = 0;
    const most = Math.min(engine.length, ids.length - 1);
    while (same < most && this.ids[same] === ids[same]) same++;
    engine.cut(same);
    this.ids = [...ids];
    this.recorded = [];
    engine.begin(ids.slice(same));
  }

  /** The next layer, or the scores; false: its weights are not there yet, or all is done. */
  proceed() {
    const { engine, recorded } = this;
    if (!engine.proceed()) return false;
    if (recorded.length < engine.layer) recorded.push(engine.record(recorded.length));
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
    return this.engine.lens(this.recorded[layer].stream.subarray(t * width, (t + 1) * width));
  }
}
