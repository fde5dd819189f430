// The six formulas of stages.py, row by row: each row of a stage from the stages before it.

import { dot, keepRule } from "./data.js";
import { survivors } from "./philox.js";
import { STAGES } from "./words.js";

export const FORMULAS = {
  scores: (a, i) => a.data.scores(a.batch, a.head, i),
  scaled: (a, i) => a.row("scores", i).map((score) => score * a.scale),
  masked(a, i) {
    const keeps = a.keeps(i);
    return a.row("scaled", i).map((cell, j) => (keeps[j] ? cell : -Infinity));
  },
  weights(a, i) {
    const { exps, sum } = a.statistics(i);
    return exps.map((e) => e / sum);
  },
  dropped(a, i) {
    const survives = a.survives(i);
    const weights = a.row("weights", i);
    return survives ? weights.map((w, j) => (w * survives[j]) / (1 - a.dropout.p)) : weights;
  },
  output(a, i) {
    const dropped = a.row("dropped", i);
    return Float64Array.from({ length: a.data.Dv }, (_, d) => dot(dropped, a.values(d)));
  },
};

export class Attention {
  // settings: batch, head, scale, mask; `formulas` may override some of the six.
  constructor(data, { batch, head, scale, mask }, formulas = FORMULAS) {
    Object.assign(this, { data, batch, head, scale, formulas, dropout: data.dropout });
    const json = mask === "given" ? data.keepJson : maskJson(mask);
    this.keep = json && keepRule(json, data.L, data.S);
    const made = () => Object.fromEntries(STAGES.map((stage) => [stage, []]));
    Object.assign(this, { rows: made(), kept: [], found: [], columns: [] });
  }

  row(stage, i) {
    return (this.rows[stage][i] ??= this.formulas[stage](this, i));
  }

  cell(stage, i, j) {
    return this.row(stage, i)[j];
  }

  keeps(i) {
    return (this.kept[i] ??= Uint8Array.from({ length: this.data.S },
      (_, j) => !this.keep || this.keep(this.batch, this.head, i, j)));
  }

  survives(i) {
    return this.dropout && survivors(this.dropout, this.batch, this.head, i, this.data.S);
  }

  // Of a row that keeps nothing: max 0, sum 1, and weights 0.
  statistics(i) {
    return (this.found[i] ??= this.countRow(i));
  }

  countRow(i) {
    const masked = this.row("masked", i);
    const isDead = !this.keeps(i).includes(1);
    const max = isDead ? 0 : masked.reduce((a, b) => Math.max(a, b));
    const exps = masked.map((cell) => Math.exp(cell - max));
    const sum = isDead ? 1 : exps.reduce((a, b) => a + b, 0);
    return { max, sum, exps, isDead };
  }

  values(d) {
    const { data, batch, head } = this;
    return (this.columns[d] ??= Float64Array.from({ length: data.S },
      (_, j) => data.number("v", batch, head, j, d)));
  }
}

export function maskJson(mask) {
  if (mask === "none") return null;
  if (mask === "causal") return { kind: "causal" };
  const [before, after] = mask.slice("window:".length).split(",").map(Number);
  return { kind: "window", before, after };
}
