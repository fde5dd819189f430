// What a view of a language model is fed by: texts without the model, and what an address says is switched off.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bytesOf } from "../core/arrays.js";
import { Kept } from "../core/language/heads.js";
import { LightSource } from "../core/language/light_source.js";
import { flipped, offsIn, switchesIn } from "../core/language/offs.js";
import { lineText } from "../core/model/workings.js";
import { Problem } from "../core/problem.js";
import { Remote } from "../core/remote.js";
import { LANGUAGE_CHINESE, LANGUAGE_WORDS } from "../words/language.js";
import { VIEW_WORDS } from "../words/language_view.js";
import { VIEW_CHINESE } from "../words/language_view_zh.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const { files } = read("light-vectors.json");
const ALL_ON = { more: [], switches: {} };

async function opened() {
  const source = await LightSource.open(async (name) => bytesOf(files[name]));
  const [text] = source.texts;
  return { source, text, answer: await source.read({ text, ...ALL_ON }) };
}

test("a text without the model has its tokens, its maps and what may come next", async () => {
  const { source, text, answer } = await opened();
  const { pieces } = await source.cut(text, []);
  assert.ok(Array.isArray(answer.likeliest));
  const map = source.map(1, 2);
  assert.equal(map.length, pieces.length ** 2);
  for (let i = 0; i < pieces.length; i++) {
    const row = [...map.slice(i * pieces.length, (i + 1) * pieces.length)];
    assert.ok(Math.abs(row.reduce((sum, x) => sum + x, 0) - 1) < 0.02, `row ${i} sums to 1`);
    assert.ok(
      row.slice(i + 1).every((x) => x === 0),
      `row ${i} sees nothing behind it`,
    );
  }
});

test("a text that is cut and read at once is brought once, and again if it did not come", async () => {
  const brought = [];
  let isLost = false;
  const source = await LightSource.open(async (name) => {
    brought.push(name);
    if (isLost) throw new Problem("lost");
    return bytesOf(files[name]);
  });
  const [text] = source.texts;
  const both = () => Promise.all([source.cut(text, []), source.read({ text, ...ALL_ON })]);
  isLost = true;
  await assert.rejects(both(), /lost/);
  isLost = false;
  brought.length = 0;
  await both();
  assert.equal(brought.length, 2);
});

test("of all layers, the data of the one that is shown and of the last are kept", () => {
  const made = [];
  const kept = new Kept((layer) => /** @type {any} */ ({ layer, n: made.push(layer) }));
  const shown = kept.of(2, 2);
  for (const layer of [0, 0, 1, 1, 2, 1, 3]) kept.of(layer, 2);
  assert.equal(kept.of(2, 2), shown);
  assert.deepEqual(made, [2, 0, 1, 3]);
  assert.deepEqual([...kept.datas.keys()], [2, 3]);
  kept.forget();
  assert.notEqual(kept.of(2, 2), shown);
});

test("its arithmetic ends at queries and keys, and gives the weight of the map", async () => {
  const { source } = await opened();
  const asked = { name: "layers.1.attention", index: [2, 3, 1], stage: "weights" };
  const { line, value, parts } = await source.explain(asked);
  assert.match(lineText(line), /^weights\[3, 1\] = exp\(/);
  const count = Math.sqrt(source.map(1, 2).length);
  assert.ok(Math.abs(value - source.map(1, 2)[3 * count + 1]) <= 0.5 / 255 + 1e-3);
  assert.ok(parts[0].opens);
  const scores = await source.explain({ ...asked, trail: ["0", "0", "0"] });
  assert.match(lineText(scores.line), /^scores\[3, 1\] = /);
  assert.deepEqual(
    scores.above.map(({ name }) => name),
    ["weights[3,1]", "masked[3,1]", "scaled[3,1]"],
  );
  assert.deepEqual(
    scores.parts.map(({ opens }) => opens),
    [false, false],
  );
  assert.equal(scores.hasMore, false); // sixteen terms
});

test("what needs the model is refused in a sentence", async () => {
  const { source, text } = await opened();
  const refused = (made) =>
    assert.rejects(made, (error) => error instanceof Problem && /load it to read any other/.test(error.message));
  await refused(source.cut("another text", []));
  await refused(source.cut(text, [1]));
  await refused(source.read({ text, more: [], switches: { rotary_off: true } }));
  await refused(source.explain({ name: "chances", index: [0, 1] }));
});

test("what is off is read from an address, in one order, and said if it cannot be", () => {
  const sizes = { layers: 30, heads: 9 };
  assert.deepEqual(offsIn("s18,18.6,rotary,18.6,a3", sizes), ["18.6", "a3", "rotary", "s18"]);
  assert.deepEqual(offsIn("", sizes), []);
  for (const text of ["18.9", "30.0", "a30", "s", "18", "a3.1", "x", "Rotary"]) {
    assert.throws(() => offsIn(text, sizes), /off must name a head such as 18\.6/, text);
  }
  assert.equal(flipped(["a3"], "18.6"), "18.6,a3");
  assert.equal(flipped(["18.6", "a3"], "a3"), "18.6");
});

test("the engine gets switches for what is off, and nothing else", () => {
  const sizes = { layers: 3, heads: 9 };
  assert.deepEqual(switchesIn([], sizes), {});
  assert.deepEqual(switchesIn(["1.6", "a2", "rotary", "s0"], sizes), {
    heads_off: [[1, 6]],
    attention_off: [2],
    rotary_off: true,
    sink_off: [0],
  });
  assert.deepEqual(switchesIn(["sink"], sizes), { sink_off: [0, 1, 2] });
});

test("a worker that stops answers every open question", async () => {
  const port = {
    sent: [],
    postMessage: (message) => port.sent.push(message),
    terminate() {},
    onmessage: null,
    onerror: null,
  };
  const told = [];
  const remote = new Remote(port, (one) => told.push(one), "workerFailed");
  const [first, second, third] = ["cut", "read", "lens"].map((what) => remote.ask(what));
  port.onmessage({ data: { told: { what: "loading" } } });
  port.onmessage({ data: { id: port.sent[1].id, answer: 7 } });
  port.onmessage({ data: { id: port.sent[0].id, problem: "a sentence" } });
  assert.equal(await second, 7);
  await assert.rejects(first, (error) => error instanceof Problem && error.message === "a sentence");
  port.onerror({});
  await assert.rejects(third, /the script that computes the model has stopped/);
  assert.deepEqual(told, [{ what: "loading" }]);
});

test("both languages have the same phrases with the same places", () => {
  const places = (words) =>
    Object.entries(words).map(([key, phrase]) => [key, [...phrase.matchAll(/\{\w+\}/g)].map(String).sort()]);
  assert.deepEqual(places(VIEW_CHINESE), places(VIEW_WORDS));
  assert.deepEqual(places(LANGUAGE_CHINESE), places(LANGUAGE_WORDS));
});
