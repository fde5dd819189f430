// The written-out arithmetic of any number: the lines of arithmetic.py.

import { say } from "../words/words.js";
import { plain, written } from "./digits.js";

export const MOST_TERMS = 16; // longer sums are written with their first twelve terms and the last

/**
 * A line is a list of texts, some with a colour; a term has a line and, on demand, the terms it is made of.
 *
 * @typedef {[text: string, colour?: string][]} Line
 *
 * @typedef {object} Term
 * @property {string} name
 * @property {number[]} index
 * @property {Line} line
 * @property {() => Term[]} [parts]
 * @property {number} [most] terms of a sum in its line
 * @property {number} [head] whose number it is, where that may be another than the one that is shown
 *
 * @typedef {import("./attention.js").Attention} Attention
 * @typedef {import("./data.js").Side} Side
 */

/**
 * @param {number} x
 * @param {string} [colour]
 * @param {number} [beside] what it is multiplied by
 * @returns {[string, string?]}
 */
export function factor(x, colour, beside) {
  const text = written(x, beside);
  return [text.startsWith("-") ? `(${text})` : text, colour];
}

/**
 * @param {number} count
 * @param {number} [most] a sum of more is shortened
 */
export function keptTerms(count, most = MOST_TERMS) {
  const all = [...Array(count).keys()];
  return count <= most ? all : [...all.slice(0, 12), count - 1];
}

/**
 * The terms of a sum or a list, of a long one the first and the last.
 *
 * @param {number} count
 * @param {(n: number) => Line} write
 * @param {string} [between]
 * @param {number} [most]
 * @returns {Line}
 */
export function listed(count, write, between = ", ", most = MOST_TERMS) {
  const shown = keptTerms(count, most).map(write);
  if (count > most) shown.splice(-1, 0, [[say("moreTerms", { count: count - 13 }), "rest"]]);
  return shown.flatMap((line, n) => (n ? [[between], ...line] : line));
}

/**
 * Whether a line leaves terms out.
 *
 * @param {Line} line
 */
export const isShortened = (line) => line.some(([, colour]) => colour === "rest");

/** @type {(x: number) => [string, string]} */
export const result = (x) => [written(x), "result"];

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {string} [ca] the colours
 * @param {string} [cb]
 * @param {number} [most]
 */
export const sumOfProducts = (a, b, ca, cb, most) =>
  listed(a.length, (n) => [factor(a[n], ca, b[n]), ["·"], factor(b[n], cb, a[n])], " + ", most);

/**
 * What dropout makes of a number that survives.
 *
 * @param {number} x
 * @param {number} p
 */
export const survivingText = (x, p) => `${written(x, 1 / (1 - p))} / (1 - ${p < 0.5 ? plain(p) : p})`;

/**
 * 0.43 · cos(0.03) - 0.12 · sin(0.03); the second of a pair adds.
 *
 * @param {number} number
 * @param {number} other
 * @param {number} angle
 * @param {boolean} isFirst
 */
export function rotatedText(number, other, angle, isFirst) {
  const turn = written(angle, Math.max(Math.abs(number), Math.abs(other)));
  const across = `${isFirst ? "-" : "+"} ${factor(other)[0]} · sin(${turn})`;
  return `${factor(number)[0]} · cos(${turn}) ${across}`;
}

export class Workings {
  /**
   * @param {Attention} attention
   * @param {number} i the row
   * @param {number} [most] terms of a sum; a longer one is shortened
   */
  constructor(attention, i, most = MOST_TERMS) {
    this.attention = attention;
    this.most = most;
    this.data = attention.data;
    this.i = i;
    this.query = this.data.vector("q", attention.batch, attention.head, i);
  }

  /**
   * The term of a number of any stage.
   *
   * @param {string} stage
   * @param {number} j
   * @returns {Term}
   */
  of(stage, j) {
    const { attention, i } = this;
    if (attention.isDifference) return this.difference(stage, j);
    if (!this.data.given) return /** @type {any} */ (this)[stage](j);
    return this.term(stage, [i, j], [result(attention.cell(stage, i, j)), [say("isGiven")]]);
  }

  /**
   * One run minus the other, each with its own arithmetic.
   *
   * @param {string} stage
   * @param {number} j
   * @returns {Term}
   */
  difference(stage, j) {
    const { attention, i, most } = this;
    const { both, names } = /** @type {import("./difference.js").Runs} */ (attention.runs);
    const [first, second] = both.map((one) => one.cell(stage, i, j));
    /** @type {Line} */
    const how = [[`${written(first)} - ${factor(second)[0]} = `], result(attention.cell(stage, i, j))];
    const parts = () =>
      both.map((one, n) => {
        const term = new Workings(one, i, most).of(stage, j);
        return { ...term, line: /** @type {Line} */ ([[`${names[n]}: `], ...term.line]) };
      });
    return this.term(say("difference"), [i, j], how, parts);
  }

