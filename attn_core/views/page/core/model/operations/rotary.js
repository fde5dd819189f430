// Pairs of a query's or a key's numbers, rotated by their position.

import { Rotary } from "../../rotary.js";
import { rotatedText } from "../../workings.js";
import { equals, switchedOff } from "./lines.js";
import { rowOf, USUAL } from "./operation.js";

/** @type {(step: import("../program.js").Step) => Rotary} */
export const ruleOf = ({ settings }) => new Rotary(/** @type {any} */ (settings));

/** @type {import("./operation.js").Operation} */
export const rotary = {
  ...USUAL,
  width(step) {
    const { width } = step.inputs[0];
    step.must(width % ruleOf(step).headDim === 0, "rows of whole heads");
    return width;
  },
  rows(pass, step, t) {
    const x = pass.output(step.inputs[0], t);
    const rule = ruleOf(step);
    const angles = rowOf(rule.headDim / 2, (pair) => rule.angle(t, pair));
    if (pass.settingsOf(step).off) return [angles, x];
    return [angles, rowOf(step.width, (n) => rule.rotated((column) => x[column], n, t))];
  },
  lines: {
    angle: (place) => [equals(ruleOf(place.step).angleText(place.t, place.col), place.value)],

    output(place) {
      const { col, pass, step } = place;
      const [x] = place.inputs;
      if (pass.settingsOf(step).off) return switchedOff(place, x, "positionsAreOff");
      const { pair, other, isFirst } = ruleOf(step).pairOf(col);
      const row = place.row(x);
      const text = rotatedText(row[col], row[other], place.own("angle")[pair], isFirst);
      const parts = () => [place.number(x), place.number(x, place.t, other), place.ofStage("angle", pair)];
      return [equals(text, place.value), parts];
    },
  },
};
