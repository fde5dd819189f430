// Brings the files of a model, those that are wanted first before the others, and keeps them in the browser.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { jsonOf } from "./json.js";

/**
 * A file of index.json: what it brings, its bytes and its SHA-256.
 *
 * @typedef {{ name: string, layer?: number, rows?: number, norm?: boolean, bytes: number, sha256: string }} Shard
 *
 * What a browser has for it; without a cache nothing is kept, without a digest only the number of bytes is checked, as
 * on a page that came without TLS.
 * @typedef {object} Means
 * @property {(address: string) => Promise<Response>} fetch
 * @property {() => Promise<Cache> | null} [cache]
 * @property {((bytes: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>) | null} [digest]
 * @property {(bytes: Uint8Array<ArrayBuffer>) => void} [free] gives back the memory of bytes that are not needed any more
 */

export const CACHE = "language-model"; // what a browser keeps the files under
const AT_ONCE = 3; // files that are on their way
const TRIES = 2;
const MOST_LOST = 3; // files: with more the network is gone

/** @param {ArrayBuffer} digest */
const hex = (digest) => [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export class Loader {
  /**
   * @param {string} folder address of the folder, with a slash at its end
   * @param {Means} means
   */
  constructor(folder, means) {
    this.folder = folder;
    this.means = means;
    /** @type {Shard[]} in the order of index.json */
    this.shards = [];
    /** Those that are there, by name. @type {Set<string>} */
    this.there = new Set();
    /** Those that this load has asked for. @type {Set<string>} */
    this.begun = new Set();
    /** Bytes that are there. */
    this.loaded = 0;
    /** Of these, those that the browser had kept. */
    this.kept = 0;
    /** @type {Cache | null | undefined} */
    this.cache = undefined;
  }

  get bytes() {
    return this.shards.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * A file of the folder that is no shard.
   *
   * @param {string} name
   * @returns {Promise<any>}
   */
  async json(name) {
    return jsonOf(name, await this.fetched(name));
  }

  /**
   * @param {string} name
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  async fetched(name) {
    let why = say("noAnswer");
    try {
      const response = await this.means.fetch(this.folder + name);
      if (response.ok) return new Uint8Array(await response.arrayBuffer());
      why = String(response.status);
    } catch {
      // The network is gone: said below.
    }
    throw new Problem(say("notLoaded", { name, why: brief(why) }));
  }

  /** @returns {Promise<Cache | null>} */
  async opened() {
    if (this.cache === undefined) {
      // A private window may refuse it: then nothing is kept.
      this.cache = await Promise.resolve(this.means.cache?.() ?? null).catch(() => null);
    }
    return this.cache ?? null;
  }

  /** @param {Shard} shard */
  keyOf({ name, sha256 }) {
    return `${this.folder}${name}?${sha256}`;
  }

  /**
   * Brings all files that are not there yet; `take` gets each as it comes.
   *
   * @param {(shard: Shard, bytes: Uint8Array) => void} take
   * @param {(shard: Shard) => boolean} isFirst whether a file goes before the others
   * @param {() => void} tell something has come
   */
  async load(take, isFirst, tell) {
    /** @type {unknown[]} */
    const lost = [];
    this.begun.clear();
    const bring = async () => {
      for (let shard = this.next(isFirst); shard && lost.length < MOST_LOST; shard = this.next(isFirst)) {
        this.begun.add(shard.name);
        try {
          const bytes = await this.brought(shard);
          take(shard, bytes);
          this.means.free?.(bytes);
          this.there.add(shard.name);
          this.loaded += shard.bytes;
          tell();
        } catch (error) {
          lost.push(error); // the others come all the same
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, bring));
    if (lost.length) throw lost[0];
    await this.forgetOthers();
  }

  /** @param {(shard: Shard) => boolean} isFirst */
  next(isFirst) {
    const left = this.shards.filter(({ name }) => !this.there.has(name) && !this.begun.has(name));
    return left.find(isFirst) ?? left[0];
  }

  /** @param {Shard} shard */
  async brought(shard) {
    const cache = await this.opened();
    const key = this.keyOf(shard);
    const before = await cache?.match(key);
    if (before) {
      const bytes = new Uint8Array(await before.arrayBuffer());
      if (await this.isWhole(shard, bytes)) {
        this.kept += shard.bytes;
        return bytes;
      }
      await cache?.delete(key);
    }
    for (let n = 0; n < TRIES; n++) {
      const bytes = await this.fetched(shard.name);
      if (!(await this.isWhole(shard, bytes))) continue;
      // Where there is no room for it, it is loaded again the next time.
      await cache?.put(key, new Response(bytes)).catch(() => {});
      return bytes;
    }
    throw new Problem(say("damagedFile", { name: shard.name }));
  }

  /**
   * @param {Shard} shard
   * @param {Uint8Array<ArrayBuffer>} content
   */
  async isWhole({ bytes, sha256 }, content) {
    if (content.length !== bytes) return false;
    return !this.means.digest || hex(await this.means.digest(content)) === sha256;
  }

  /** Of the files of an earlier model nothing stays. */
  async forgetOthers() {
    const cache = await this.opened();
    const own = new Set(this.shards.map((shard) => new URL(this.keyOf(shard)).href));
    for (const { url } of (await cache?.keys()) ?? []) if (!own.has(url)) await cache?.delete(url);
  }
}
