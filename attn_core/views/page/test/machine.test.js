// What a model to play with says, where keys lead in its drawing, and which rows feed a row.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Machine } from "../core/model/machine.js";
import { nextPlace } from "../ui/model/roving.js";
import { countedText } from "../ui/model/switches.js";
import { GRADIENT_WORDS } from "../words/gradients.js";
import { LAB_WORDS } from "../words/lab.js";
import { MACHINE_WORDS } from "../words/machine.js";
import { MACHINE_CHINESE } from "../words/machine_zh.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords, WORDS } from "../words/words.js";

test("no key has two phrases where the parts of one page share their words", () => {
  const all = { ...WORDS };
  for (const words of [LAB_WORDS, GRADIENT_WORDS, MODEL_WORDS, MACHINE_WORDS]) {
    for (const [key, phrase] of Object.entries(words))
      assert.ok((all[key] ?? phrase) === phrase, `${key}: ${all[key]}`);
    Object.assign(all, words);
  }
});

addWords(MACHINE_WORDS);
addWords(MODEL_WORDS);
const vectors = JSON.parse(readFileSync(new URL("./model-vectors.json", import.meta.url), "utf8"));

test("Chinese has a phrase for each English one, with the same places", () => {
  const places = (words) =>
    Object.entries(words)
      .map(([key, text]) => `${key}: ${text.match(/{\w+}/g)?.sort()}`)
      .sort();
  assert.deepEqual(places(MACHINE_CHINESE), places(MACHINE_WORDS));
});

test("arrow keys go to the nearest button that way, the ends by Home and End", () => {
  const grid = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 0, y: 10 },
    { x: 12, y: 11 },
  ];
  assert.equal(nextPlace("ArrowRight", grid, 0), 1);
  assert.equal(nextPlace("ArrowDown", grid, 0), 2);
  assert.equal(nextPlace("ArrowDown", grid, 1), 3);
  assert.equal(nextPlace("ArrowLeft", grid, 3), 2);
  assert.equal(nextPlace("ArrowUp", grid, 3), 1);
  assert.equal(nextPlace("ArrowUp", grid, 0), -1);
  assert.equal(nextPlace("Home", grid, 3), 0);
  assert.equal(nextPlace("End", grid, 0), 3);
  assert.equal(nextPlace("a", grid, 0), -1);
});

test("what was counted of a switch", () => {
  const of = (words, order, endless) => countedText({ words, order, endless }, 300);
  assert.equal(of(0, 0, 0), "Switched off alone, it changes none of 300 translations.");
  assert.equal(of(52, 0, 0), "Switched off alone, it changes 52 of 300 translations: the words are different.");
  const both = "Switched off alone, it changes 285 of 300 translations: 258 to other words, 27 to one without an end.";
  assert.equal(of(258, 0, 27), both);
  assert.equal(countedText(undefined, 300), "");
});

test("the rows that a row is made of", () => {
  const { program } = vectors.translator;
  const machine = new Machine(program);
  const pass = machine.read({ source: [3, 17, 4], target: [1, 3, 17] });
  const rows = (name, t, head) => {
    const step = machine.step(name);
    return Object.fromEntries(step.kind.madeOf(pass, step, t, head).map((fed) => [fed[0].name, fed[1]]));
  };
  assert.deepEqual(rows("encoder.0.residuals.0.sum", 2), { source_places: [2], "encoder.0.attention.out_proj": [2] });
  const own = "decoder.0.self_attention";
  assert.deepEqual(rows(own, 1, 0), { [`${own}.w_query`]: [1], [`${own}.w_key`]: [0, 1], [`${own}.w_value`]: [0, 1] });
  const { "decoder.0.cross_attention.w_key": keys } = rows("decoder.0.cross_attention", 0);
  assert.deepEqual(keys, [0, 1, 2]);
  assert.deepEqual(rows("source", 0), {});
});
