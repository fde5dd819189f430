// A model as a payload has it: the list of its steps, each checked, its weights decoded.

import { decode } from "../arrays.js";
import { Problem } from "../problem.js";
import { checkCount, settingsOf, takeWeights } from "./checks.js";
import { DECLARED, MOST_LONGEST } from "./declared.js";
import { OPERATIONS } from "./operations/list.js";

const MOST_STEPS = 1000; // each number asks those before it: too long a chain would be too deep

/**
 * @typedef {import("../arrays.js").NumberArray} NumberArray
 *
 * Which sentence gives a step its rows; "one" has a single one.
 * @typedef {"source" | "target" | "one"} Axis
 *
 * What a program holds besides its steps.
 * @typedef {object} Held
 * @property {Map<string, NumberArray>} weights
 * @property {Record<string, string[]>} words
 * @property {number} longest
 */

/**
 * @param {any} value
 * @returns {value is string}
 */
function isText(value) {
  return typeof value === "string" && value !== "";
}
/** @type {(value: any) => any[]} */
const listOf = (value) => (Array.isArray(value) ? value : []);

/**
 * @param {string} name
 * @param {any} array
 */
function weightOf(name, array) {
  try {
    return decode(array, name, array?.shape?.length === 1 ? 1 : 2);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`${name} must be written in base64`);
  }
}

/** One step: what goes in, which operation, and the weights and settings that it has. */
export class Step {
  /**
   * @param {any} given
   * @param {Map<string, Step>} earlier
   * @param {Held} held
   */
  constructor(given, earlier, { weights, words, longest }) {
    if (!isText(given?.name) || !/^[\w.]+$/.test(given.name) || earlier.has(given.name)) {
      throw new Problem("each step must have a name of its own, of letters, digits, _ and dots");
    }
    /** @type {string} */
    this.name = given.name;
    this.at = earlier.size;
    this.longest = longest;
    this.must(isText(given.operation) && Object.hasOwn(DECLARED, given.operation), "a known operation");
    /** @type {string} */
    this.operation = given.operation;
    const declared = DECLARED[this.operation];
    this.kind = OPERATIONS[this.operation];
    this.stages = declared.stages;
    this.statistics = declared.statistics;
    this.switches = declared.switches;
    this.must(!given.stages || `${given.stages}` === `${this.stages}`, `the stages ${this.stages.join(", ")}`);
    /** @type {Record<string, any>} */
    this.settings = settingsOf(this, declared, given.settings ?? {});
    const names = listOf(given.inputs);
    checkCount(this, declared, names.length);
    this.inputs = names.map((name) => {
      const input = earlier.get(name);
      this.must(input, "inputs that are earlier steps");
      return /** @type {Step} */ (input);
    });
    const isOfWords = this.inputs.some((input) => input.kind.isOfWords);
    this.must(isOfWords === this.kind.takesWords, isOfWords ? "numbers to go in" : "words to go in");
    this.axis = this.kind.axis(this);
    this.vocabulary = words[this.axis] ?? [];
    this.weights = weights;
    /** @type {Record<string, string>} by role the names of weights */
    this.names = given.parameters ?? {};
    /** @type {Record<string, NumberArray>} */
    this.parameters = {};
    takeWeights(this, declared);
    this.heads = this.settings.num_heads ?? 1;
    /** Fewer than heads where several share one. @type {number} */
    this.keyHeads = this.settings.num_kv_heads ?? this.heads;
    this.width = this.kind.width(this);
    this.must(Number.isInteger(this.width) && this.width > 0, "an output of some columns");
    /** Which sentences its numbers depend on. @type {Set<Axis>} */
    this.reads = new Set(this.inputs.flatMap((input) => [...input.reads]));
    if (this.kind.isOfWords) this.reads.add(this.axis);
  }

  /** @param {string} role */
  has(role) {
    return this.names[role] !== undefined && this.names[role] !== null;
  }

  /**
   * The weight of a role, which must have this shape; null stands for any size.
   *
   * @param {string} role
   * @param {(number | null)[]} shape
   */
  parameter(role, shape) {
    const weight = this.weights.get(this.names[role]);
    const fits = weight?.shape.length === shape.length && shape.every((n, i) => n === null || n === weight.shape[i]);
    this.must(fits, `a weight ${role} of the shape ${shape.map((n) => n ?? "any").join("×")}`);
    this.parameters[role] = /** @type {NumberArray} */ (weight);
    return this.parameters[role];
  }

  /**
   * @param {unknown} condition
   * @param {string} what it must have
   */
  must(condition, what) {
    if (!condition) throw new Problem(`step ${this.name} must have ${what}`);
  }
}

/**
 * The parts of a program, checked.
 *
 * @param {any} program what Python wrote
 */
export function programOf(program) {
  if (program?.version !== 1) throw new Problem("its version must be 1");
  const { longest, marks } = program;
  if (!Number.isInteger(longest) || longest < 1 || longest > MOST_LONGEST) {
    throw new Problem(`longest must be a whole number from 1 to ${MOST_LONGEST}`);
  }
  /** @type {Record<string, string[]>} */
  const words = {};
  for (const side of ["source", "target"]) {
    const list = listOf(program.words?.[side]);
    if (!list.length || !list.every(isText) || new Set(list).size !== list.length) {
      throw new Problem(`words must have a list of different words for the ${side}`);
    }
    words[side] = list;
  }
  for (const mark of ["start", "end", "pad"]) {
    if (!words.target.includes(marks?.[mark])) throw new Problem(`the mark ${mark} must be a word of the target`);
  }
  /** @type {Map<string, NumberArray>} */
  const weights = new Map();
  for (const [name, array] of Object.entries(program.weights ?? {})) {
    weights.set(name, weightOf(name, array));
  }
  const all = listOf(program.steps);
  if (!all.length || all.length > MOST_STEPS) throw new Problem(`it must have 1 to ${MOST_STEPS} steps`);
  /** @type {Map<string, Step>} */
  const steps = new Map();
  for (const given of all) {
    const step = new Step(given, steps, { weights, words, longest });
    steps.set(step.name, step);
  }
  return { steps, words, marks, longest };
}
