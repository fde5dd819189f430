// A number of a pass that is to be written out, and its way to the numbers that it is made of.

import { isShortened, keptTerms, MOST_TERMS } from "../workings.js";

/**
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
 * @property {(() => Term)} [whole] the same with all terms of a sum that the line shortens
 *
 * What stands behind the name, and the parts.
 * @typedef {[how: Line, parts?: () => Term[]]} How
 *
 * @typedef {(pass: Pass, step: Step, stage: string, index: number[], most?: number) => Term} Write
 */

/** @param {Step} step */
export const lastStage = ({ stages }) => stages[stages.length - 1];

export class Place {
  /**
   * @param {Pass} pass
   * @param {Step} step
   * @param {string} stage
   * @param {number[]} index
   * @param {Write} write how its parts are written out
   * @param {number} [most] terms of a sum; a longer one is shortened
   */
  constructor(pass, step, stage, index, write, most = MOST_TERMS) {
    const [t, col = 0] = index;
    this.pass = pass;
    this.step = step;
    this.stage = stage;
    this.index = index;
    this.t = t;
    this.col = col;
    this.write = write;
    this.most = most;
    this.inputs = step.inputs;
  }

  get value() {
    return this.pass.value(this.step.name, this.index, this.stage);
  }

  /**
   * Row t of what comes out of a step.
   *
   * @param {Step} step
   */
  row(step) {
    return this.pass.output(step, this.t);
  }

  /**
   * Row t of a stage of its own step.
   *
   * @param {string} stage
   */
  own(stage) {
    return this.pass.row(this.step.name, stage, this.t);
  }

  /**
   * Another stage of its own step.
   *
   * @param {string} stage
   * @param {number[]} index
   */
  beside(stage, index) {
    return new Place(this.pass, this.step, stage, index, this.write);
  }

  /**
   * @param {How} how
   * @returns {Term}
   */
  term([how, parts]) {
    const { index, pass, stage, step, value, write } = this;
    const name = stage === lastStage(step) ? step.name : `${step.name}.${stage}`;
    /** @type {Line} */
    const line = [[`${name}[${index.join(", ")}]`, "name"], [" = "], ...how];
    const whole = isShortened(line) ? () => write(pass, step, stage, index, Infinity) : undefined;
    return { name, step: step.name, stage, index, value, line, parts, whole };
  }

  /**
   * A number of what comes out of a step.
   *
   * @param {Step} step
   * @param {number} [t]
   * @param {number} [col]
   */
  number(step, t = this.t, col = this.col) {
    return this.write(this.pass, step, lastStage(step), [t, col]);
  }

  /**
   * A number of a stage of its own step.
   *
   * @param {string} stage
   * @param {number} [col]
   */
  ofStage(stage, col = this.col) {
    return this.write(this.pass, this.step, stage, [this.t, col]);
  }

  /**
   * The numbers of a row that a long sum shows, from a column on.
   *
   * @param {Step} step
   * @param {number} [t]
   * @param {number} [width]
   * @param {number} [first]
   */
  shown(step, t = this.t, width = step.width, first = 0) {
    return keptTerms(width, this.most).map((n) => this.number(step, t, first + n));
  }
}
