// Back through a rotation: the gradient, rotated by the same angles the other way round.

import { rotatedText } from "../../../workings.js";
import { ruleOf } from "../../operations/rotary.js";
import { equal, passedOn } from "../lines.js";
import { sizeOf, table } from "../tensor.js";

/** @type {import("./operation.js").Backward} */
export const rotary = {
  formula([gradient], step, { off }) {
    if (off) return { grad_input: gradient };
    const rule = ruleOf(step);
    return { grad_input: table(sizeOf(gradient), (t, n) => rule.rotated((column) => gradient.at(t, column), n, -t)) };
  },
  line(cell) {
    const [row, column] = cell.index;
    const gradient = cell.input(0, row, column);
    if (cell.settings.off) return passedOn(gradient, "positionsAreOff");
    const { pair, other, isFirst } = ruleOf(cell.forward).pairOf(column);
    const [beside, angle] = [cell.input(0, row, other), cell.input(1, row, pair)];
    const text = rotatedText(gradient.value, beside.value, angle.value, !isFirst);
    return equal(cell, text, () => [gradient, beside, angle]);
  },
};
