// One number of a backward pass, with what its line asks for: steps/cells.py in the page.

import { isShortened, MOST_TERMS } from "../../workings.js";
import { workings } from "../workings.js";
import { BACKWARD } from "./operations/list.js";

/**
 * @typedef {import("./gradients.js").Gradients} Gradients
 * @typedef {import("./steps.js").BackStep} BackStep
 * @typedef {import("./steps.js").Address} Address
 * @typedef {import("../place.js").Term} Term
 * @typedef {import("../../workings.js").Line} Line
 *
 * What stands behind the name, and the numbers that it is made of.
 * @typedef {[how: Line, parts?: () => Cell[]]} How
 */

export class Cell {
  /**
   * @param {Gradients} gradients
   * @param {Address} address
   * @param {number[]} index
   * @param {number} [most] terms of a sum; a longer one is shortened
   */
  constructor(gradients, address, index, most = MOST_TERMS) {
    this.gradients = gradients;
    this.name = address.name;
    this.stage = address.stage;
    this.index = index;
    this.most = most;
  }

  get value() {
    return this.gradients.value(this.name, this.index, this.stage);
  }

  /** @returns {BackStep} */
  get step() {
    return /** @type {BackStep} */ (this.gradients.steps.get(this.name));
  }

  /** The step of the forward pass that this one goes back through. */
  get forward() {
    return /** @type {import("../program.js").Step} */ (this.step.of);
  }

  get settings() {
    return this.gradients.pass.settingsOf(this.forward);
  }

  get parameters() {
    return this.forward.parameters;
  }

  /**
   * Another number of the same step.
   *
   * @param {string} stage
   * @param {number[]} index
   */
  at(stage, ...index) {
    return new Cell(this.gradients, { name: this.name, stage }, index);
  }

  /**
   * A number of an input.
   *
   * @param {number} n
   * @param {number[]} index
   */
  input(n, ...index) {
    return new Cell(this.gradients, this.step.inputs[n], index);
  }

  /** @param {string} stage of the same step */
  tensor(stage) {
    return this.gradients.tensor({ name: this.name, stage });
  }

  /** @param {number} n */
  inputTensor(n) {
    return this.gradients.tensor(this.step.inputs[n]);
  }

  /** @returns {Term} */
  term() {
    const { gradients, index, name, stage, value } = this;
    if (!gradients.steps.has(name)) return workings(gradients.pass, name, index, stage);
    const [how, parts] = BACKWARD[this.step.operation].line(this);
    const said = this.step.of ? `${name}.${stage}` : name;
    /** @type {Line} */
    const line = [[`${said}[${index.join(", ")}]`, "name"], [" = "], ...how];
    const whole = () => new Cell(gradients, { name, stage }, index, Infinity).term();
    const more = parts && (() => parts().map((part) => part.term()));
    return {
      name: said,
      step: name,
      stage,
      index,
      value,
      line,
      parts: more,
      whole: isShortened(line) ? whole : undefined,
    };
  }
}
