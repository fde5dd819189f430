// The written-out arithmetic of gradients: the lines of gradients/row_lines.py and input_lines.py.

import { say } from "../../words/words.js";
import { dot } from "../arrays.js";
import { written } from "../digits.js";
import { factor, keptTerms, listed, result, sumOfProducts, survivingText, Workings } from "../workings.js";
import { headsOf, rowDot } from "./formulas.js";

/**
 * @typedef {import("../attention.js").Attention} Attention
 * @typedef {import("../workings.js").Line} Line
 * @typedef {import("../workings.js").Term} Term
 *
 * @typedef {object} Factors two rows of numbers whose products add up to a gradient
 * @property {string[]} labels whose they are
 * @property {ArrayLike<number>} a
 * @property {ArrayLike<number>} b
 * @property {string[]} names
 * @property {string[]} colours
 * @property {[name: string, x: number][]} ends the sum
 */

/** Beside the six stages those of the way back; for grad_k and grad_v the row is that of a key. */
export class GradientWorkings extends Workings {
  /**
   * The same of another row, or another head.
   *
   * @param {number} i
   * @param {Attention} [attention]
   */
  at(i, attention = this.attention) {
    return new GradientWorkings(attention, i, this.most);
  }

  /** @type {Workings["term"]} */
  term(...given) {
    return { ...super.term(...given), head: this.attention.head };
  }

  /**
   * @param {string} name
   * @param {number} j
   * @param {Line} how
   * @param {() => Term[]} [parts]
   */
  gradient(name, j, how, parts) {
    return this.term(name, [this.i, j], [...how, result(this.attention.cell(name, this.i, j))], parts);
  }

  /**
   * @param {string} name
   * @param {number} j
   * @param {string} reason a word
   */
  zero(name, j, reason) {
    return this.term(name, [this.i, j], [result(0), [say(reason)]]);
  }

  /** @param {number} d */
  grad_output(d) {
    return this.gradient("grad_output", d, []);
  }

  gradOutputRow() {
    const [row] = this.rows("grad_output");
    const numbers = listed(row.length, (n) => [[written(row[n])]], undefined, this.most);
    return this.term("grad_output", [this.i], [["("], ...numbers, [")"]]);
  }

  /** @param {number} j */
  grad_dropped(j) {
    const { batch, head } = this.attention;
    const [grad] = this.rows("grad_output");
    const products = sumOfProducts(grad, this.data.vector("v", batch, head, j), undefined, "v", this.most);
    const parts = () => [this.gradOutputRow(), this.vector("v", j)];
    return this.gradient("grad_dropped", j, [...products, [" = "]], parts);
  }

  /** @param {number} j */
  grad_weights(j) {
    const { dropout } = this.attention;
    const parts = () => [this.grad_dropped(j)];
    if (!dropout) return this.gradient("grad_weights", j, [], parts);
    if (!this.attention.survives(this.i)?.[j]) return this.zero("grad_weights", j, "isDropped");
    const [{ [j]: before }] = this.rows("grad_dropped");
    return this.gradient("grad_weights", j, [[`${survivingText(before, dropout.p)} = `]], parts);
  }

  rowDot() {
    const [grad, output] = this.rows("grad_output", "output");
    const products = sumOfProducts(grad, output, undefined, undefined, this.most);
    const parts = () => [this.gradOutputRow(), ...keptTerms(output.length, this.most).map((d) => this.output(d))];
    return this.term("row_dot", [this.i], [...products, [" = "], result(dot(grad, output))], parts);
  }

  /** @param {number} j */
  grad_masked(j) {
    const { attention, i } = this;
    if (!attention.keeps(i)[j]) return this.zero("grad_masked", j, "notKept");
    const [{ [j]: weight }, { [j]: grad }] = this.rows("weights", "grad_weights");
    const mean = rowDot(attention, i);
    /** @type {Line} */
    const how = [[`${written(weight, grad - mean)} · (${written(grad)} - ${factor(mean)[0]}) = `]];
    const before = attention.dropout ? "grad_weights" : "grad_dropped";
    return this.gradient("grad_masked", j, how, () => [this.weights(j), this[before](j), this.rowDot()]);
  }

  /** @param {number} j */
  grad_scaled(j) {
    if (!this.attention.keeps(this.i)[j]) return this.zero("grad_scaled", j, "notKept");
    return this.gradient("grad_scaled", j, [], () => [this.grad_masked(j)]);
  }