  /** @param {string[]} stages */
  rows(...stages) {
    return stages.map((stage) => this.attention.row(stage, this.i));
  }

  /**
   * @param {string} name
   * @param {number[]} index
   * @param {Line} how
   * @param {() => Term[]} [parts]
   * @param {string} [colour]
   * @returns {Term}
   */
  term(name, index, how, parts, colour) {
    /** @type {Line} */
    const line = [[`${name}[${index.join(", ")}]`, colour || "name"], [" = "], ...how];
    return { name, index, line, parts, most: this.most };
  }

  /** @param {number} j */
  scores(j) {
    const { attention, i } = this;
    const key = this.data.vector("k", attention.batch, attention.head, j);
    /** @type {Line} */
    const how = [
      ...sumOfProducts(this.query, key, "q", "k", this.most),
      [" = "],
      result(attention.cell("scores", i, j)),
    ];
    return this.term("scores", [i, j], how, () => [this.vector("q", i), this.vector("k", j)]);
  }

  /** @param {number} j */
  scaled(j) {
    const [{ [j]: score }, { [j]: scaled }] = this.rows("scores", "scaled");
    const { scale, data } = this.attention;
    const { softcap, bias } = data;
    const product = `${written(score, scale)} · ${written(scale, score)}`;
    const capped = softcap ? `${written(softcap)} · tanh(${product} / ${written(softcap)})` : product;
    const added = bias ? ` + ${factor(this.biasAt(j))[0]}` : "";
    /** @type {Line} */
    const how = [[`${capped}${added} = `], result(scaled)];
    return this.term("scaled", [this.i, j], how, () => [this.scores(j), ...(bias ? [this.bias(j)] : [])]);
  }

  /** @param {number} j */
  biasAt(j) {
    const { batch, head } = this.attention;
    return this.data.bias?.number(batch, head, this.i, j) ?? 0;
  }

  /** @param {number} j */
  bias(j) {
    const { slopes, parts = [] } = this.data.bias ?? {};
    /** @type {Line} */
    const how = [result(this.biasAt(j))];
    if (slopes && parts.length === 1) {
      const distance = this.data.bias?.distance(this.i, j) ?? 0;
      how.unshift([`${written(-slopes.numbers[this.attention.head], distance)} · ${distance} = `]);
    }
    return this.term("bias", [this.i, j], how);
  }

  sink() {
    const { head, sink } = this.attention;
    return this.term("sink", [head], [result(sink ?? 0)]);
  }

  /** @param {number} j */
  masked(j) {
    const { attention, i } = this;
    if (!attention.keeps(i)[j]) return this.term("masked", [i, j], [result(-Infinity), [say("notKept")]]);
    return this.term("masked", [i, j], [result(attention.cell("masked", i, j))], () => [this.scaled(j)]);
  }

  // A stage that leaves every number as it is needs no line among the parts of another.
  /** @param {number} j */
  beforeSoftmax(j) {
    return this[this.attention.hasMask ? "masked" : "scaled"](j);
  }

  /** @param {number} j */
  weights(j) {
    const [masked, weights] = this.rows("masked", "weights");
    const { max, sum } = this.attention.statistics(this.i);
    /** @type {Line} */
    const how = [[`exp(${written(masked[j])} - ${factor(max)[0]}) / ${written(sum)} = `], result(weights[j])];
    const sinks = () => (this.attention.sink === null ? [] : [this.sink()]);
    const parts = () => [this.beforeSoftmax(j), this.rowMax(), this.rowSum(), ...sinks()];
    return this.term("weights", [this.i, j], how, parts);
  }

  /** The keys that a mask leaves in the row: others have −∞ there. */
  seenKeys() {
    const [masked] = this.rows("masked");
    return [...masked.keys()].filter((j) => masked[j] > -Infinity);
  }

  /** What the softmax is of, as far as it is written: a sink is one number more. */
  inSum() {
    const [masked] = this.rows("masked");
    const { sink } = this.attention;
    const seen = this.seenKeys().map((j) => masked[j]);
    return sink === null ? seen : [...seen, sink];
  }

  /**
   * Names the keys that a line leaves out.
   *
   * @param {"max" | "sum"} of
   * @returns {Line}
   */
  hiddenKeys(of) {
    const [masked] = this.rows("masked");
    const count = masked.length - this.seenKeys().length;
    return count ? [[say(count === 1 ? `${of}HiddenKey` : `${of}HiddenKeys`, { count })]] : [];
  }

  rowMax() {
    const { isDead, max } = this.attention.statistics(this.i);
    if (isDead && this.attention.sink === null)
      return this.term("row_max", [this.i], [result(0), [say("keepsNothing")]]);
    const all = this.inSum();
    const cells = listed(all.length, (n) => [[written(all[n])]], undefined, this.most);
    return this.term("row_max", [this.i], [["max("], ...cells, [") = "], result(max), ...this.hiddenKeys("max")]);
  }

