// The written-out arithmetic of any number of a pass, down to the words: the lines of attn_core's workings of steps.

import { written } from "../digits.js";
import { factor, keptTerms, listed, sumOfProducts, Workings } from "../workings.js";
import { positionsOf, rowIn, shares, stateBefore } from "./operations.js";

/**
 * @typedef {import("../attention.js").Attention} Attention
 * @typedef {import("../workings.js").Line} Line
 * @typedef {import("./pass.js").Pass} Pass
 * @typedef {import("./program.js").Step} Step
 *
 * A number of a step: its line and, on demand, the numbers that the line is made of.
 * @typedef {object} Term
 * @property {string} name what the line begins with
 * @property {string} step
 * @property {string} stage
 * @property {number[]} index
 * @property {number} value
 * @property {Line} line
 * @property {(() => Term[])} [parts]
 *
 * What stands behind the name, and the parts.
 * @typedef {[how: Line, parts?: () => Term[]]} How
 *
 * @typedef {{ pass: Pass, step: Step, t: number, col: number, value: number }} Place
 */

/** @type {(x: number) => [string, string]} */
const result = (x) => [written(x), "result"];
/** @type {(text: string, x: number) => Line} */
const equals = (text, x) => [[`${text} = `], result(x)];
/** @type {(x: number, beside?: number) => string} */
const signed = (x, beside) => factor(x, undefined, beside)[0];

/**
 * @param {Step} step
 * @param {string} stage
 * @param {number[]} index
 * @param {number} value
 * @param {How} how
 * @returns {Term}
 */
function term(step, stage, index, value, [how, parts]) {
  const isLast = stage === step.stages[step.stages.length - 1];
  const name = isLast ? step.name : `${step.name}.${stage}`;
  return {
    name,
    step: step.name,
    stage,
    index,
    value,
    line: [[`${name}[${index.join(", ")}]`, "name"], [" = "], ...how],
    parts,
  };
}

/**
 * A number of what comes out of a step, as a part of another one.
 *
 * @param {Pass} pass
 * @param {Step} step
 * @param {number} t
 * @param {number} col
 */
const number = (pass, step, t, col) => write(pass, step, step.stages[step.stages.length - 1], [t, col]);

/**
 * The numbers of a row that a long sum shows, from a column on.
 *
 * @param {Pass} pass
 * @param {Step} step
 * @param {number} t
 * @param {number} width
 * @param {number} [first]
 */
const shown = (pass, step, t, width, first = 0) => keptTerms(width).map((n) => number(pass, step, t, first + n));

/**
 * One number taken over as it is.
 *
 * @param {Place} place
 * @param {Step} step
 * @param {number} t
 * @param {number} col
 * @returns {How}
 */
const passedOn = ({ pass, value }, step, t, col) => [[result(value)], () => [number(pass, step, t, col)]];

/**
 * @param {Place} place
 * @param {Step} step whose number passes on
 * @param {string} what is switched off
 * @returns {How}
 */
function switchedOff(place, step, what) {
  const [how, parts] = passedOn(place, step, place.t, place.col);
  return [[...how, [`, because ${what} switched off`]], parts];
}

/**
 * @param {Float64Array} x
 * @param {import("../arrays.js").NumberArray} weight
 * @param {import("../arrays.js").NumberArray | undefined} bias
 * @param {number} col
 * @param {number} value
 * @returns {Line}
 */
const linearLine = (x, weight, bias, col, value) => [
  ...sumOfProducts(x, rowIn(weight, col)),
  [`${bias ? ` + ${signed(bias.numbers[col])}` : ""} = `],
  result(value),
];

/**
 * @param {string} name
 * @returns {(place: Place) => How}
 */
const ofOne = (name) => (place) => {
  const { pass, step, t, col, value } = place;
  const [x] = step.inputs;
  const number = pass.output(x, t)[col];
  const texts = { relu: `max(0, ${written(number)})`, gelu: `${signed(number)} · Φ(${written(number)})` };
  const text = /** @type {Record<string, string>} */ (texts)[name] ?? `tanh(${written(number)})`;
  return [equals(text, value), passedOn(place, x, t, col)[1]];
};

