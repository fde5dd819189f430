// The written-out arithmetic of any number of a language model, down to a stored weight and a token's row.
//
// The fast path keeps, of each layer, its queries, keys and values and the residual stream, in float32. A line begins
// with the numbers that it kept, and is computed in float64 from the stored weights; bounds.js says how far what the
// fast path kept may be from it.

import { say } from "../../words/words.js";
import { changesOf } from "../model/changes.js";
import { Pass } from "../model/pass.js";
import { lastStage, Place } from "../model/place.js";
import { explained, opened } from "../model/trail.js";
import { Problem } from "../problem.js";
import { Rotary } from "../rotary.js";
import { keptTerms } from "../workings.js";
import { boundOf } from "./bounds.js";
import { Q4_1 } from "./formats.js";
import { keepOf } from "./heads.js";
import { stepsOf } from "./steps.js";
import { matrixOf } from "./stored.js";

/**
 * @typedef {import("../model/place.js").Term} Term
 * @typedef {import("../model/place.js").Line} Line
 * @typedef {import("../model/program.js").Step} Step
 *
 * A number with what it is made of, as it goes from the worker to the page.
 * @typedef {object} Explained
 * @property {{ name: string, trail: string[] }[]} above the way down to it
 * @property {string[]} trail
 * @property {string} name
 * @property {number} value
 * @property {Line} line
 * @property {boolean} hasMore whether its sum can be written out with all terms
 * @property {{ line: Line, opens: boolean }[]} parts
 * @property {{ exact: number, bound: number } | null} near of a number that the fast path kept: what float64 gives,
 *   and how far apart the two may be
 */

const MOST_WRITTEN = 4096; // terms of a sum that is written out
const SIX = 6; // digits that tell a float16 from its neighbours

/** The steps of a model: what a pass asks for. */
export class Steps {
  /**
   * @param {import("./weights.js").Weights} weights
   * @param {number} longest
   */
  constructor(weights, longest) {
    /** What each token is, once it was named. @type {string[]} */
    this.vocabulary = new Array(weights.shape.vocabulary);
    this.words = { target: this.vocabulary };
    this.byName = stepsOf(weights, longest, this.vocabulary);
    this.steps = [...this.byName.values()];
    this.shape = weights.shape;
  }

  /** @param {string} name */
  step(name) {
    const step = this.byName.get(name);
    if (!step) throw new Problem(say("noStep", { step: name }));
    return step;
  }
}

/** A text that was read, with what the fast path kept of it. */
export class Reading extends Pass {
  /**
   * @param {Steps} steps
   * @param {number[]} ids
   * @param {import("./switches.js").Switches} switches
   * @param {import("./engine.js").LayerRecord[]} recorded as far as the layers were computed
   * @param {(layer: number, t: number) => Float32Array} scores of a row behind a layer
   */
  constructor(steps, ids, switches, recorded, scores) {
    const rotary = steps.steps.filter(({ operation }) => operation === "rotary").map(({ name }) => name);
    const machine = /** @type {any} */ (steps);
    const changes = changesOf(machine, {
      heads_off: switches.heads_off.map(([layer, head]) => [`layers.${layer}.attention`, head]),
      positions_off: switches.rotary_off ? rotary : [],
    });
    super(machine, [], ids, changes, []);
    this.steps = steps;
    this.recorded = recorded;
    this.switches = switches;
    this.scores = scores;
    /** @type {Map<string, any>} */
    this.made_once = new Map();
    for (const layer of switches.sink_off) {
      const { at } = steps.step(`layers.${layer}.attention`);
      this.settings[at] = { ...this.settings[at], keep: keepOf(ids.length, true) };
    }
  }

  /**
   * @template T
   * @param {string} name
   * @param {() => T} make
   * @returns {T}
   */
  held(name, make) {
    if (!this.made_once.has(name)) this.made_once.set(name, make());
    return this.made_once.get(name);
  }

  /**
   * Whether this sum lies behind an attention that is off.
   *
   * @param {Step} step
   */
  isWithoutAttention({ name }) {
    const [, layer, part] = name.split(".");
    return part === "attention_sum" && this.switches.attention_off.includes(Number(layer));
  }

