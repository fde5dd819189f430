// A few texts without the model as a source of numbers: all heads and what may come next at once, queries, keys and
// values layer by layer. Their arithmetic ends there, as the weights have not come.

import { say } from "../../words/words.js";
import { Attention } from "../attention.js";
import { ALL, explained, opened } from "../model/trail.js";
import { Problem } from "../problem.js";
import { isShortened, Workings } from "../workings.js";
import { dataOf } from "./heads.js";
import { LENS } from "./lens.js";
import { Light } from "./light.js";

/**
 * @typedef {import("./light.js").LightText} LightText
 * @typedef {import("./whole.js").Source} Source
 */

const NAME = /^layers\.(\d+)\.attention$/;

/** @implements {Source} */
export class LightSource {
  /** @param {import("./light.js").Bring} bring */
  static async open(bring) {
    return new LightSource(await Light.open(bring));
  }

  /** @param {Light} light */
  constructor(light) {
    this.isWhole = false;
    this.light = light;
    this.shape = light.shape;
    /** @type {LightText | null} the text that is read */
    this.text = null;
    /** By layer. @type {(import("../data.js").Data | undefined)[]} */
    this.datas = [];
    /** What was asked for, by text. @type {Map<string, Promise<LightText>>} */
    this.found = new Map();
  }

  get texts() {
    return this.light.texts.map(({ text }) => text);
  }

  /**
   * Brought once; one that did not come is brought again.
   *
   * @param {string} text
   */
  find(text) {
    const known = this.found.get(text);
    if (known) return known;
    const listed = this.light.texts.find((each) => each.text === text);
    if (!listed) throw new Problem(say("needsModel"));
    const found = this.light.text(listed.name);
    this.found.set(text, found);
    found.catch(() => this.found.delete(text));
    return found;
  }

  /** @type {Source["cut"]} */
  async cut(text, more) {
    if (more.length) throw new Problem(say("needsModel"));
    const { ids, pieces } = await this.find(text);
    return { ids, pieces, behind: "" };
  }

  /** @type {Source["read"]} */
  async read({ text, switches }) {
    if (Object.keys(switches).length) throw new Problem(say("needsModel"));
    this.text = await this.find(text);
    this.datas = [];
    return { likeliest: this.text.likeliest };
  }

  /** The weights of a head, as a row for each token. @type {(layer: number, head: number) => Float64Array} */
  map(layer, head) {
    const { text } = this;
    const count = text?.tokens ?? 0;
    const numbers = new Float64Array(count * count);
    const bytes = text?.map(layer, head) ?? [];
    for (let i = 0, n = 0; i < count; i++) {
      for (let j = 0; j <= i; j++) numbers[i * count + j] = bytes[n++] / 255;
    }
    return numbers;
  }

  /** By the names of core/measures.js, a number for each head of each layer. */
  get measures() {
    return this.text?.measures ?? {};
  }

  /** @param {number} layer */
  async layer(layer) {
    const { text } = this;
    if (!text) throw new Problem(say("nothingRead"));
    return /** @type {any} */ (await text.heads(layer));
  }

  /** @type {Source["explain"]} */
  async explain({ name, index, stage = "weights", trail = [] }) {
    const { text } = this;
    const layer = Number(NAME.exec(name)?.[1] ?? NaN);
    if (!text || !(layer >= 0)) throw new Problem(say("needsModel"));
    this.datas[layer] ??= dataOf(await this.layer(layer), text.pieces, this.shape);
    const [head, row, column] = index;
    const data = /** @type {import("../data.js").Data} */ (this.datas[layer]);
    const attention = new Attention(data, { batch: 0, head, scale: data.scale, mask: "given" });
    // A sum is written out with all of its terms from where a reader asked for them.
    const most = trail.includes(ALL) ? Infinity : undefined;
    const way = trail.filter((step) => step !== ALL);
    const first = /** @type {any} */ (new Workings(attention, row, most).of(stage, column));
    const levels = opened(first, way);
    const shown = most ? levels.map((level) => ({ ...level, trail: [ALL, ...level.trail] })) : levels;
    const last = explained(shown);
    return {
      ...last,
      value: attention.cell(stage, row, column),
      hasMore: isShortened(last.line),
      near: null,
    };
  }

  /** Of the last token alone. @type {Source["lens"]} */
  async lens() {
    return (this.text?.lens ?? []).slice(1).map(({ likeliest }) => likeliest.slice(0, LENS));
  }
}
