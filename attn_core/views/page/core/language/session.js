// What the worker of a page does: it loads the model, reads texts and explains numbers. It answers what it is asked,
// and tells by itself what happens in between.

import { say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { Engine } from "./engine.js";
import { LENS } from "./lens.js";
import { Loader } from "./loader.js";
import { Reader } from "./reader.js";
import { likeliest, sharesOf } from "./shares.js";
import { Tokenizer } from "./tokenizer.js";
import { Reading, Steps } from "./workings.js";

/**
 * @typedef {import("./shares.js").Likely} Likely
 * @typedef {Float32Array<ArrayBuffer> | null} Rows
 *
 * @typedef {object} Told what a session tells by itself
 * @property {"loading" | "layers"} what
 * @property {number} [loaded] bytes
 * @property {number} [bytes] of all files
 * @property {number} [reading]
 * @property {number} [first] layer
 * @property {{ q: Rows, k: Rows, v: Rows }[]} [records] of this layer and those behind it
 *
 * @typedef {object} Environment
 * @property {string} compiled KERNELS of views/built/kernels.js
 * @property {import("./loader.js").Means} means
 * @property {(told: Told, free?: ArrayBuffer[]) => void} tell free: buffers in it that nothing else needs
 * @property {() => Promise<void>} pause lets messages come in
 * @property {() => number} now milliseconds
 */

export const LONGEST = 128; // tokens of a text
const LIKELIEST = 10;
// Milliseconds of computing after which the page gets the layers that are done. To draw them takes a processor as long
// as to compute them, so where there is only one, a short text's layers are told together, with its likeliest words.
// Before all files are there no words come, so each layer is told as it is done.
const PATIENCE = 200;

export class Session {
  /** @type {Engine} */ engine;
  /** @type {Tokenizer} */ tokenizer;
  /** @type {Reader} */ reader;
  /** @type {Steps} */ steps;
  /** @type {Loader} */ loader;
  /** @type {Reading | null} what numbers are asked of */ shown = null;

  /** @param {Environment} environment */
  constructor(environment) {
    this.environment = environment;
    /** The last text that was asked for; the others are left. */
    this.asked = 0;
    /** What is wanted of the embedding: the files that hold it come first. @type {number[]} */
    this.wanted = [];
    /** @type {(() => void)[]} wait for the next file */
    this.waiting = [];
    /** Layers of the text that the page has got. */
    this.told = 0;
    /** Chances with everything on, by text. @type {{ said: string, shares: Float32Array } | null} */
    this.right = null;
    /** @type {Problem | null} */
    this.failed = null;
  }

  /**
   * Reads what kind of model it is; `load` brings it.
   *
   * @param {{ folder: string }} asked
   */
  async open({ folder }) {
    const { means, compiled } = this.environment;
    this.loader ??= new Loader(folder, means);
    const [{ settings, shards }, vocabulary] = await Promise.all([
      this.loader.json("index.json"),
      this.loader.json("vocabulary.json"),
    ]);
    this.loader.shards = shards;
    this.tokenizer ??= new Tokenizer(vocabulary);
    if (!this.engine) {
      this.engine = await Engine.make(settings, compiled, LONGEST);
      this.reader = new Reader(this.engine);
      this.steps = new Steps(this.engine.weights, LONGEST);
    }
    const { layers, heads, kvHeads, headDim } = this.engine.shape;
    const isPlain = this.engine.kernels.start === 0;
    return { shape: { layers, heads, kvHeads, headDim }, isPlain, bytes: this.loader.bytes, longest: LONGEST };
  }

  /** Brings all files that are not there yet. */
  async load() {
    const { loader, engine } = this;
    const { weights, shape } = engine;
    this.failed = null;
    const rowsOf = (/** @type {import("./loader.js").Shard} */ { rows, bytes }) =>
      rows !== undefined && this.wanted.some((id) => id >= rows && id < rows + bytes / shape.rowBytes);
    /** @type {(shard: import("./loader.js").Shard, bytes: Uint8Array) => void} */
    const take = ({ rows, layer }, bytes) => {
      if (rows !== undefined) weights.addRows(rows, bytes);
      else if (layer !== undefined) weights.addLayer(layer, bytes);
      else weights.addNorm(bytes);
    };
    const tell = () => {
      this.environment.tell({ what: "loading", loaded: loader.loaded, bytes: loader.bytes });
      this.goOn();
    };
    try {
      await loader.load(take, rowsOf, tell);
    } catch (error) {
      this.failed = /** @type {Problem} */ (error);
      this.goOn();
      throw error;
    }
    return { kept: loader.kept };
  }

  get isComing() {
    return this.loader.loaded < this.loader.bytes;
  }

  goOn() {
    for (const go of this.waiting.splice(0)) go();
  }

  /**
   * The tokens of a text, and of those that were chosen behind it; `behind` is what these say.
   *
   * @param {{ text: string, more?: number[] }} asked
   */
  cut({ text, more = [] }) {
    const ids = [...this.tokenizer.encode(text), ...more];
    return { ids, pieces: ids.map((id) => this.tokenizer.piece(id)), behind: this.tokenizer.decode(more) };
  }

  /**
   * Reads a text: tells each layer as it is computed, and answers with the likeliest words. A later text ends it.
   *
   * @param {{ text: string, more: number[], switches: any, reading: number }} asked more: tokens behind the text
   */
  async read({ text, more, switches, reading }) {
    this.asked = reading;
    this.shown = null;
    const ids = [...this.tokenizer.encode(text), ...more];
    this.wanted = ids;
    const said = String(ids);
    const isChanged = JSON.stringify(switches) !== "{}";
    if (isChanged && this.right?.said !== said) {
      const shares = await this.sharesOf(ids, {}, reading, false);
      if (!shares) return null;
      this.right = { said, shares };
    }
    const shares = await this.sharesOf(ids, switches, reading, true);
    if (!shares) return null;
    if (!isChanged) this.right = { said, shares };
    const before = isChanged ? this.right?.shares : null;
    const words = likeliest(shares, LIKELIEST, this.tokenizer, before ?? null);
    // Right before the answer: the frame in which the page draws these layers is to show the words, too.
    this.tellLayers(reading);
    return { likeliest: words };
  }

  /**
   * The chances of what may come next; null if another text is wanted meanwhile.
   *
   * @param {number[]} ids
   * @param {any} switches
   * @param {number} reading
   * @param {boolean} isShown
   */
  async sharesOf(ids, switches, reading, isShown) {
    await this.whileMissing(() => ids.some((id) => !this.engine.weights.hasRow[id]), reading);
    if (this.asked !== reading) return null;
    const { reader, engine, environment } = this;
    reader.begin(ids, switches);
    for (const id of ids) this.nameToken(id);
    if (isShown) {
      this.shown = new Reading(this.steps, ids, reader.switches, reader.recorded, (layer, t) =>
        reader.scores(layer, t),
      );
    }
    this.told = 0;
    let since = environment.now();
    while (!reader.isDone) {
      const hasMoved = reader.proceed();
      if (isShown && (this.isComing || environment.now() - since > PATIENCE)) {
        this.tellLayers(reading);
        since = environment.now();
      }
      if (!hasMoved) await this.whileMissing(() => !this.hasNext(), reading);
      await environment.pause();
      if (this.asked !== reading) return null;
    }
    return sharesOf(/** @type {Float32Array} */ (engine.scores));
  }

  /**
   * Copies of what the layers have that were not told yet.
   *
   * @param {number} reading
   */
  tellLayers(reading) {
    const copy = (/** @type {Float32Array | null} */ rows) => (rows ? Float32Array.from(rows) : null);
    const first = this.told;
    const records = this.reader.recorded.slice(first).map(({ q, k, v }) => ({ q: copy(q), k: copy(k), v: copy(v) }));
    if (!records.length) return;
    this.told += records.length;
    const free = records.flatMap(({ q, k, v }) => (q && k && v ? [q.buffer, k.buffer, v.buffer] : []));
    this.environment.tell({ what: "layers", reading, first, records }, free);
  }

  /** Whether the weights of the next layer are there, or of the scores. */
  hasNext() {
    const { layer, shape, weights } = this.engine;
    return layer < shape.layers ? !!weights.hasLayer[layer] : !weights.missing;
  }

  /**
   * @param {() => boolean} isMissing
   * @param {number} reading
   */
  async whileMissing(isMissing, reading) {
    while (this.asked === reading && isMissing()) {
      if (this.failed) throw this.failed;
      await new Promise((/** @type {(done: void) => void} */ go) => this.waiting.push(go));
    }
  }

  /**
   * How a number came about.
   *
   * @param {{ name: string, index: number[], stage?: string, trail?: string[] }} asked
   */
  explain({ name, index, stage, trail }) {
    if (!this.shown) throw new Problem(say("nothingRead"));
    if (/unembedding|chances/.test(name)) this.nameToken(index[1]);
    return this.shown.explain(name, index, stage, trail);
  }

  /** @param {number} id */
  nameToken(id) {
    this.steps.vocabulary[id] ??= this.tokenizer.piece(id);
  }

  /**
   * The likeliest words if the model ended behind a layer, for each layer that is computed.
   *
   * @param {{ row: number }} asked
   * @returns {Promise<Likely[][]>}
   */
  async lens({ row }) {
    const { reader, asked } = this;
    const found = [];
    for (let layer = 0; layer < reader.recorded.length; layer++) {
      found.push(likeliest(sharesOf(reader.scores(layer, row)), LENS, this.tokenizer, null));
      await this.environment.pause();
      if (this.asked !== asked) return [];
    }
    return found;
  }
}
