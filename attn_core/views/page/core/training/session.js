// What the worker of a page does: it trains a model, and answers what it is asked. While it runs it tells by itself
// what is new, a few times a second.

import { say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { possibleLoss, vocabularySize } from "./task.js";
import { Training } from "./training.js";

/**
 * @typedef {object} News what has come since the last time
 * @property {number} count how many steps are done
 * @property {import("./training.js").Entry[]} entries
 * @property {[number, Float32Array[]][]} frames of the film, each with its step
 * @property {number} every how many steps lie between two frames: it may have doubled, and the others are gone
 *
 * @typedef {object} Environment
 * @property {(told: News) => void} tell
 * @property {() => Promise<void>} pause lets messages come in
 * @property {() => number} now milliseconds
 */

const AT_ONCE = 30; // milliseconds of computing between two times that messages come in

export class Session {
  /** @type {Training | null} */ training = null;

  /** @param {Environment} environment */
  constructor(environment) {
    this.environment = environment;
    /** Rises with each message that changes something: a run ends when another one has come. */
    this.turn = 0;
    /** The last step that was told, of entries and of frames. */
    this.told = 0;
  }

  /**
   * Begins a training.
   *
   * @param {Record<string, any>} asked its settings, as FIRST of settings.js
   */
  init(asked) {
    const training = new Training(asked);
    this.turn++;
    this.training = training;
    this.told = -1;
    const { settings, parameters, example, state } = training;
    return {
      settings,
      parameters,
      weights: state.weights.length,
      vocabulary: vocabularySize(settings.task),
      possible: possibleLoss(settings.task),
      example: { ids: [...example.ids], targets: [...example.targets], segment: example.segments[0] },
      ...this.news(),
    };
  }

  /** @param {{ steps?: number }} asked */
  step({ steps = 1 }) {
    const training = this.started();
    this.turn++;
    const until = training.count + steps;
    this.advance(() => training.count < until);
    return this.news();
  }

  /**
   * Steps on until there are so many, or until something else is asked for.
   *
   * @param {{ until: number }} asked
   */
  async run({ until }) {
    const training = this.started();
    const turn = ++this.turn;
    const { now, pause, tell } = this.environment;
    while (training.count < until && turn === this.turn) {
      const start = now();
      this.advance(() => training.count < until && now() - start < AT_ONCE);
      tell(this.news());
      await pause();
    }
    return { count: training.count, isDone: turn === this.turn };
  }

  /**
   * A step, and others as long as it goes on. What was done before an overflow is told.
   *
   * @param {() => boolean} goesOn
   */
  advance(goesOn) {
    const training = this.started();
    try {
      do training.step();
      while (goesOn());
    } catch (error) {
      this.environment.tell(this.news());
      throw error;
    }
  }

  /** Ends a run. */
  pause() {
    this.turn++;
    return { count: this.started().count };
  }

  /** @param {{ step: number }} asked */
  rewind({ step }) {
    const training = this.started();
    this.turn++;
    training.rewind(step);
    this.told = Math.min(this.told, step);
    return { optimiser: training.optimiser, ...this.news() };
  }

  /**
   * Other settings of the optimiser for the steps that follow; a run goes on with them.
   *
   * @param {{ optimiser: Record<string, any> }} asked
   */
  change({ optimiser }) {
    const training = this.started();
    training.change(optimiser);
    return { count: training.count, optimiser: training.optimiser };
  }

  /** All numbers of the example as the weights are now, forward and back, and of all weights. */
  numbers() {
    const training = this.started();
    const { pass, loss, gradients } = training.passOf(training.example);
    const { state, last, count } = training;
    return { count, pass, loss, gradients, weights: state.weights, gradient: last?.gradient ?? null };
  }

  /**
   * A weight, and what its last update was made of.
   *
   * @param {{ name: string, row: number, column: number }} asked
   */
  weight({ name, row, column }) {
    return this.started().weight(name, row, column);
  }

  /** @returns {Training} */
  started() {
    if (!this.training) throw new Problem(say("notTrained"));
    return this.training;
  }

  /** @returns {News} */
  news() {
    const { history, film, count } = this.started();
    const since = this.told;
    this.told = count;
    const entries = history.slice(Math.max(since, 0));
    const frames = [...film.items].filter(([step]) => step > since);
    return { count, entries, frames, every: film.every };
  }
}
