// A byte-level vocabulary: cuts a text into tokens by byte-pair encoding, and joins them again.

import { brief, say } from "../../words/words.js";
import { bytesOf } from "../arrays.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";

/**
 * As attn_core/views/vocabulary.py writes it.
 *
 * @typedef {object} SentVocabulary
 * @property {string[]} marks the first tokens, which are found in a text before it is cut
 * @property {string[]} signs the next: one for each byte that has a token, as GPT-2 writes it
 * @property {string} merges base64 of the ids that are joined, 16 bits each; merge n makes token n behind the signs
 */

// GPT-2's words, after each digit became one: contractions, letters, other signs, and spaces. The last of several
// spaces is left to the word behind them, if that is no digit.
const WORD = new RegExp(
  [
    "'(?:[sdmt]|ll|ve|re)",
    "\\p{N}",
    " ?\\p{L}+",
    " ?[^\\p{White_Space}\\p{L}\\p{N}]+",
    "\\p{White_Space}+(?![^\\p{White_Space}\\p{N}])",
    "\\p{White_Space}+",
  ].join("|"),
  "gu",
);
const MANY = 2 ** 16; // ids at most

/**
 * Below 2^16; the factor is that of Fibonacci hashing, 2^32 over the golden ratio.
 *
 * @param {number} first
 * @param {number} second
 */
const hashOf = (first, second) => Math.imul(first * MANY + second, 0x9e3779b1) >>> 16;

/** The byte of each sign of a byte-level vocabulary: as attn_core's byte_signs. */
function bytesOfSigns() {
  /** @type {Map<string, number>} */
  const bytes = new Map();
  let others = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isItself = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    bytes.set(String.fromCharCode(isItself ? byte : others++), byte);
  }
  return bytes;
}

