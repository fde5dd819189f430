// The model itself as a source of numbers: it asks the worker.
//
// A view takes its numbers through these methods, so that another source can feed it: one that has the numbers of a few
// texts, and no weights.

import { Remote } from "../remote.js";

/**
 * @typedef {import("./engine.js").LayerRecord} LayerRecord
 * @typedef {import("./shares.js").Likely} Likely
 * @typedef {import("./workings.js").Explained} Explained
 *
 * @typedef {{ layers: number, heads: number, kvHeads: number, headDim: number }} Sizes
 * @typedef {{ text: string, more: number[], switches: any }} Wanted more: tokens that were chosen behind the text
 * @typedef {{ name: string, index: number[], stage?: string, trail?: string[] }} Asked a number by its step
 * @typedef {(first: number, records: HeadRecord[]) => void} OnLayers a layer, and what it and those behind it have
 * @typedef {Pick<LayerRecord, "q" | "k" | "v">} HeadRecord
 *
 * @typedef {object} Source
 * @property {boolean} isWhole whether any text can be read, and anything be switched
 * @property {boolean} [isComing] whether some of its weights are still on their way
 * @property {Sizes} shape
 * @property {(text: string, more: number[]) => Promise<{ ids: number[], pieces: string[], behind: string }>} cut behind:
 *   what the tokens say that were chosen behind the text
 * @property {(wanted: Wanted, onlayers: OnLayers) => Promise<{ likeliest: Likely[] } | null>} read it may be asked for
 *   before `cut` has answered; null: another text is read meanwhile
 * @property {(number: Asked) => Promise<Explained>} explain
 * @property {(row: number) => Promise<Likely[][]>} lens by layer, if the model ended behind it
 *
 * Only of one that tells no layers by itself:
 * @property {(layer: number) => Promise<HeadRecord>} [layer]
 * @property {(layer: number, head: number) => Float64Array} [map] the weights of a head, before its layer has come
 * @property {Record<string, number[]>} [measures] what its heads do, as core/measures.js names it
 */

/** @implements {Source} */
export class Whole {
  /**
   * @param {import("../remote.js").Port} worker
   * @param {{ folder: string, isChinese: boolean, onloading: (loaded: number, bytes: number) => void }} how
   */
  constructor(worker, { folder, isChinese, onloading }) {
    this.isWhole = true;
    this.isComing = true;
    this.folder = folder;
    /** @type {Sizes} */
    this.shape = { layers: 0, heads: 0, kvHeads: 0, headDim: 0 };
    this.reading = 0;
    /** @type {OnLayers} */
    this.onlayers = () => {};
    /** @param {import("./session.js").Told} told */
    const ontold = ({ what, loaded = 0, bytes = 0, reading, first = 0, records = [] }) => {
      if (what === "loading") onloading(loaded, bytes);
      else if (reading === this.reading) this.onlayers(first, records);
    };
    this.remote = new Remote(worker, ontold, "workerFailed");
    worker.postMessage({ what: "speak", asked: { isChinese } });
  }

  /** What it is; then any text can be read, as far as it has come. */
  async open() {
    const opened = await this.remote.ask("open", { folder: this.folder });
    this.shape = opened.shape;
    return /** @type {{ isPlain: boolean, bytes: number, longest: number }} */ (opened);
  }

  /** @returns {Promise<{ kept: number }>} */
  async load() {
    const loaded = await this.remote.ask("load");
    this.isComing = false;
    return loaded;
  }

  /** @type {Source["cut"]} */
  cut(text, more) {
    return this.remote.ask("cut", { text, more });
  }

  /** @type {Source["read"]} */
  read(wanted, onlayers) {
    this.reading += 1;
    this.onlayers = onlayers;
    return this.remote.ask("read", { ...wanted, reading: this.reading });
  }

  /** @type {Source["explain"]} */
  explain(number) {
    return this.remote.ask("explain", number);
  }

  /** @type {Source["lens"]} */
  lens(row) {
    return this.remote.ask("lens", { row });
  }
}