  /**
   * What the fast path kept of row t of a step.
   *
   * @param {Step} step
   * @param {number} t
   * @returns {Float64Array | null}
   */
  keptRow({ name, width, operation }, t) {
    if (operation === "linear" && name.endsWith("unembedding")) {
      const layer = name.startsWith("lens.") ? Number(name.split(".")[1]) : this.steps.shape.layers - 1;
      return new Float64Array(this.scores(layer, t));
    }
    const [, layer, ...rest] = name.split(".");
    const parts = /** @type {const} */ ({
      "attention.rotated_query": "q",
      "attention.rotated_key": "k",
      "attention.w_value": "v",
      attention_sum: "attended",
      sum: "stream",
    });
    const part = /** @type {Record<string, keyof import("./engine.js").LayerRecord>} */ (parts)[rest.join(".")];
    const rows = part && name.startsWith("layers.") ? this.recorded[Number(layer)]?.[part] : null;
    return rows ? new Float64Array(rows.subarray(t * width, (t + 1) * width)) : null;
  }

  /**
   * @param {Step} step
   * @param {number} t
   */
  made(step, t) {
    const kept = this.kept[step.at];
    if (!kept[t]) {
      this.checkLayer(step);
      const row = this.keptRow(step, t);
      // Of a rotation the angles are no numbers of the fast path.
      const angles = row && step.operation === "rotary" ? [anglesOf(step, t)] : [];
      kept[t] = row ? [...angles, row] : this.derivedRows(step, t);
    }
    return kept[t];
  }

  /** A layer that is not there yet has no numbers. @param {Step} step */
  checkLayer({ name }) {
    const [kind, of] = name.split(".");
    const { layers } = this.steps.shape;
    const needed = kind === "layers" || kind === "lens" ? Number(of) : layers - 1;
    if (kind === "ids" || kind === "embedding" || this.recorded.length > needed) return;
    throw new Problem(say("notThereYet", { name: say("theLayer", { layer: needed }) }));
  }

  /**
   * Row t of each stage, from the rows above it.
   *
   * @param {Step} step
   * @param {number} t
   */
  derivedRows(step, t) {
    if (step.operation !== "linear") return step.kind.rows(this, step, t);
    return [Float64Array.from({ length: step.width }, (_, col) => this.product(step, t, col))];
  }

  /**
   * @param {Step} step a linear one
   * @param {number} t
   * @param {number} col
   */
  product(step, t, col) {
    const x = this.output(step.inputs[0], t);
    const weights = matrixOf(step).row(col);
    let sum = 0;
    for (let n = 0; n < x.length; n++) sum += x[n] * weights[n];
    return sum;
  }

  /**
   * Of a number that the fast path kept, what float64 makes of the numbers above it.
   *
   * @param {Step} step
   * @param {number} t
   * @param {number} col
   */
  exact(step, t, col) {
    if (this.isWithoutAttention(step)) return this.output(step.inputs[0], t)[col];
    if (step.operation === "linear") return this.product(step, t, col);
    if (step.operation === "add") {
      const [x, y] = step.inputs;
      return this.output(x, t)[col] + this.product(y, t, col);
    }
    const rows = step.kind.rows(this, step, t);
    return rows[rows.length - 1][col];
  }

  /**
   * How a number came about.
   *
   * @param {string} name of a step
   * @param {number[]} index
   * @param {string} [stage]
   * @param {string[]} [trail]
   * @returns {Explained}
   */
  explain(name, index, stage, trail = []) {
    const levels = opened(this.term(name, index, stage), trail);
    const { term } = levels[levels.length - 1];
    return { ...explained(levels), value: term.value, hasMore: !!term.whole, near: this.nearOf(term) };
  }

  /**
   * @param {string} name
   * @param {number[]} index
   * @param {string} [stage]
   */
  term(name, index, stage) {
    const step = this.machine.step(name);
    this.checkLayer(step);
    this.value(name, index, stage); // or the sentence why there is none
    return write(this, step, stage ?? lastStage(step), index);
  }