  rowSum() {
    const { isDead, max, sum } = this.attention.statistics(this.i);
    if (isDead && this.attention.sink === null)
      return this.term("row_sum", [this.i], [result(1), [say("keepsNothing")]]);
    const [all, shift] = [this.inSum(), factor(max)[0]];
    const summands = listed(all.length, (n) => [[`exp(${written(all[n])} - ${shift})`]], " + ", this.most);
    const values = listed(all.length, (n) => [[written(Math.exp(all[n] - max))]], " + ", this.most);
    /** @type {Line} */
    const how = [...summands, [" = "], ...values, [" = "], result(sum), ...this.hiddenKeys("sum")];
    return this.term("row_sum", [this.i], how);
  }

  /** @param {number} j */
  dropped(j) {
    const [weights, dropped] = this.rows("weights", "dropped");
    const survives = this.attention.survives(this.i);
    /** @type {Line} */
    let how = [result(dropped[j])];
    if (survives?.[j]) {
      const { p } = this.attention.dropout ?? { p: 0 };
      how = [[`${survivingText(weights[j], p)} = `], ...how];
    } else if (survives) {
      how = [result(0), [say("isDropped")]];
    }
    return this.term("dropped", [this.i, j], how, () => [this.weights(j)]);
  }

  /** @param {number} d */
  output(d) {
    const { attention, i } = this;
    const products = sumOfProducts(attention.row("dropped", i), attention.values(d), "w", "v", this.most);
    /** @type {Line} */
    const how = [...products, [" = "], result(attention.cell("output", i, d))];
    const shown = keptTerms(this.data.S, this.most);
    const mixing = attention.dropout ? "dropped" : "weights";
    const parts = () => [...shown.map((j) => this[mixing](j)), ...shown.map((j) => this.number("v", j, d))];
    return this.term("output", [i, d], how, parts);
  }

  /**
   * @param {Side} name
   * @param {number} position
   */
  vector(name, position) {
    const row = this.data.vector(name, this.attention.batch, this.attention.head, position);
    /** @type {Line} */
    const how = [["("], ...listed(row.length, (n) => [[written(row[n]), name]], undefined, this.most), [")"]];
    const parts = () => keptTerms(row.length, this.most).map((d) => this.number(name, position, d));
    return this.term(name, [position], how, this.data.source ? parts : undefined, name);
  }

  /**
   * @param {Side} name
   * @param {number} position
   * @param {number} d
   */
  number(name, position, d) {
    const { data, attention } = this;
    const { batch, head } = attention;
    /** @type {[string, string]} */
    const value = [written(data.number(name, batch, head, position, d)), name];
    if (!data.source || data.isSet(name, [batch, data.placeOf(name, head), position, d]))
      return this.term(name, [position, d], [value], undefined, name);
    if (data.rotary && name !== "v") return this.rotated(name, position, d, value);
    const how = this.projection(name, position, d);
    return this.term(name, [position, d], [...how, [" = "], value], undefined, name);
  }

  /**
   * A number of a query or key that was rotated, and the pair that it is made of.
   *
   * @param {"q" | "k"} name
   * @param {number} position
   * @param {number} d
   * @param {[string, string]} value
   */
  rotated(name, position, d, value) {
    const { data, attention } = this;
    const rotary = /** @type {import("./rotary.js").Rotary} */ (data.rotary);
    const { pair, other, isFirst } = rotary.pairOf(d);
    const first = data.headOf(name, attention.head) * data.D;
    const [own, beside] = [d, other].map((n) => data.raw(name, attention.batch, position, first + n));
    const place = data.position(attention.batch, position);
    const angle = rotary.angle(place, pair);
    const parts = () => [
      this.projected(name, position, d, own),
      this.projected(name, position, other, beside),
      this.term("angle", [position, pair], [[`${rotary.angleText(place, pair)} = `], result(angle)]),
    ];
    const text = rotatedText(own, beside, angle, isFirst);
    return this.term(name, [position, d], [[`${text} = `], value], parts, name);
  }

  /**
   * Before it is rotated.
   *
   * @param {"q" | "k"} name
   * @param {number} position
   * @param {number} d
   * @param {number} value
   */
  projected(name, position, d, value) {
    const how = this.projection(name, position, d);
    return this.term(`projected_${name}`, [position, d], [...how, [" = "], [written(value), name]], undefined, name);
  }

  /**
   * x times a column of a matrix of the source, plus its bias.
   *
   * @param {Side} name
   * @param {number} position
   * @param {number} d
   * @returns {Line}
   */
  projection(name, position, d) {
    const { data, attention } = this;
    const column = data.headOf(name, attention.head) * data[name].shape[3] + d;
    const { x, w, hasBias, bias } = data.origin(name, attention.batch, position, column);
    /** @type {Line} */
    const added = hasBias ? [[" + "], [written(bias)]] : [];
    return [...sumOfProducts(x, w, undefined, undefined, this.most), ...added];
  }
}
