// The steps of a backward pass, each after those that it needs: steps/gradients.py in the page.

import { DECLARED } from "../declared.js";
import { lastStage } from "../place.js";

/**
 * @typedef {import("../program.js").Step} Step
 *
 * A step's stage, of the forward pass or of the way back.
 * @typedef {{ name: string, stage: string }} Address
 *
 * @typedef {object} BackStep
 * @property {string} name
 * @property {string} operation whose way back it is; "itself" where it starts, "sum" where gradients are added up
 * @property {Address[]} inputs
 * @property {Step | null} of the step of the forward pass; without it, the one stage has no name
 * @property {string[]} stages
 * @property {string[]} statistics
 */

export class BackSteps {
  /**
   * @param {Step[]} steps of the forward pass
   * @param {Step} loss whose number it is
   */
  constructor(steps, loss) {
    /** @type {Map<string, BackStep>} */
    this.steps = new Map();
    /** The gradient of each step's output. @type {Map<string, Address>} */
    this.ofOutputs = new Map();
    /** What the users of each output have. @type {Map<string, Address[]>} */
    this.ofUses = new Map();
    /** The same of each weight. @type {Map<string, Address[]>} */
    this.ofWeights = new Map();
    const start = this.unnamed(`${loss.name}.grad_output`, "itself", [{ name: loss.name, stage: lastStage(loss) }]);
    note(this.ofUses, loss.name, start);
    for (const step of [...steps].reverse()) {
      const uses = this.ofUses.get(step.name);
      if (uses) this.addBackward(step, uses);
    }
    for (const [name, gradients] of this.ofWeights) this.unnamed(`${name}.grad`, "sum", gradients);
  }

  /**
   * @param {string} name
   * @param {string} operation
   * @param {Address[]} inputs
   */
  unnamed(name, operation, inputs) {
    this.steps.set(name, { name, operation, inputs, of: null, stages: ["output"], statistics: [] });
    return { name, stage: "output" };
  }

  /**
   * The backward step of a step, whose users all have theirs already.
   *
   * @param {Step} step
   * @param {Address[]} uses
   */
  addBackward(step, uses) {
    const gradient = uses.length > 1 ? this.unnamed(`${step.name}.grad_output`, "sum", uses) : uses[0];
    this.ofOutputs.set(step.name, gradient);
    const { backward, takes } = DECLARED[step.operation];
    if (!backward) return;
    const name = `${step.name}.backward`;
    const ofInputs = step.inputs.map((_, n) => (takes[1] === null ? `${backward.inputs[0]}_${n}` : backward.inputs[n]));
    const roles = Object.keys(step.parameters);
    const stages = [...backward.stages, ...ofInputs.filter((stage) => stage !== null), ...roles.map(gradientOf)];
    const inputs = [gradient, ...backward.reads.flatMap((stage) => readOf(step, stage))];
    const { statistics } = backward;
    this.steps.set(name, { name, operation: step.operation, inputs, of: step, stages, statistics });
    for (const [n, stage] of ofInputs.entries()) if (stage) note(this.ofUses, step.inputs[n].name, { name, stage });
    for (const role of roles) note(this.ofWeights, step.names[role], { name, stage: gradientOf(role) });
  }
}

/** @type {(role: string) => string} */
const gradientOf = (role) => `grad_${role}`;

/** @type {(step: Step, stage: string) => Address[]} */
const readOf = (step, stage) =>
  stage === "inputs"
    ? step.inputs.map((input) => ({ name: input.name, stage: lastStage(input) }))
    : [{ name: step.name, stage }];

/** @type {(all: Map<string, Address[]>, name: string, address: Address) => void} */
function note(all, name, address) {
  all.set(name, [...(all.get(name) ?? []), address]);
}