  /** @param {number} j */
  grad_scores(j) {
    const { scale, hasMask, data } = this.attention;
    const { softcap } = data;
    const [{ [j]: before }, { [j]: score }] = this.rows("grad_scaled", "scores");
    const scaled = `${written(score, scale)} · ${written(scale, score)}`;
    const flat = softcap ? ` · (1 - tanh(${scaled} / ${written(softcap)})²)` : "";
    /** @type {Line} */
    const how = [[`${written(before, scale)} · ${factor(scale, undefined, before)[0]}${flat} = `]];
    const parts = () => [this[hasMask ? "grad_scaled" : "grad_masked"](j), ...(softcap ? [this.scores(j)] : [])];
    return this.gradient("grad_scores", j, how, parts);
  }

  /** @param {number} d */
  grad_q(d) {
    const { a, b } = /** @type {Factors} */ (this.factors("grad_q", d));
    const parts = () => {
      const shown = keptTerms(a.length, this.most);
      return [...shown.map((j) => this.grad_scores(j)), ...shown.map((j) => this.number("k", j, d))];
    };
    return this.gradient("grad_q", d, [...sumOfProducts(a, b, undefined, "k", this.most), [" = "]], parts);
  }

  /** @param {number} d */
  grad_k(d) {
    const parts = (/** @type {GradientWorkings[]} */ rows) => [
      ...rows.map((row) => row.grad_scores(this.i)),
      ...rows.map((row) => row.number("q", row.i, d)),
    ];
    return this.overHeads("grad_k", d, "q", parts);
  }

  /** @param {number} d */
  grad_v(d) {
    const parts = (/** @type {GradientWorkings[]} */ rows) => [
      ...rows.map((row) => row[row.attention.dropout ? "dropped" : "weights"](this.i)),
      ...rows.map((row) => row.grad_output(d)),
    ];
    return this.overHeads("grad_v", d, undefined, parts);
  }

  /**
   * A sum over the queries; where several heads share the key, one for each.
   *
   * @param {"grad_k" | "grad_v"} name
   * @param {number} d
   * @param {string | undefined} colour
   * @param {(rows: GradientWorkings[]) => Term[]} partsOf
   */
  overHeads(name, d, colour, partsOf) {
    const { i, most } = this;
    const of = (/** @type {Attention} */ attention) => {
      const { a, b, ends } = /** @type {Factors} */ (this.at(i, attention).factors(name, d));
      /** @type {Line} */
      const how = [...sumOfProducts(a, b, undefined, colour, most), [" = "], result(ends[0][1])];
      const parts = () => partsOf(keptTerms(a.length, most).map((row) => this.at(row, attention)));
      return { value: ends[0][1], head: attention.head, term: this.term(name, [i, d], how, parts) };
    };
    const all = headsOf(this.attention).map(of);
    if (all.length === 1) return all[0].term;
    const sum = listed(all.length, (n) => [factor(all[n].value)], " + ", most);
    const parts = () =>
      keptTerms(all.length, most).map((n) => {
        const { head, term } = all[n];
        return { ...term, line: /** @type {Line} */ ([[`${say("head")} ${head}: `], ...term.line]) };
      });
    return this.gradient(name, d, [...sum, [" = "]], parts);
  }

  /**
   * What is multiplied and added up for a number; of grad_k and grad_v in this head alone.
   *
   * @param {string} stage
   * @param {number} n its column
   * @returns {Factors | null} null of what was given
   */
  factors(stage, n) {
    const { attention, data, i } = this;
    const { batch, head } = attention;
    /** @type {(name: string, at: number) => Float64Array} */
    const column = (name, at) => Float64Array.from({ length: data.L }, (_, row) => attention.cell(name, row, at));
    /** @type {(name: "q" | "k", count: number) => Float64Array} */
    const side = (name, count) =>
      Float64Array.from({ length: count }, (_, row) => data.number(name, batch, head, row, n));
    const labels = [data.rowNames(stage)[i], data.isOfPairs(stage) ? data.keys[n] : say("column", { n })];
    /** @type {(names: string[], colours: string[], a: ArrayLike<number>, b: ArrayLike<number>) => Factors} */
    const sum = (names, colours, a, b) => ({ labels, names, colours, a, b, ends: [[say(stage), dot(a, b)]] });
    switch (stage) {
      case "grad_output":
        return null;
      case "grad_q":
        return sum([say("grad_scores"), "k"], ["q", "k"], attention.row("grad_scores", i), side("k", data.S));
      case "grad_k":
        return sum([say("grad_scores"), "q"], ["k", "q"], column("grad_scores", i), side("q", data.L));
      case "grad_v":
        return sum([say("weights"), say("grad_output")], ["k", "q"], column("dropped", i), column("grad_output", n));
    }
    const values = data.vector("v", batch, head, n);
    return {
      ...sum([say("grad_output"), "v"], ["q", "v"], attention.row("grad_output", i), values),
      ends: [[say("grad_dropped"), attention.cell("grad_dropped", i, n)]],
    };
  }
}
