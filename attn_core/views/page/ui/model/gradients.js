// Which stage of a station is shown while the gradients of a number are.

import { lastStage } from "../../core/model/place.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 * @typedef {import("../../core/model/backward/gradients.js").Gradients} Gradients
 * @typedef {import("../../core/model/backward/steps.js").Address} Address
 *
 * @typedef {object} Shown what a station shows
 * @property {string} stage
 * @property {boolean} isBack whether it is of the way back
 * @property {Address | null} address of a stage of the way back; null where the number does not depend on the step
 */

export const OF_OUTPUT = "grad"; // the stage that is the gradient of a step's output

/** @type {(name: string, index: number[]) => string} */
export const numberName = (name, index) => `${name}[${index.join(", ")}]`;

/**
 * The stage of a station that a state names; while gradients are shown, that of the output unless it names another.
 *
 * @param {Step} step
 * @param {string} stage
 * @param {Gradients | null} gradients
 * @returns {Shown}
 */
export function shownOf(step, stage, gradients) {
  if (!gradients || step.kind.isOfWords || step.stages.includes(stage)) {
    return { stage: stage || lastStage(step), isBack: false, address: null };
  }
  const isOfOutput = !gradients.stagesOf(step.name).includes(stage);
  const address = gradients.address(step.name, isOfOutput ? undefined : stage);
  return { stage: isOfOutput ? OF_OUTPUT : stage, isBack: true, address };
}

/**
 * Whether a stage of the way back has a row for each word, as that of a weight has not.
 *
 * @param {Step} step
 * @param {string} stage
 */
export const isOfRows = ({ parameters }, stage) => !Object.keys(parameters).some((role) => stage === `grad_${role}`);

/**
 * The station of a step of the way back, and the stage of it there.
 *
 * @param {Gradients} gradients
 * @param {string} name
 * @param {string} stage
 */
export function stationOf({ pass, steps }, name, stage) {
  const { of } = /** @type {import("../../core/model/backward/steps.js").BackStep} */ (steps.get(name));
  if (of) return { at: of.name, stage };
  if (name.endsWith(".grad_output")) return { at: name.slice(0, -".grad_output".length), stage: OF_OUTPUT };
  const weight = name.slice(0, -".grad".length);
  for (const { name: at, names } of pass.machine.steps) {
    const role = Object.keys(names).find((each) => names[each] === weight);
    if (role) return { at, stage: `grad_${role}` };
  }
  return { at: name, stage };
}
