// The gradients of one number of a pass, with respect to all that it depends on.

import { brief, say } from "../../../words/words.js";
import { Problem } from "../../problem.js";
import { isWhole } from "../../state.js";
import { lastStage } from "../place.js";
import { Cell } from "./cell.js";
import { BACKWARD } from "./operations/list.js";
import { BackSteps } from "./steps.js";
import { Tensor } from "./tensor.js";

/**
 * @typedef {import("../pass.js").Pass} Pass
 * @typedef {import("./steps.js").Address} Address
 * @typedef {import("./steps.js").BackStep} BackStep
 */

export class Gradients {
  /**
   * @param {Pass} pass
   * @param {string} name of a step
   * @param {number[]} index of a number of its output
   */
  constructor(pass, name, index) {
    const step = pass.machine.step(name);
    if (step.kind.isOfWords) throw new Problem(say("noGradientOfWords", { step: name }));
    pass.value(name, index); // or the sentence why there is none
    this.pass = pass;
    this.name = name;
    this.index = index;
    const { steps, ofOutputs } = new BackSteps(pass.machine.steps, step);
    this.steps = steps;
    this.ofOutputs = ofOutputs;
    /** Stages by their names. @type {Map<string, Record<string, Tensor>>} */
    this.made = new Map();
    /** Of the forward pass, by step and stage. @type {Map<string, Tensor>} */
    this.forward = new Map();
  }

  /**
   * What a gradient of a step is called: that of its output, or a stage of its own backward step.
   *
   * @param {string} name of a step of the forward pass
   * @param {string} [stage] of its backward step
   * @returns {Address | null} null where the number does not depend on the step
   */
  address(name, stage) {
    if (stage === undefined) return this.ofOutputs.get(name) ?? null;
    const back = this.steps.get(`${name}.backward`);
    return back?.stages.includes(stage) ? { name: back.name, stage } : null;
  }

  /**
   * The stages of a step's way back.
   *
   * @param {string} name of a step of the forward pass
   */
  stagesOf(name) {
    return this.steps.get(`${name}.backward`)?.stages ?? [];
  }

  /** @param {Address} address */
  tensor({ name, stage }) {
    if (this.steps.has(name)) return this.stages(name)[stage];
    const key = `${name} ${stage}`;
    const known = this.forward.get(key);
    if (known) return known;
    const made = forwardTensor(this.pass, name, stage);
    this.forward.set(key, made);
    return made;
  }

  /** @param {string} name of a backward step */
  stages(name) {
    for (const step of this.made.has(name) ? [] : this.steps.values()) {
      if (!this.made.has(step.name)) this.made.set(step.name, this.computed(step));
      if (step.name === name) break;
    }
    return /** @type {Record<string, Tensor>} */ (this.made.get(name));
  }

  /** The same, once all of it is computed: or the sentence why it can't be. */
  whole() {
    for (const name of this.steps.keys()) this.stages(name);
    return this;
  }

  /** @param {BackStep} step */
  computed({ inputs, name, of, operation }) {
    const step = /** @type {import("../program.js").Step} */ (of);
    const settings = of ? this.pass.settingsOf(of) : {};
    const made = BACKWARD[operation].formula(
      inputs.map((address) => this.tensor(address)),
      step,
      settings,
      this,
    );
    for (const { numbers } of Object.values(made)) {
      if (!numbers.every(Number.isFinite)) throw new Problem(say("gradientTooLarge", { step: name }));
    }
    return made;
  }

  /**
   * @param {string} name
   * @param {number[]} index
   * @param {string} [stage]
   */
  value(name, index, stage = "output") {
    if (!this.steps.has(name)) return this.pass.value(name, index, stage);
    const tensor = this.stages(name)[stage];
    const isThere =
      tensor && index.length === tensor.shape.length && index.every((n, axis) => isWhole(n, tensor.shape[axis]));
    if (!isThere) throw new Problem(say("noNumberThere", { name: `${name}.${stage}`, index: brief([index].join()) }));
    return tensor.at(...index);
  }

  /**
   * How one of its numbers comes about.
   *
   * @param {Address} address
   * @param {number[]} index
   */
  workings(address, index) {
    this.value(address.name, index, address.stage); // or the sentence why there is none
    return new Cell(this, address, index).term();
  }
}

/**
 * All numbers of a stage of a pass.
 *
 * @param {Pass} pass
 * @param {string} name
 * @param {string} stage
 */
function forwardTensor(pass, name, stage) {
  const step = pass.machine.step(name);
  const isOfHeads = step.kind.isOfHeads && stage !== lastStage(step);
  const heads = isOfHeads ? [...Array(step.heads).keys()] : [undefined];
  const rows = heads.flatMap((head) => pass.rows(name, stage, head));
  const width = rows[0].length;
  const made = new Tensor([
    ...(isOfHeads ? [step.heads] : []),
    pass.length(name),
    ...(step.kind.isOfWords ? [] : [width]),
  ]);
  for (const [n, row] of rows.entries()) made.numbers.set(row, n * width);
  return made;
}
