// Changed inputs as a text: "x.0.2.1:0.5,tokens.1:cat" — a name, a place in its array, a value.

import { brief, say } from "../words/words.js";
import { stored } from "./arrays.js";
import { EditedData } from "./editing.js";
import { numberIn } from "./numbers.js";
import { Problem } from "./problem.js";
import { isWhole, listOf } from "./state.js";

const same = (a, b) => `${a}` === `${b}`;
const isShared = (data) =>
  (data.shared ??=
    data.H === 1 &&
    ["k", "v"].every(
      (name) => same(data[name].shape, data.q.shape) && data[name].numbers.every((x, n) => x === data.q.numbers[n]),
    ));

// The inputs that a reader may change; x without a source stands for q, k and v that are equal.
export function inputsOf(data) {
  if (data.source) return Object.keys(data.source);
  return isShared(data) ? ["x"] : ["q", "k", "v"];
}
export const tokensOf = (data) => (same(data.queries, data.keys) ? ["tokens"] : ["queries", "keys"]);
const isToken = (name) => ["tokens", "queries", "keys"].includes(name);

// In a value a comma is written %2C.
const read = (text) => {
  const [, name, place, value] = /^(\w+)\.([\d.]+):(.*)$/s.exec(text) || ["", text, "", ""];
  const written = value.replaceAll("%2C", ",").replaceAll("%25", "%");
  return {
    name,
    place: place.split(".").map(Number),
    value: isToken(name) ? written : numberIn(written),
    text: written,
  };
};
export const placeIn = (edit) => edit.split(".").map((part, n) => (n ? Number(part) : part));
export const editText = (name, place, value) =>
  `${name}.${place.join(".")}:${String(value).replaceAll("%", "%25").replaceAll(",", "%2C")}`;

// The array that an input's name stands for, and the place of a number of q, k or v as an input.
export const arrayOf = (data, name) => (data.source ? data.source[name] : data[name === "x" ? "q" : name]);
export const shapeOf = (data, name) => {
  const { shape } = arrayOf(data, name);
  return name === "x" && !data.source ? [shape[0], ...shape.slice(2)] : shape;
};
export const numberAt = (data, name, place) =>
  arrayOf(data, name).numbers[place.reduce((at, n, axis) => at * shapeOf(data, name)[axis] + n, 0)];

// The sentence is about the input that was changed, not about what follows from it.
function checkNumber(data, name, place, value, text) {
  const shape = shapeOf(data, name);
  if (place.length !== shape.length || !place.every((n, axis) => isWhole(n, shape[axis]))) {
    throw new Problem(say("noNumber", { name: `${name}[${place.join(", ")}]` }));
  }
  const { dtype } = arrayOf(data, name);
  if (Number.isFinite(stored(value, dtype))) return;
  const must = Number.isNaN(value) ? say("number") : say("fits", { dtype });
  throw new Problem(say("mustBe", { name: named(data, name, place), must, value: brief(text) }));
}

// The data with all changes made; raises a sentence if one can't be.
export function edited(data, text) {
  const inputs = [...inputsOf(data), ...tokensOf(data)];
  return EditedData.of(
    data,
    listOf(text)
      .map(read)
      .flatMap(({ name, place, value, text: given }) => {
        if (!inputs.includes(name))
          throw new Problem(
            say("mustBe", { name: "edits", must: say("oneOf", { list: inputs.join(", ") }), value: brief(name) }),
          );
        if (value === "") throw new Problem(say("noToken"));
        if (!isToken(name)) checkNumber(data, name, place, value, given);
        if (name === "tokens") return ["queries", "keys"].map((side) => [side, place, value]);
        if (name !== "x" || data.source) return [[name, place, value]];
        return ["q", "k", "v"].map((part) => [part, [place[0], 0, ...place.slice(1)], value]);
      }),
  );
}

// The name of an input as the text of the chapter has it: x[2, 1], without axes of size 1. Of a
// token also what it is now.
export function named(data, name, place, now) {
  if (isToken(name))
    return say("token", { name: (name === "keys" ? data.keys : data.queries)[place[0]] ?? place, now });
  const leads = [data.B, data.H].slice(0, place.length - 2);
  const { heads } = arrayOf(data, name);
  const shown = place.map((n, axis) => (heads && axis === 1 ? heads[n] : n));
  return `${name}[${shown.filter((_, axis) => axis >= place.length - 2 || leads[axis] > 1).join(", ")}]`;
}
export const names = (data, text) =>
  listOf(text)
    .map(read)
    .map(({ name, place, value }) => named(data, name, place, value));
