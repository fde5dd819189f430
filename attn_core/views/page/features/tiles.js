// In a live notebook Python, which has the record, pools what a long map shows.

import { MOST_KEPT } from "../core/data.js";
import { parts } from "../core/parts.js";

export class Tiles {
  /** @param {any} model of anywidget */
  constructor(model) {
    this.model = model;
    /** @type {Map<number, { done: (tile: [Float32Array, number[]]) => void, fail: (error: Error) => void }>} */
    this.waiting = new Map();
    this.last = 0;
    model.on("msg:custom", (message, buffers) => this.receive(message, buffers));
  }

  /**
   * Python's record has the given settings; and shorter maps are derived here sooner.
   *
   * @param {import("../core/attention.js").Attention} attention
   * @param {string} stage
   */
  canGive({ data, dropout, isGiven }, stage) {
    return (
      isGiven &&
      !(stage in data.further) &&
      data.L * data.S > MOST_KEPT &&
      `${dropout?.p},${dropout?.seed}` === `${data.dropout?.p},${data.dropout?.seed}`
    );
  }

  /**
   * stage, batch, head, rows and cols as [from, to], pool as [rows, columns], how: numbers and shape.
   *
   * @param {Record<string, any>} what
   * @returns {Promise<[Float32Array, number[]]>}
   */
  ask(what) {
    const id = ++this.last;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.model.send({ kind: "tile", id, ...what });
    });
  }

  receive(message, buffers) {
    const asked = message && message.kind === "tile" && this.waiting.get(message.id);
    if (!asked) return;
    this.waiting.delete(message.id);
    if (message.error) return asked.fail(new Error(message.error));
    const { buffer, byteOffset, byteLength } = buffers[0];
    return asked.done([new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)), message.shape]);
  }
}

parts.tiles = Tiles;
