// A small model that learns: learning/training.py with the same numbers.

import { say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { backward } from "./backward.js";
import { Film } from "./film.js";
import { forward } from "./forward.js";
import { Kept } from "./kept.js";
import { crossEntropy } from "./loss.js";
import { lossesOf, sharesOf } from "./measures.js";
import { initialWeights, parametersOf } from "./model.js";
import { updateOf } from "./optimisers.js";
import { optimiserOf, settingsOf } from "./settings.js";
import { batchOf, exampleOf, textLength, textOf, vocabularySize } from "./task.js";

/**
 * @typedef {object} Entry a step before its update
 * @property {number} step from 1 on
 * @property {number} loss the mean over all places, in nats
 * @property {number} first over places that predict a letter for the first time, which nobody can know
 * @property {number} repeats over places that predict a repeated letter
 * @property {import("./measures.js").Shares[]} shares of each layer
 *
 * @typedef {import("./optimisers.js").Optimiser} Optimiser
 *
 * @typedef {object} State all numbers that the next step follows from; its arrays are never written into
 * @property {Float64Array} weights
 * @property {number} adamSteps how many updates AdamW has made; 0 after one of SGD
 * @property {Float64Array} m
 * @property {Float64Array} v
 *
 * @typedef {{ before: State, gradient: Float64Array, optimiser: Optimiser }} Made what the last update was made of
 * @typedef {{ state: State, last: Made | null, optimiser: Optimiser }} Snapshot
 */

const MOST_KEPT = 64;

export class Training {
  /** @param {Record<string, any>} asked as FIRST of settings.js */
  constructor(asked = {}) {
    this.settings = settingsOf(asked);
    const { seed, width, layers, isMasked, every, task, optimiser } = this.settings;
    const [vocabulary, places] = [vocabularySize(task), textLength(task)];
    /** @type {import("./model.js").Shape} */
    this.shape = { vocabulary, places, width, layers, isMasked };
    this.parameters = parametersOf(this.shape);
    /** A text that no step reaches. */
    this.example = batchOf(task, [exampleOf(task, seed)]);
    const weights = initialWeights(this.shape, seed);
    const zeros = new Float64Array(weights.length);
    /** @type {State} */
    this.state = { weights, adamSteps: 0, m: zeros, v: zeros };
    /** @type {Made | null} */
    this.last = null;
    this.optimiser = optimiser;
    /** @type {Entry[]} */
    this.history = [];
    /** @type {Kept<Snapshot>} */
    this.snapshots = new Kept(every, MOST_KEPT);
    /** Where the optimiser was set. @type {Map<number, Snapshot>} */
    this.changes = new Map([[0, this.snapshot()]]);
    this.film = new Film(every, layers, places * places);
    this.look();
  }

  /** How many updates the weights have had. */
  get count() {
    return this.history.length;
  }

  /**
   * The texts of a step.
   *
   * @param {number} step from 1 on
   */
  batch(step) {
    const { task, seed, texts } = this.settings;
    const first = (step - 1) * texts;
    return batchOf(
      task,
      Array.from({ length: texts }, (_, b) => textOf(task, seed, first + b)),
    );
  }

  /**
   * A pass of the weights over texts, its losses, and what flows back.
   *
   * @param {import("./task.js").Batch} batch
   */
  passOf({ ids, targets, length }) {
    const { shape, state } = this;
    const pass = forward(shape, state.weights, ids, length);
    const loss = crossEntropy(pass.logits, targets);
    return { pass, loss, gradients: backward(shape, state.weights, ids, length, pass, loss.gradient) };
  }

  /**
   * One step: the texts, their loss, its gradient, and the update of each weight.
   *
   * @returns {Entry}
   */
  step() {
    const { state, optimiser } = this;
    const step = this.count + 1;
    const batch = this.batch(step);
    const { pass, loss, gradients } = this.passOf(batch);
    const gradient = gradients.numbers;
    const size = gradient.length;
    const [weights, m, v] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
    const made = { before: state, gradient, optimiser };
    let isHeld = Number.isFinite(loss.mean);
    for (let n = 0; n < size; n++) {
      const update = updated(made, n);
      weights[n] = update.after;
      m[n] = update.m ?? 0;
      v[n] = update.v ?? 0;
      isHeld &&= Number.isFinite(update.after);
    }
    if (!isHeld) throw new Problem(say("overflowed", { step, lr: optimiser.lr }));
    this.state = { weights, adamSteps: optimiser.kind === "adamw" ? state.adamSteps + 1 : 0, m, v };
    this.last = made;
    const shares = pass.layers.map((layer) => sharesOf(layer.weights, batch));
    const entry = { step, loss: loss.mean, ...lossesOf(loss.losses, batch), shares };
    this.history.push(entry);
    this.look();
    if (this.snapshots.isDue(step)) this.snapshots.add(step, this.snapshot());
    return entry;
  }

  /**
   * The parts of the last update of one weight.
   *
   * @param {string} name
   * @param {number} row
   * @param {number} column
   */
  update(name, row, column) {
    const n = this.placeOf(name, row, column);
    if (!this.last) throw new Problem(say("noStepYet"));
    return updated(this.last, n);
  }

  /**
   * A weight as it is now, and what its last update was made of.
   *
   * @param {string} name
   * @param {number} row
   * @param {number} column
   * @returns {import("./lines.js").Weight}
   */
  weight(name, row, column) {
    const n = this.placeOf(name, row, column);
    const { state, last, count } = this;
    const weight = { value: state.weights[n], step: count, made: null };
    if (!last) return weight;
    const { before, optimiser } = last;
    const moments = { step: before.adamSteps, m: before.m[n], v: before.v[n] };
    return { ...weight, made: { optimiser, moments, update: updated(last, n) } };
  }

  /**
   * Where a weight is in the array of all.
   *
   * @param {string} name
   * @param {number} row
   * @param {number} column
   */
  placeOf(name, row, column) {
    const found = this.parameters.find((parameter) => parameter.name === name);
    const [rows, columns] = found?.shape ?? [0, 0];
    const isThere = Number.isInteger(row) && Number.isInteger(column) && row >= 0 && column >= 0;
    if (!found || !isThere || row >= rows || column >= columns) {
      throw new Problem(say("noWeightOf", { name, index: `${row}, ${column}` }));
    }
    return found.start + row * columns + column;
  }

  /** The weights of each layer's attention on the example, [length, length]. */
  maps() {
    const { ids, length } = this.example;
    return forward(this.shape, this.state.weights, ids, length).layers.map(({ weights }) => weights);
  }

  /**
   * Sets the optimiser for the steps that follow.
   *
   * @param {Record<string, any>} asked
   */
  change(asked) {
    this.optimiser = optimiserOf(asked);
    this.changes.set(this.count, this.snapshot());
  }

  /**
   * Goes back to an earlier step, exactly; what came later is forgotten. The optimiser is again the one of that step.
   *
   * @param {number} step
   */
  rewind(step) {
    if (!Number.isInteger(step) || step < 0 || step > this.count) {
      throw new Problem(say("cannotRewind", { most: this.count, value: step }));
    }
    const change = Math.max(...[...this.changes.keys()].filter((n) => n <= step));
    const start = Math.max(change, this.snapshots.before(step) ?? 0);
    const kept = start > change ? this.snapshots.items.get(start) : this.changes.get(change);
    const { state, last, optimiser } = /** @type {Snapshot} */ (kept);
    for (const n of [...this.changes.keys()]) if (n > step) this.changes.delete(n);
    for (const later of [this.snapshots, this.film]) later.dropAfter(step);
    this.history.length = start;
    this.state = state;
    this.last = last;
    this.optimiser = optimiser;
    while (this.count < step) this.step();
  }

  look() {
    this.film.look(this.count, () => this.maps());
  }

  /** @returns {Snapshot} */
  snapshot() {
    const { state, last, optimiser } = this;
    return { state, last, optimiser };
  }
}

/**
 * The update of weight n.
 *
 * @param {Made} made
 * @param {number} n
 */
function updated({ before: { weights, adamSteps, m, v }, gradient, optimiser }, n) {
  return updateOf(optimiser, weights[n], gradient[n], { step: adamSteps, m: m[n], v: v[n] });
}
