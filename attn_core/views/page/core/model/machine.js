// A whole model: from words to every number of its pass.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { changesOf } from "./changes.js";
import { Pass } from "./pass.js";
import { programOf } from "./program.js";
import { isSame } from "./reuse.js";

const MOST_PASSES = 6; // whose rows are kept: a sentence with and without changes, and what was there before

/** @typedef {"source" | "target"} Side */

export class Machine {
  /** @param {any} program what Python wrote: steps, weights, words */
  constructor(program) {
    const { steps, words, marks, longest } = programOf(program);
    this.byName = steps;
    this.steps = [...steps.values()];
    /** @type {Record<string, string[]>} */
    this.words = words;
    /** @type {{ start: string, end: string, pad: string }} */
    this.marks = marks;
    /** @type {number} the most words of a sentence, its marks among them */
    this.longest = longest;
    this.start = words.target.indexOf(marks.start);
    this.end = words.target.indexOf(marks.end);
    /** The last one first. @type {Pass[]} */
    this.passes = [];
  }

  /** @param {string} name */
  step(name) {
    const step = this.byName.get(name);
    if (!step) throw new Problem(say("noStep", { step: brief(name) }));
    return step;
  }

  /**
   * The pass of two sentences as ids, the target as the decoder reads it: with the start mark first.
   *
   * @param {{ source: number[], target?: number[], changes?: Partial<import("./changes.js").Changes> }} read
   */
  read({ source, target = [this.start], changes = {} }) {
    this.check("source", source);
    this.check("target", target);
    const off = changesOf(this, changes);
    const said = JSON.stringify(off);
    const alike = this.passes.filter((pass) => isSame(pass.source, source) && JSON.stringify(pass.changes) === said);
    const same = alike.find((pass) => isSame(pass.target, target));
    const pass = same ?? new Pass(this, [...source], [...target], off, this.passes);
    // A pass that goes on with another one has all its rows.
    const goneOn = alike.filter((other) => isSame(other.target, target.slice(0, other.target.length)));
    const others = this.passes.filter((other) => other !== pass && !goneOn.includes(other));
    this.passes = [pass, ...others].slice(0, MOST_PASSES);
    return pass;
  }

  /**
   * @param {Side} side
   * @param {number[]} ids
   */
  check(side, ids) {
    const count = this.words[side].length;
    if (!Array.isArray(ids) || !ids.length) throw new Problem(say("noWords"));
    if (ids.length > this.longest) throw new Problem(say("tooManyWords", { most: this.longest, count: ids.length }));
    const wrong = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= count);
    if (wrong >= 0) throw new Problem(say("noId", { count, id: brief(ids[wrong]) }));
  }
}
