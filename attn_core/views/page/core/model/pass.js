// One pass of a model: its numbers, row by row, each made when it is asked for.

import { brief, say } from "../../words/words.js";
import { Attention } from "../attention.js";
import { Data } from "../data.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";
import { settingsWith } from "./changes.js";
import { lastStage } from "./place.js";
import { reachIn, sharedRows } from "./reuse.js";

/**
 * @typedef {import("./changes.js").Changes} Changes
 * @typedef {import("./machine.js").Machine} Machine
 * @typedef {import("./program.js").Step} Step
 */

export class Pass {
  /**
   * @param {Machine} machine
   * @param {number[]} source
   * @param {number[]} target
   * @param {Changes} changes
   * @param {Pass[]} earlier passes whose rows are taken over where they cannot differ, the last one first
   */
  constructor(machine, source, target, changes, earlier) {
    this.machine = machine;
    this.source = source;
    this.target = target;
    this.changes = changes;
    /** By step, with what is switched off. */
    this.settings = machine.steps.map((step) => settingsWith(step, changes));
    const off = new Set(Object.entries(changes).flatMap(([kind, all]) => all.map((change) => `${kind} ${change}`)));
    this.reach = reachIn(machine.steps, off, this.settings);
    /** By step and row, the row of each stage. @type {Float64Array[][][]} */
    this.kept = machine.steps.map(() => []);
    /** By step its rows as heads. @type {import("../arrays.js").NumberArray[]} */
    this.split = [];
    /** By step. @type {Data[]} */
    this.datas = [];
    /** By step and head. @type {Attention[][]} */
    this.attentions = machine.steps.map(() => []);
    for (const step of machine.steps) this.takeOver(step, earlier);
  }

  /**
   * @param {Step} step
   * @param {Pass[]} earlier
   */
  takeOver(step, earlier) {
    const { at } = step;
    let most = 0;
    for (const pass of earlier) {
      const rows = sharedRows(step, pass, this);
      if (rows === Infinity) {
        this.kept[at] = pass.kept[at];
        this.attentions[at] = pass.attentions[at];
        this.datas[at] = pass.datas[at];
        this.split[at] = pass.split[at];
        return;
      }
      if (rows > most) this.kept[at] = pass.kept[at].slice(0, rows);
      most = Math.max(most, rows);
    }
  }

  /** @param {Step} step */
  settingsOf({ at }) {
    return this.settings[at];
  }

  /** @param {import("./program.js").Axis} axis */
  ids(axis) {
    return axis === "source" ? this.source : this.target;
  }

  /** @param {Step} step */
  lengthOf({ axis }) {
    return axis === "one" ? 1 : this.ids(axis).length;
  }

  /**
   * Row t of each stage of a step; of attention, of its last one.
   *
   * @param {Step} step
   * @param {number} t
   */
  made(step, t) {
    const kept = this.kept[step.at];
    if (!kept[t]) {
      const rows = step.kind.rows(this, step, t);
      for (const row of rows) {
        for (let n = 0; n < row.length; n++) step.must(Number.isFinite(row[n]), "numbers that fit float64");
      }
      kept[t] = rows;
    }
    return kept[t];
  }

  /**
   * Row t of what comes out of a step.
   *
   * @param {Step} step
   * @param {number} t
   */
  output(step, t) {
    const rows = this.made(step, t);
    return rows[rows.length - 1];
  }

  /**
   * @param {string} name
   * @param {string} [stage] the last if it is left out
   * @param {number} [t]
   * @param {number} [head] of attention, for all its stages but the last
   */
  row(name, stage, t = 0, head) {
    const step = this.machine.step(name);
    const at = stage === undefined ? step.stages.length - 1 : step.stages.indexOf(stage);
    if (at < 0) throw new Problem(say("noStage", { step: name, stage: String(stage) }));
    if (!isWhole(t, this.lengthOf(step))) throw new Problem(say("noRow", { step: name, t }));
    if (at === step.stages.length - 1) return this.output(step, t);
    if (!step.kind.isOfHeads) return this.made(step, t)[at];
    return this.attention(name, head ?? 0).row(step.stages[at], t);
  }

