// The stages of an attention's heads, and their outputs side by side.

import { say } from "../../../words/words.js";
import { keepRule } from "../../masks.js";
import { STAGES } from "../../stages.js";
import { equals, result } from "./lines.js";
import { USUAL } from "./operation.js";
import { RowWorkings } from "./row_workings.js";

/**
 * @typedef {import("../place.js").Place} Place
 * @typedef {import("../place.js").Term} Term
 * @typedef {import("../program.js").Step} Step
 */

/**
 * Whether a mask keeps every row from what stands behind it.
 *
 * @param {import("../../masks.js").Keep | null} keep
 */
function looksBack(keep) {
  if (!keep) return false;
  const row = new Uint8Array([1, 1]);
  keepRule(keep, 2, 2)(row, 0, 0, 0);
  return !row[1];
}

/** @type {(step: Step, head: number) => number} */
export const keyHeadOf = (step, head) => Math.floor((head * step.keyHeads) / step.heads);

/** Those of one head: [head, row, column]. */
class HeadWorkings extends RowWorkings {
  /** @param {Place} place */
  constructor(place) {
    const [head, t] = place.index;
    super(place.pass.attention(place.step.name, head), t, place);
    this.before = [head];
  }

  /** @param {number} j */
  scores(j) {
    const { inputs, step } = this.place;
    const [q, k] = inputs;
    const [[head], width] = [this.before, q.width / step.heads];
    const keyHead = keyHeadOf(step, head);
    /** @type {(x: Step, t: number, h: number) => Term[]} */
    const shown = (x, t, h) => this.place.shown(x, t, width, h * width);
    return { ...super.scores(j), parts: () => [...shown(q, this.i, head), ...shown(k, j, keyHead)] };
  }

  /** @type {RowWorkings["number"]} */
  number(_, position, d) {
    const { inputs, step } = this.place;
    const [, , v] = inputs;
    const first = (keyHeadOf(step, this.before[0]) * v.width) / step.keyHeads;
    return this.place.number(v, position, first + d);
  }
}

/**
 * All heads side by side; those that are switched off give zeros.
 *
 * @param {import("../pass.js").Pass} pass
 * @param {Step} step
 * @param {number} t
 */
function merged(pass, step, t) {
  const row = new Float64Array(step.width);
  const each = step.width / step.heads;
  const { heads_off } = pass.settingsOf(step);
  for (let head = 0; head < step.heads; head++) {
    if (!heads_off.includes(head)) row.set(pass.attention(step.name, head).row("output", t), head * each);
  }
  return row;
}

/** @type {(stage: string) => (place: Place) => Term} */
const ofHead = (stage) => (place) => /** @type {any} */ (new HeadWorkings(place))[stage](place.index[2]);

/** @type {import("./operation.js").Operation} */
export const attention = {
  ...USUAL,
  isOfHeads: true,
  width(step) {
    const { heads, inputs, keyHeads } = step;
    const [q, k, v] = inputs;
    const isWhole = heads % keyHeads === 0 && q.width % heads === 0 && v.width % keyHeads === 0;
    const fits = q.width / heads === k.width / keyHeads && k.axis === v.axis;
    step.must(isWhole && fits, "q, k and v that fit its heads and each other");
    return (v.width / keyHeads) * heads;
  },
  // Its other stages are those of `pass.attention`.
  rows: (pass, step, t) => [merged(pass, step, t)],
  statistics(pass, { name }, [head, t]) {
    const { max, sum } = pass.attention(name, head).statistics(t);
    return { row_max: max, row_sum: sum };
  },
  looksAhead({ axis, inputs: [, keys] }, { keep }) {
    return keys.axis === "target" && (axis !== "target" || !looksBack(keep));
  },
  // The rows that the mask keeps, in one head or in any.
  madeOf(pass, { name, heads, inputs }, t, head) {
    const asked = head === undefined ? [...Array(heads).keys()] : [head];
    const rows = asked.map((n) => pass.row(name, "weights", t, n));
    const kept = [...rows[0].keys()].filter((j) => rows.some((row) => row[j] > 0));
    return inputs.map((input, n) => [input, n ? kept : [t]]);
  },
  lines: {
    ...Object.fromEntries(STAGES.map((stage) => [stage, ofHead(stage)])),
    row_max: (place) => new HeadWorkings(place).rowMax(),
    row_sum: (place) => new HeadWorkings(place).rowSum(),
    merged(place) {
      const { col, pass, step, t } = place;
      const width = step.width / step.heads;
      const [head, column] = [Math.floor(col / width), col % width];
      if (pass.settingsOf(step).heads_off.includes(head)) return [[result(0), [say("headIsOff", { head })]]];
      const parts = () => [place.write(pass, step, "output", [head, t, column])];
      return [equals(say("headColumn", { head, column }), place.value), parts];
    },
  },
};
