// The line of a number for each operation, and what it is made of: those of attn_core/steps.

import { say } from "../../words/words.js";
import { written } from "../digits.js";
import { factor, listed, sumOfProducts } from "../workings.js";
import { rowIn } from "./formulas.js";
import { positionsOf, stateBefore } from "./operations.js";

/**
 * @typedef {import("../arrays.js").NumberArray} NumberArray
 * @typedef {import("./place.js").How} How
 * @typedef {import("../workings.js").Line} Line
 * @typedef {import("./place.js").Place} Place
 * @typedef {import("./program.js").Step} Step
 */

/** @type {(x: number) => [string, string]} */
const result = (x) => [written(x), "result"];
/** @type {(text: string, x: number) => Line} */
const equals = (text, x) => [[`${text} = `], result(x)];
/** @type {(x: number, beside?: number) => string} */
const signed = (x, beside) => factor(x, undefined, beside)[0];

/**
 * A number that is taken over from a step as it is.
 *
 * @param {Place} place
 * @param {Step} step
 * @param {number} [t]
 * @param {number} [col]
 * @returns {How}
 */
const passedOn = (place, step, t, col) => [[result(place.value)], () => [place.number(step, t, col)]];

/**
 * @param {Place} place
 * @param {Step} step whose number passes on
 * @param {string} what the phrase that says what is switched off
 * @returns {How}
 */
function switchedOff(place, step, what) {
  const [how, parts] = passedOn(place, step);
  return [[...how, [say(what)]], parts];
}

/**
 * @param {Place} place
 * @param {Float64Array} x
 * @param {NumberArray} weight
 * @param {NumberArray | undefined} bias
 * @returns {Line}
 */
function linearLine({ col, most, value }, x, weight, bias) {
  const added = bias ? ` + ${signed(bias.numbers[col])}` : "";
  return [...sumOfProducts(x, rowIn(weight, col), undefined, undefined, most), [`${added} = `], result(value)];
}

/**
 * A number that is made of one other.
 *
 * @param {(x: number) => string} text
 * @returns {(place: Place) => How}
 */
const ofOne = (text) => (place) => {
  const [x] = place.inputs;
  return [equals(text(place.row(x)[place.col]), place.value), () => [place.number(x)]];
};

/**
 * @param {Place} place
 * @param {number} first the column where the gate begins
 * @returns {How}
 */
function gate(place, first) {
  const at = first + place.col;
  const [x] = place.inputs;
  const text = `σ(${written(place.row(x)[at])} + ${signed(place.own("recurrent")[at])})`;
  return [equals(text, place.value), () => [place.number(x, place.t, at), place.ofStage("recurrent", at)]];
}

/**
 * A number as Python writes it: with an exponent of two digits.
 *
 * @param {number} x
 */
const shortest = (x) => (x && x < 1e-4 ? x.toExponential().replace(/e-(\d)$/, "e-0$1") : `${x}`);