  /**
   * @param {string} name
   * @param {string} [stage]
   * @param {number} [head]
   */
  rows(name, stage, head) {
    return Array.from({ length: this.length(name) }, (_, t) => this.row(name, stage, t, head));
  }

  /** @param {string} name */
  length(name) {
    return this.lengthOf(this.machine.step(name));
  }

  /**
   * The word of each row.
   *
   * @param {string} name
   * @returns {string[]}
   */
  labels(name) {
    const { axis, inputs } = this.machine.step(name);
    if (axis === "one") return this.labels(inputs[0].name).slice(-1);
    return this.ids(axis).map((id) => this.machine.words[axis][id]);
  }

  /**
   * q, k and v of an attention with its scale and its mask: the payload of an explorer, its arrays decoded.
   *
   * @param {string} name
   */
  payload(name) {
    const step = this.attentionStep(name);
    const { keep, scale } = this.settingsOf(step);
    const { heads, keyHeads } = step;
    const [q, k, v] = step.inputs.map((input, n) => this.heads(input, n ? keyHeads : heads));
    return {
      version: 1,
      tokens: { queries: this.labels(name), keys: this.labels(step.inputs[1].name) },
      q,
      k,
      v,
      keep,
      scale,
      dropout: null,
      source: null,
    };
  }

  /** @param {string} name */
  data(name) {
    const { at } = this.attentionStep(name);
    this.datas[at] ??= new Data(this.payload(name));
    return this.datas[at];
  }

  /**
   * @param {string} name
   * @param {number} head
   */
  attention(name, head) {
    const step = this.attentionStep(name);
    if (!isWhole(head, step.heads)) throw new Problem(say("noHead", { step: name, head }));
    const data = this.data(name);
    this.attentions[step.at][head] ??= new Attention(data, { batch: 0, head, scale: data.scale, mask: "given" });
    return this.attentions[step.at][head];
  }

  /** @param {string} name */
  attentionStep(name) {
    const step = this.machine.step(name);
    if (!step.kind.isOfHeads) throw new Problem(say("noAttention", { step: name }));
    return step;
  }

  /**
   * The rows of a step, split into heads: [1, H, T, D].
   *
   * @param {Step} step
   * @param {number} H
   */
  heads(step, H) {
    const [T, D] = [this.lengthOf(step), step.width / H];
    if (this.split[step.at]?.shape[1] === H) return this.split[step.at];
    const numbers = new Float64Array(H * T * D);
    for (let t = 0; t < T; t++) {
      const row = this.output(step, t);
      for (let h = 0, n = 0; h < H; h++) {
        for (let d = 0, at = (h * T + t) * D; d < D; d++) numbers[at++] = row[n++];
      }
    }
    this.split[step.at] = { dtype: "float64", shape: [1, H, T, D], numbers };
    return this.split[step.at];
  }

  /**
   * [rows, columns]; of a stage of heads [heads, rows, columns], of words [rows]. row_max and row_sum have no columns.
   *
   * @param {string} name
   * @param {string} [stage]
   */
  shape(name, stage) {
    const step = this.machine.step(name);
    const { heads, kind } = step;
    const length = this.lengthOf(step);
    if (kind.isOfWords) return [length];
    const isOfHeads = kind.isOfHeads && stage !== undefined && stage !== lastStage(step);
    const rows = isOfHeads ? [heads, length] : [length];
    return stage && step.statistics.includes(stage) ? rows : [...rows, this.row(name, stage).length];
  }

  /**
   * One number: its index is as long as the shape of its stage.
   *
   * @param {string} name
   * @param {number[]} index
   * @param {string} [stage]
   */
  value(name, index, stage) {
    const shape = this.shape(name, stage);
    const isThere =
      Array.isArray(index) && index.length === shape.length && index.every((n, i) => isWhole(n, shape[i]));
    if (!isThere) {
      throw new Problem(
        say("noNumberThere", { name: stage ? `${name}.${stage}` : name, index: brief([index].join()) }),
      );
    }
    const step = this.machine.step(name);
    if (stage && step.statistics.includes(stage)) return step.kind.statistics(this, step, index)[stage];
    if (shape.length === 3) return this.row(name, stage, index[1], index[0])[index[2]];
    return this.row(name, stage, index[0])[index[1] ?? 0];
  }
}
