// The written-out arithmetic of any number: the lines of arithmetic.py.

import { plain } from "./digits.js";

export const MOST_TERMS = 16; // longer sums are written with their first twelve terms and the last

// A line is a list of [text, colour?]; a term has a line and, on demand, the terms it is made of.

export function factor(x, colour) {
  const text = plain(x);
  return [text.startsWith("-") ? `(${text})` : text, colour];
}

export function keptTerms(count) {
  const all = [...Array(count).keys()];
  return count <= MOST_TERMS ? all : [...all.slice(0, 12), count - 1];
}

export function listed(count, write, between = ", ") {
  const shown = keptTerms(count).map(write);
  if (count > MOST_TERMS) shown.splice(-1, 0, [[`… ${count - 13} more …`]]);
  return shown.flatMap((line, n) => (n ? [[between], ...line] : line));
}

export const sumOfProducts = (a, b, ca, cb) =>
  listed(a.length, (n) => [factor(a[n], ca), ["·"], factor(b[n], cb)], " + ");

export class Workings {
  constructor(attention, i) {
    Object.assign(this, { attention, data: attention.data, i });
    this.query = this.data.vector("q", attention.batch, attention.head, i);
  }

  rows(...stages) {
    return stages.map((stage) => this.attention.row(stage, this.i));
  }

  term(name, index, how, parts, colour) {
    const line = [[`${name}[${index.join(", ")}]`, colour || "name"], [" = "], ...how];
    return { name, index, line, parts };
  }

  scores(j) {
    const { attention, i } = this;
    const key = this.data.vector("k", attention.batch, attention.head, j);
    const how = [...sumOfProducts(this.query, key, "q", "k"), [" = "], [plain(attention.cell("scores", i, j)), "result"]];
    return this.term("scores", [i, j], how, () => [this.vector("q", i), this.vector("k", j)]);
  }

  scaled(j) {
    const [scores, scaled] = this.rows("scores", "scaled");
    const how = [[`${plain(scores[j])} · ${plain(this.attention.scale)} = `], [plain(scaled[j]), "result"]];
    return this.term("scaled", [this.i, j], how, () => [this.scores(j)]);
  }

  masked(j) {
    if (!this.attention.keeps(this.i)[j]) {
      return this.term("masked", [this.i, j], [["-inf", "result"], [", because the mask does not keep it"]]);
    }
    return this.term("masked", [this.i, j], [[plain(this.attention.cell("masked", this.i, j)), "result"]], () => [this.scaled(j)]);
  }

  weights(j) {
    const [masked, weights] = this.rows("masked", "weights");
    const { max, sum } = this.attention.statistics(this.i);
    const how = [
      [`exp(${plain(masked[j])} - ${factor(max)[0]}) / ${plain(sum)} = `],
      [plain(weights[j]), "result"],
    ];
    const parts = () => [this.masked(j), this.rowMax(), this.rowSum()];
    return this.term("weights", [this.i, j], how, parts);
  }

  rowMax() {
    const [masked] = this.rows("masked");
    const { isDead, max } = this.attention.statistics(this.i);
    if (isDead) return this.term("row_max", [this.i], [["0", "result"], [", because the row keeps nothing"]]);
    const cells = listed(masked.length, (n) => [[plain(masked[n])]]);
    return this.term("row_max", [this.i], [["max("], ...cells, [") = "], [plain(max), "result"]]);
  }

  rowSum() {
    const [masked] = this.rows("masked");
    const { isDead, max, exps, sum } = this.attention.statistics(this.i);
    if (isDead) return this.term("row_sum", [this.i], [["1", "result"], [", because the row keeps nothing"]]);
    const shift = factor(max)[0];
    const summands = listed(masked.length, (n) => [[`exp(${plain(masked[n])} - ${shift})`]], " + ");
    const values = listed(exps.length, (n) => [[plain(exps[n])]], " + ");
    const how = [...summands, [" = "], ...values, [" = "], [plain(sum), "result"]];
    return this.term("row_sum", [this.i], how);
  }

  dropped(j) {
    const [weights, dropped] = this.rows("weights", "dropped");
    const survives = this.attention.survives(this.i);
    let how = [[plain(dropped[j]), "result"]];
    if (survives && survives[j]) {
      how = [[`${plain(weights[j])} / (1 - ${plain(this.attention.dropout.p)}) = `], ...how];
    } else if (survives) {
      how = [["0", "result"], [", because dropout drops it"]];
    }
    return this.term("dropped", [this.i, j], how, () => [this.weights(j)]);
  }

  output(d) {
    const { attention, i } = this;
    const products = sumOfProducts(attention.row("dropped", i), attention.values(d), "w", "v");
    const how = [...products, [" = "], [plain(attention.cell("output", i, d)), "result"]];
    const shown = keptTerms(this.data.S);
    const parts = () => [...shown.map((j) => this.dropped(j)), ...shown.map((j) => this.number("v", j, d))];
    return this.term("output", [i, d], how, parts);
  }

  vector(name, position) {
    const row = this.data.vector(name, this.attention.batch, this.attention.head, position);
    const how = [["("], ...listed(row.length, (n) => [[plain(row[n]), name]]), [")"]];
    const parts = () => keptTerms(row.length).map((d) => this.number(name, position, d));
    return this.term(name, [position], how, this.data.source ? parts : undefined, name);
  }

  number(name, position, d) {
    const { data, attention } = this;
    const result = [plain(data.number(name, attention.batch, attention.head, position, d)), name];
    const isSet = data.isSet(name, [attention.batch, attention.head, position, d]);
    if (!data.source || isSet) return this.term(name, [position, d], [result], undefined, name);
    const column = attention.head * data[name].shape[3] + d;
    const { x, w, hasBias, bias } = data.origin(name, attention.batch, position, column);
    const how = [...sumOfProducts(x, w), ...(hasBias ? [[" + "], [plain(bias)]] : [])];
    return this.term(name, [position, d], [...how, [" = "], result], undefined, name);
  }
}