export class Tokenizer {
  /** @param {SentVocabulary} sent */
  constructor({ marks, signs, merges }) {
    const bytes = bytesOf(merges);
    if (bytes.length % 4) throw new Problem("its merges must be pairs of ids of 16 bits");
    const view = new DataView(bytes.buffer);
    const bytesBySign = bytesOfSigns();
    this.marks = marks;
    /** The bytes of each token, those of merges once they are asked for. @type {Uint8Array[]} */
    this.known = marks.map((mark) => new TextEncoder().encode(mark));
    /** The token of each byte. @type {Map<number, number>} */
    this.ofByte = new Map();
    for (const sign of signs) {
      const byte = bytesBySign.get(sign);
      if (byte === undefined) throw new Problem(`its sign ${sign} must be that of a byte`);
      this.ofByte.set(byte, this.known.length);
      this.known.push(Uint8Array.of(byte));
    }
    this.firstMerge = this.known.length;
    this.size = this.firstMerge + bytes.length / 4;
    /** The two that each merge joins, one behind the other. */
    this.pairs = new Uint16Array(bytes.length / 2);
    for (let n = 0; n < this.pairs.length; n++) this.pairs[n] = view.getUint16(2 * n, true);
    // A table of merges by the hash of their pair, filled in a tenth of the time that a Map takes: of each hash the last
    // merge, and of each merge the one before it with the same hash. The merge n is stored as n + 1; 0 is none.
    this.lastOf = new Uint16Array(MANY);
    this.before = new Uint16Array(bytes.length / 4);
    for (let n = 0; n < this.before.length; n++) {
      const first = this.pairs[2 * n];
      const second = this.pairs[2 * n + 1];
      if (Math.max(first, second) >= this.firstMerge + n) throw new Problem("its merges must join tokens before them");
      const hash = hashOf(first, second);
      this.before[n] = this.lastOf[hash];
      this.lastOf[hash] = n + 1;
    }
    const escaped = [...marks]
      .sort((a, b) => b.length - a.length)
      .map((mark) => mark.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    this.mark = marks.length ? new RegExp(`(${escaped.join("|")})`) : null;
  }

  /**
   * The ids of a text's tokens; its marks, such as <|im_end|>, are tokens, too.
   *
   * @param {string} text
   */
  encode(text) {
    const parts = this.mark ? text.split(this.mark) : [text];
    return parts.flatMap((part, n) => (n % 2 ? [this.marks.indexOf(part)] : this.plain(part)));
  }

  /** @param {string} text without marks */
  plain(text) {
    return (text.match(WORD) ?? []).flatMap((word) => this.merged(word));
  }

  /**
   * Joins neighbours, the earliest merge first, until none is left. A byte without a token is left out.
   *
   * @param {string} word
   */
  merged(word) {
    /** @type {number[]} */
    const ids = [];
    for (const byte of new TextEncoder().encode(word)) {
      const id = this.ofByte.get(byte);
      if (id !== undefined) ids.push(id);
    }
    for (;;) {
      let best = Infinity;
      for (let n = 1; n < ids.length; n++) {
        best = Math.min(best, this.made(ids[n - 1], ids[n]));
      }
      if (best === Infinity) return ids;
      this.join(ids, best);
    }
  }

  /**
   * The token that two make, Infinity if they make none; an earlier merge makes a smaller id.
   *
   * @param {number} first
   * @param {number} second
   */
  made(first, second) {
    let n = this.lastOf[hashOf(first, second)];
    while (n && (this.pairs[2 * n - 2] !== first || this.pairs[2 * n - 1] !== second)) n = this.before[n - 1];
    return n ? this.firstMerge + n - 1 : Infinity;
  }

  /**
   * Joins all pairs that a merge is about, in place, from left to right.
   *
   * @param {number[]} ids
   * @param {number} made the id of what it makes
   */
  join(ids, made) {
    const at = 2 * (made - this.firstMerge);
    const [first, second] = [this.pairs[at], this.pairs[at + 1]];
    let length = 0;
    for (let n = 0; n < ids.length; n++) {
      const isPair = ids[n] === first && ids[n + 1] === second;
      ids[length++] = isPair ? made : ids[n];
      if (isPair) n++;
    }
    ids.length = length;
  }

  /**
   * The text of tokens. What is no whole character yet is not in it: `Decoder` waits for the rest.
   *
   * @param {number[]} ids
   */
  decode(ids) {
    const decoder = this.decoder();
    return ids.map((id) => decoder.add(id)).join("") + decoder.end();
  }

  /**
   * @param {number} id
   * @returns {Uint8Array}
   */
  bytes(id) {
    const at = 2 * (id - this.firstMerge);
    if (!isWhole(id, this.size)) {
      throw new Problem(say("noTokenOf", { count: this.size, id: brief(id) }));
    }
    this.known[id] ??= Uint8Array.of(...this.bytes(this.pairs[at]), ...this.bytes(this.pairs[at + 1]));
    return this.known[id];
  }

  decoder() {
    return new Decoder(this);
  }

  /**
   * One token as it is shown: bytes that are no whole character as \xe6.
   *
   * @param {number} id
   */
  piece(id) {
    const bytes = this.bytes(id);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return pieces(bytes);
    }
  }
}

/** Gives the text of tokens as they come: a character is given when its last byte is there. */
class Decoder {
  /** @param {Tokenizer} tokenizer */
  constructor(tokenizer) {
    this.tokenizer = tokenizer;
    // A byte order mark is a character like others.
    this.decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  }

  /** @param {number} id */
  add(id) {
    return this.decoder.decode(this.tokenizer.bytes(id), { stream: true });
  }

  /** What is left of a character that was not finished, as \ufffd. */
  end() {
    return this.decoder.decode();
  }
}

/**
 * Bytes that are no UTF-8 as a whole: what is a character as such, other bytes as \xe6.
 *
 * @param {Uint8Array} bytes
 */
function pieces(bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    let length = 4;
    for (; length > 0; length--) {
      try {
        text += decoder.decode(bytes.subarray(at, at + length));
        break;
      } catch {
        // Not a character, or not a whole number of them: try fewer bytes.
      }
    }
    if (!length) text += `\\x${bytes[at].toString(16).padStart(2, "0")}`;
    at += length || 1;
  }
  return text;
}
