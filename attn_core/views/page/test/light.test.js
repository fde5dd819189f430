// A text that was read before: light-vectors.json has its files, language-vectors.json its numbers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bytesOf } from "../core/arrays.js";
import { Light } from "../core/language/light.js";
import { Problem } from "../core/problem.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const { files, bounds } = read("light-vectors.json");
const { cases, settings, weights } = read("language-vectors.json");
const { ids, layers } = cases[0];

/** Brings the files, and remembers which were asked for. */
function bringing(changed = {}) {
  const asked = [];
  const bring = async (name) => {
    asked.push(name);
    return changed[name]?.() ?? bytesOf(files[name]);
  };
  return { asked, bring };
}

const textOf = async (bring) => (await Light.open(bring)).text("small");

const said = (made, sentence) =>
  assert.rejects(made, (error) => error instanceof Problem && error.message === sentence);

test("each layer is what the model computed, within the bounds", async () => {
  const text = await textOf(bringing().bring);
  for (const [n, wanted] of layers.entries()) {
    const layer = await text.layer(n);
    assert.deepEqual(Object.keys(layer).sort(), Object.keys(wanted).sort());
    for (const [part, { numbers }] of Object.entries(wanted)) {
      assert.ok(layer[part] instanceof Float32Array);
      assert.equal(layer[part].length, numbers.length);
      for (const [at, x] of numbers.entries()) {
        assert.ok(Math.abs(layer[part][at] - x) <= bounds[n][part], `layer ${n}, ${part}, ${at}: ${layer[part][at]}`);
      }
    }
  }
});

test("the rows of the embedding are exact", async () => {
  const text = await textOf(bringing().bring);
  const embedded = await text.embedded();
  assert.equal(embedded.length, ids.length * settings.width);
  const first = ids.indexOf(0) * settings.width;
  assert.deepEqual([...embedded.slice(first, first + settings.width)], weights.rows.slice(0, settings.width));
});

test("small maps and measures are those of what is shown", async () => {
  const light = await Light.open(bringing().bring);
  const text = await light.text("small");
  const { heads, kvHeads, headDim } = light.shape;
  for (let layer = 0; layer < light.shape.layers; layer++) {
    const { q, k } = await text.heads(layer);
    for (let head = 0; head < heads; head++) {
      const of = Math.floor(head / (heads / kvHeads));
      const map = text.map(layer, head);
      assert.equal(map.length, (ids.length * (ids.length + 1)) / 2);
      const means = { first: 0, own: 0, previous: 0 };
      for (let i = 0, at = 0; i < ids.length; i++) {
        const exps = Array.from({ length: i + 1 }, (_, j) => {
          let sum = 0;
          for (let d = 0; d < headDim; d++) {
            sum += q[(i * heads + head) * headDim + d] * k[(j * kvHeads + of) * headDim + d];
          }
          return Math.exp(sum / Math.sqrt(headDim));
        });
        const total = exps.reduce((a, b) => a + b);
        const row = exps.map((x) => x / total);
        for (const x of row) assert.ok(Math.abs(map[at++] / 255 - x) <= 0.5001 / 255);
        means.first += row[0] / ids.length;
        means.own += row[i] / ids.length;
        if (i) means.previous += row[i - 1] / (ids.length - 1);
      }
      for (const [name, mean] of Object.entries(means)) {
        assert.ok(Math.abs(text.measures[name][layer * heads + head] - mean) < 0.51e-4, `${name} of ${layer}.${head}`);
      }
    }
  }
  assert.equal(text.measures.induction.length, heads * light.shape.layers, "token 3 comes twice");
});

test("a file is brought when it is asked for, and once", async () => {
  const { bring, asked } = bringing();
  const text = await textOf(bring);
  assert.deepEqual(asked.splice(0), ["index.json", "small.json", "small-maps.bin"]);
  await Promise.all([text.heads(1), text.heads(1), text.rows(0)]);
  await text.layer(1);
  assert.deepEqual(asked, ["small-heads-01.bin", "small-rows-00.bin", "small-rows-01.bin"]);
});

test("one that did not come is asked for again", async () => {
  let tries = 0;
  const fails = () => {
    if (tries++) return undefined;
    throw new Problem("no answer");
  };
  const text = await textOf(bringing({ "small-heads-00.bin": fails }).bring);
  await said(text.heads(0), "no answer");
  assert.equal((await text.heads(0)).q.length, ids.length * settings.width);
});

test("bytes from the middle of a buffer are read as well", async () => {
  const inside = () => {
    const bytes = bytesOf(files["small-heads-00.bin"]);
    const all = new Uint8Array(bytes.length + 1);
    all.set(bytes, 1);
    return all.subarray(1);
  };
  const moved = await textOf(bringing({ "small-heads-00.bin": inside }).bring);
  const text = await textOf(bringing().bring);
  assert.deepEqual(await moved.heads(0), await text.heads(0));
});

test("what cannot be is said in a sentence", async () => {
  const light = await Light.open(bringing().bring);
  await said(light.text("large"), "there is no text called large");
  const text = await light.text("small");
  await said(text.layer(2), "the model has layers 0 to 1, got 2");
  await said(text.rows(0.5), "the model has layers 0 to 1, got 0.5");
  const two = () => new Uint8Array(2);
  const damaged = (name) => `${name} is damaged: it is not the file that was published`;
  await said(Light.open(bringing({ "index.json": two }).bring), damaged("index.json"));
  await said(textOf(bringing({ "small.json": two }).bring), damaged("small.json"));
  for (const [name, wanted, ask] of [
    ["small-maps.bin", 168, (made) => made],
    ["small-heads-00.bin", 1728, (made) => made.heads(0)],
    ["small-rows-01.bin", 2304, (made) => made.rows(1)],
    ["small-embedding.bin", 408, (made) => made.embedded()],
  ]) {
    const made = textOf(bringing({ [name]: two }).bring).then(ask);
    await said(made, `${name} must have ${wanted} bytes, got 2: load it again`);
  }
});