/** By operation and stage. @type {Record<string, (place: Place) => How>} */
const LINES = {
  words: ({ step, value }) => [[[`${step.vocabulary[value]} (${value})`]]],

  embed(place) {
    const { pass, step, t, col, value } = place;
    const [ids] = step.inputs;
    const number = rowIn(step.parameters.weight, pass.output(ids, t)[0])[col];
    const parts = () => [write(pass, ids, "output", [t])];
    if (step.times === 1) return [[result(value)], parts];
    return [equals(`${written(number, step.times)} · ${written(step.times, number)}`, value), parts];
  },

  add_positions(place) {
    const { pass, step, t, col, value } = place;
    const [x] = step.inputs;
    if (pass.isOff("positions_off", step)) return switchedOff(place, x, "the positions are");
    const text = `${written(pass.output(x, t)[col])} + ${signed(positionsOf(step, t)[col])}`;
    return [equals(text, value), () => [number(pass, x, t, col)]];
  },

  linear({ pass, step, t, col, value }) {
    const { weight, bias } = step.parameters;
    const [x] = step.inputs;
    return [linearLine(pass.output(x, t), weight, bias, col, value), () => shown(pass, x, t, x.width)];
  },

  attention({ pass, step, t, col, value }) {
    const each = step.width / step.heads;
    const [head, column] = [Math.floor(col / each), col % each];
    if (pass.isOff("heads_off", step, head)) return [[result(0), [`, because head ${head} is switched off`]]];
    return [equals(`head ${head}, column ${column}`, value), () => [write(pass, step, "output", [head, t, column])]];
  },

  add(place) {
    const { pass, step, t, col, value } = place;
    const [x, y] = step.inputs;
    if (pass.isOff("residuals_off", step)) return switchedOff(place, y, "the residual is");
    const text = `${written(pass.output(x, t)[col])} + ${signed(pass.output(y, t)[col])}`;
    return [equals(text, value), () => [number(pass, x, t, col), number(pass, y, t, col)]];
  },

  "layer_norm.mean"({ pass, step, t, value }) {
    const [x] = step.inputs;
    const row = pass.output(x, t);
    const sum = listed(row.length, (n) => [factor(row[n])], " + ");
    return [[["("], ...sum, [`) / ${row.length} = `], result(value)], () => shown(pass, x, t, row.length)];
  },

  "layer_norm.variance"({ pass, step, t, value }) {
    const [x] = step.inputs;
    const [row, mean] = [pass.output(x, t), pass.made(step, t)[0][0]];
    const sum = listed(row.length, (n) => [[`(${written(row[n])} - ${signed(mean)})²`]], " + ");
    const parts = () => [...shown(pass, x, t, row.length), write(pass, step, "mean", [t, 0])];
    return [[["("], ...sum, [`) / ${row.length} = `], result(value)], parts];
  },

  "layer_norm.normed"({ pass, step, t, col, value }) {
    const [x] = step.inputs;
    const [[mean], [variance]] = pass.made(step, t);
    const above = `(${written(pass.output(x, t)[col])} - ${signed(mean)})`;
    const text = `${above} / √(${written(variance)} + ${shortest(step.settings.eps)})`;
    const stages = () => ["mean", "variance"].map((stage) => write(pass, step, stage, [t, 0]));
    return [equals(text, value), () => [number(pass, x, t, col), ...stages()]];
  },

  layer_norm(place) {
    const { pass, step, t, col, value } = place;
    if (pass.isOff("norms_off", step)) return switchedOff(place, step.inputs[0], "the norm is");
    const [normed, gain, bias] = [
      pass.made(step, t)[2][col],
      step.parameters.gain.numbers[col],
      step.parameters.bias.numbers[col],
    ];
    const text = `${written(normed, gain)} · ${signed(gain, normed)} + ${signed(bias)}`;
    return [equals(text, value), () => [write(pass, step, "normed", [t, col])]];
  },

  relu: ofOne("relu"),
  gelu: ofOne("gelu"),
  tanh: ofOne("tanh"),

  concat(place) {
    const { pass, step, t, col, value } = place;
    const [x, y] = step.inputs;
    return passedOn({ ...place, pass, value }, col < x.width ? x : y, t, col < x.width ? col : col - x.width);
  },

  "gru.recurrent"({ pass, step, t, col, value }) {
    const { weight_hh, bias_hh } = step.parameters;
    const line = linearLine(stateBefore(pass, step, t), weight_hh, bias_hh, col, value);
    if (!t && !step.inputs[1]) return [line];
    return [line, () => (t ? shown(pass, step, t - 1, step.width) : shown(pass, step.inputs[1], 0, step.width))];
  },
  "gru.reset": (place) => gate(place, 0),
  "gru.update": (place) => gate(place, place.step.width),

  "gru.candidate"({ pass, step, t, col, value }) {
    const at = 2 * step.width + col;
    const [recurrent, reset] = pass.made(step, t);
    const [a, b] = [reset[col], recurrent[at]];
    const input = pass.output(step.inputs[0], t)[at];
    const text = `tanh(${written(input)} + ${signed(a, b)}·${signed(b, a)})`;
    const parts = () => [
      number(pass, step.inputs[0], t, at),
      write(pass, step, "reset", [t, col]),
      write(pass, step, "recurrent", [t, at]),
    ];
    return [equals(text, value), parts];
  },

  gru({ pass, step, t, col, value }) {
    const [, , update, candidate] = pass.made(step, t).map((row) => row[col]);
    const before = stateBefore(pass, step, t)[col];
    const [start] = step.inputs.slice(1);
    const text = `(1 - ${written(update)})·${signed(candidate)} + ${written(update)}·${signed(before)}`;
    const last = () => (t ? [number(pass, step, t - 1, col)] : start ? [number(pass, start, 0, col)] : []);
    const stages = () => ["update", "candidate"].map((stage) => write(pass, step, stage, [t, col]));
    return [equals(text, value), () => [...stages(), ...last()]];
  },

  last_row: (place) => {
    const [x] = place.step.inputs;
    return passedOn(place, x, place.pass.lengthOf(x) - 1, place.col);
  },
  repeat: (place) => passedOn(place, place.step.inputs[0], 0, place.col),
};