  /** @param {Term} term */
  nearOf({ step: name, stage, index }) {
    const step = this.steps.byName.get(name);
    if (!step || index.length !== 2 || stage !== lastStage(step) || !this.keptRow(step, index[0])) return null;
    const [t, col] = index;
    return { exact: this.exact(step, t, col), bound: boundOf(this, step, t, col) };
  }
}

/** @type {(step: Step, t: number) => Float64Array} */
function anglesOf({ settings }, t) {
  const rule = new Rotary(/** @type {any} */ (settings));
  return Float64Array.from({ length: rule.headDim / 2 }, (_, pair) => rule.angle(t, pair));
}

/** @type {import("../model/place.js").Write} */
function write(pass, step, stage, index, most) {
  const reading = /** @type {Reading} */ (pass);
  const place = new Place(pass, step, stage, index, write, most);
  if (reading.isWithoutAttention(step)) {
    return place.term([[...resultOf(place), [say("attentionIsOff")]], () => [place.number(step.inputs[0])]]);
  }
  if (step.operation === "embed") return embedded(place);
  const line = step.kind.lines[stage](place);
  const term = Array.isArray(line) ? place.term(line) : line;
  if (step.operation === "linear") return withWeights(term, place);
  if (step.operation === "rms_norm" && stage === "output") {
    return { ...term, parts: () => [...(term.parts?.() ?? []), gainOf(place)] };
  }
  // A sum over all tokens is too long to be written out.
  if (step.width > MOST_WRITTEN) return { ...term, whole: undefined };
  return term;
}

/** @type {(place: Place) => Line} */
const resultOf = (place) => [[written(place.value), "result"]];
/** @param {number} x */
const written = (x) => `${Number(x.toPrecision(SIX))}`;
/** @param {number} x */
const inBrackets = (x) => (x < 0 ? `(${written(x)})` : written(x));

/**
 * A number of the embedding: eight bits, and the scale of its block.
 *
 * @param {Place} place
 */
function embedded(place) {
  const { step, t, col } = place;
  const [ids] = step.inputs;
  const { number, scale } = matrixOf(step).at(place.row(ids)[0], col);
  /** @type {Line} */
  const how = [[`${inBrackets(number)} · ${written(scale)} = `], ...resultOf(place), [say("eightBits")]];
  return place.term([how, () => [place.write(place.pass, ids, "output", [t])]]);
}

/**
 * The numbers of a linear step's sum, each with its weight.
 *
 * @param {Term} term
 * @param {Place} place
 * @returns {Term}
 */
function withWeights(term, place) {
  const { step, col, most } = place;
  const [x] = step.inputs;
  const parts = () => keptTerms(x.width, most).flatMap((n) => [place.number(x, place.t, n), weightOf(step, col, n)]);
  return { ...term, parts };
}

/**
 * A stored weight: a leaf.
 *
 * @param {Step} step
 * @param {number} row
 * @param {number} col
 * @returns {Term}
 */
function weightOf(step, row, col) {
  const { number, scale, least, weight } = matrixOf(step).at(row, col);
  const isFour = matrixOf(step).kind === Q4_1;
  const stored = isFour
    ? `${written(scale)} · ${number} + ${inBrackets(least)}`
    : `${inBrackets(number)} · ${written(scale)}`;
  return leaf(step.names.weight, [row, col], weight, [
    [`${stored} = `],
    [written(weight), "result"],
    [say(isFour ? "fourBits" : "eightBits")],
  ]);
}

/** @param {Place} place @returns {Term} */
function gainOf({ step, col }) {
  const gain = step.parameters.gain.numbers[col];
  return leaf(step.names.gain, [col], gain, [[written(gain), "result"], [say("inFull")]]);
}

/**
 * @param {string} name
 * @param {number[]} index
 * @param {number} value
 * @param {Line} how
 * @returns {Term}
 */
const leaf = (name, index, value, how) => ({
  name,
  step: "",
  stage: "",
  index,
  value,
  line: [[`${name}[${index.join(", ")}]`, "name"], [" = "], ...how],
});