/** By operation, and stage if it is not the last. @type {Record<string, (place: Place) => How>} */
export const LINES = {
  words: ({ step, value }) => [[[`${step.vocabulary[value]} (${value})`]]],

  embed(place) {
    const { inputs, step, value } = place;
    const [ids] = inputs;
    const { parameters } = step;
    const { times } = step.settings;
    const number = rowIn(parameters.weight, place.row(ids)[0])[place.col];
    const text = `${written(number, times)} · ${written(times, number)}`;
    const parts = () => [place.write(place.pass, ids, "output", [place.t])];
    return [times === 1 ? [result(value)] : equals(text, value), parts];
  },

  add_positions(place) {
    const { col, inputs, pass, step, t } = place;
    const [x] = inputs;
    if (pass.settingsOf(step).off) return switchedOff(place, x, "positionsAreOff");
    const text = `${written(place.row(x)[col])} + ${signed(positionsOf(step, t)[col])}`;
    return [equals(text, place.value), () => [place.number(x)]];
  },

  add_row(place) {
    const { col, inputs, step } = place;
    const [x] = inputs;
    const added = rowIn(step.parameters.table, step.settings.row)[col];
    return [equals(`${written(place.row(x)[col])} + ${signed(added)}`, place.value), () => [place.number(x)]];
  },

  linear(place) {
    const { weight, bias } = place.step.parameters;
    const [x] = place.inputs;
    return [linearLine(place, place.row(x), weight, bias), () => place.shown(x)];
  },

  attention(place) {
    const { col, pass, step, t } = place;
    const width = step.width / step.heads;
    const [head, column] = [Math.floor(col / width), col % width];
    if (pass.settingsOf(step).heads_off.includes(head)) return [[result(0), [say("headIsOff", { head })]]];
    const parts = () => [place.write(pass, step, "output", [head, t, column])];
    return [equals(say("headColumn", { head, column }), place.value), parts];
  },

  add(place) {
    const { col, inputs, pass, step } = place;
    const [x, y] = inputs;
    if (pass.settingsOf(step).off) return switchedOff(place, y, "residualIsOff");
    const text = `${written(place.row(x)[col])} + ${signed(place.row(y)[col])}`;
    return [equals(text, place.value), () => [place.number(x), place.number(y)]];
  },

  "layer_norm.mean"(place) {
    const [x] = place.inputs;
    const row = place.row(x);
    const sum = listed(row.length, (n) => [factor(row[n])], " + ", place.most);
    return [[["("], ...sum, [`) / ${row.length} = `], result(place.value)], () => place.shown(x)];
  },

  "layer_norm.variance"(place) {
    const [x] = place.inputs;
    const [row, [mean]] = [place.row(x), place.own("mean")];
    const sum = listed(row.length, (n) => [[`(${written(row[n])} - ${signed(mean)})²`]], " + ", place.most);
    const parts = () => [...place.shown(x), place.ofStage("mean", 0)];
    return [[["("], ...sum, [`) / ${row.length} = `], result(place.value)], parts];
  },

  "layer_norm.normed"(place) {
    const [x] = place.inputs;
    const [[mean], [variance]] = [place.own("mean"), place.own("variance")];
    const above = `(${written(place.row(x)[place.col])} - ${signed(mean)})`;
    const text = `${above} / √(${written(variance)} + ${shortest(place.step.settings.eps)})`;
    const parts = () => [place.number(x), place.ofStage("mean", 0), place.ofStage("variance", 0)];
    return [equals(text, place.value), parts];
  },

  layer_norm(place) {
    const { col, pass, step } = place;
    if (pass.settingsOf(step).off) return switchedOff(place, step.inputs[0], "normIsOff");
    const normed = place.own("normed")[col];
    const [gain, bias] = [step.parameters.gain.numbers[col], step.parameters.bias.numbers[col]];
    const text = `${written(normed, gain)} · ${signed(gain, normed)} + ${signed(bias)}`;
    return [equals(text, place.value), () => [place.ofStage("normed")]];
  },

  relu: ofOne((x) => `max(0, ${written(x)})`),
  gelu: ofOne((x) => `${signed(x)} · Φ(${written(x)})`),
  tanh: ofOne((x) => `tanh(${written(x)})`),

  concat(place) {
    const { inputs, t } = place;
    let [n, { col }] = [0, place];
    for (; col >= inputs[n].width; n++) col -= inputs[n].width;
    return passedOn(place, inputs[n], t, col);
  },

  "gru.recurrent"(place) {
    const { pass, step, t } = place;
    const [, start] = place.inputs;
    const { weight_hh, bias_hh } = step.parameters;
    const line = linearLine(place, stateBefore(pass, step, t), weight_hh, bias_hh);
    if (t) return [line, () => place.shown(step, t - 1)];
    return [line, start && (() => place.shown(start, 0))];
  },
  "gru.reset": (place) => gate(place, 0),
  "gru.update": (place) => gate(place, place.step.width),

  "gru.candidate"(place) {
    const { col, inputs, step, t } = place;
    const at = 2 * step.width + col;
    const [a, b] = [place.own("reset")[col], place.own("recurrent")[at]];
    const text = `tanh(${written(place.row(inputs[0])[at])} + ${signed(a, b)}·${signed(b, a)})`;
    const parts = () => [place.number(inputs[0], t, at), place.ofStage("reset"), place.ofStage("recurrent", at)];
    return [equals(text, place.value), parts];
  },

  gru(place) {
    const { col, pass, step, t } = place;
    const [, start] = place.inputs;
    const [update, candidate] = [place.own("update")[col], place.own("candidate")[col]];
    const before = signed(stateBefore(pass, step, t)[col]);
    const text = `(1 - ${written(update)})·${signed(candidate)} + ${written(update)}·${before}`;
    const last = () => (t ? [place.number(step, t - 1)] : start ? [place.number(start, 0)] : []);
    return [equals(text, place.value), () => [place.ofStage("update"), place.ofStage("candidate"), ...last()]];
  },

  last_row: (place) => passedOn(place, place.inputs[0], place.pass.lengthOf(place.inputs[0]) - 1),
  repeat: (place) => passedOn(place, place.inputs[0], 0),
};