/**
 * @param {Place} place
 * @param {number} first the column where the gate begins
 * @returns {How}
 */
function gate({ pass, step, t, col, value }, first) {
  const at = first + col;
  const [x] = step.inputs;
  const text = `σ(${written(pass.output(x, t)[at])} + ${signed(pass.made(step, t)[0][at])})`;
  return [equals(text, value), () => [number(pass, x, t, at), write(pass, step, "recurrent", [t, at])]];
}

/**
 * A number as Python writes it: with an exponent of two digits.
 *
 * @param {number} x
 */
const shortest = (x) => (x && x < 1e-4 ? x.toExponential().replace(/e-(\d)$/, "e-0$1") : `${x}`);

/** The lines of a row of weights, named by their step, with parts that lead to other steps. */
class RowWorkings extends Workings {
  /**
   * @param {Pass} pass
   * @param {Step} step
   * @param {Attention} attention
   * @param {number} t
   * @param {number[]} before what stands before row and column in an index
   */
  constructor(pass, step, attention, t, before) {
    super(attention, t);
    this.pass = pass;
    this.step = step;
    this.before = before;
  }

  /** @type {Workings["term"]} */
  term(stage, index, how, parts) {
    const { before, pass, step } = this;
    const name = step.operation === "softmax" && stage === "weights" ? "output" : stage;
    const place = [...before, ...index];
    return term(step, name, place, pass.value(step.name, place, name), [how, /** @type {any} */ (parts)]);
  }

  shownCells() {
    const { exps, isDead } = this.attention.statistics(this.i);
    return isDead ? [] : keptTerms(exps.length).map((j) => this.masked(j));
  }

  rowMax() {
    return { ...super.rowMax(), parts: () => this.shownCells() };
  }

  rowSum() {
    const { isDead } = this.attention.statistics(this.i);
    return { ...super.rowSum(), parts: () => (isDead ? [] : [...this.shownCells(), this.rowMax()]) };
  }
}

/** Those of one head. */
class HeadWorkings extends RowWorkings {
  /**
   * @param {Pass} pass
   * @param {Step} step
   * @param {number} head
   * @param {number} t
   */
  constructor(pass, step, head, t) {
    super(pass, step, pass.attention(step.name, head), t, [head]);
    this.head = head;
  }

  /** @param {number} j */
  scores(j) {
    const { head, i, pass, step } = this;
    const [q, k] = step.inputs;
    const each = q.width / step.heads;
    const parts = () => [...shown(pass, q, i, each, head * each), ...shown(pass, k, j, each, head * each)];
    return { ...super.scores(j), parts };
  }

  /** @type {Workings["number"]} */
  number(_, position, d) {
    const [, , v] = this.step.inputs;
    return number(this.pass, v, position, (this.head * v.width) / this.step.heads + d);
  }
}

/** Those of the probabilities of words: the weights of an attention whose masked scores go in. */
class ShareWorkings extends RowWorkings {
  /**
   * @param {Pass} pass
   * @param {Step} step
   * @param {number} t
   */
  constructor(pass, step, t) {
    const masked = pass.output(step.inputs[0], t);
    const rows = /** @type {Record<string, Float64Array>} */ ({ masked, weights: pass.output(step, t) });
    const statistics = { ...shares(masked), isDead: false };
    const attention = {
      data: { vector: () => masked },
      row: (/** @type {string} */ stage) => rows[stage],
      statistics: () => statistics,
    };
    super(pass, step, /** @type {any} */ (attention), t, []);
  }

  /** @param {number} j */
  masked(j) {
    return number(this.pass, this.step.inputs[0], this.i, j);
  }
}

/**
 * @param {any} rows RowWorkings, which have a method for each stage
 * @param {string} stage
 * @param {number} col
 * @returns {Term}
 */
function ofStage(rows, stage, col) {
  const names = /** @type {Record<string, string>} */ ({ row_max: "rowMax", row_sum: "rowSum" });
  return rows[names[stage] ?? stage](col);
}

/**
 * @param {Pass} pass
 * @param {Step} step
 * @param {string} stage
 * @param {number[]} index
 * @returns {Term}
 */
function write(pass, step, stage, index) {
  const { name, operation, stages } = step;
  const isLast = stage === stages[stages.length - 1];
  const [t, col = 0] = index;
  if (operation === "softmax") return ofStage(new ShareWorkings(pass, step, t), isLast ? "weights" : stage, col);
  if (operation === "attention" && !isLast) return ofStage(new HeadWorkings(pass, step, t, col), stage, index[2]);
  const value = pass.value(name, index, stage);
  const line = LINES[isLast ? operation : `${operation}.${stage}`];
  return term(step, stage, index, value, line({ pass, step, t, col, value }));
}

/**
 * How one number of a pass comes about.
 *
 * @param {Pass} pass
 * @param {string} name of a step
 * @param {number[]} index [row, column]; in a stage of attention [head, row, column], of words [row]
 * @param {string} [stage] the last if it is left out
 * @returns {Term}
 */
export function workings(pass, name, index, stage) {
  const step = pass.machine.step(name);
  const wanted = stage ?? step.stages[step.stages.length - 1];
  pass.value(name, index, stage); // or the sentence why there is none
  return write(pass, step, wanted, index);
}

/**
 * A line as plain text.
 *
 * @param {Line} line
 */
export const lineText = (line) => line.map(([text]) => text).join("");
