// Any number of a language model opens, down to its leaves, and the fast path agrees within the bound that is told.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KERNELS } from "../../built/kernels.js";
import { bytesOf } from "../core/arrays.js";
import { Engine } from "../core/language/engine.js";
import { Reader } from "../core/language/reader.js";
import { Reading, Steps } from "../core/language/workings.js";
import { lineText } from "../core/model/workings.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
addWords(MODEL_WORDS);
const vectors = JSON.parse(readFileSync(new URL("language-vectors.json", import.meta.url), "utf8"));
const { ids } = vectors.cases[0];
const MARK = / = (?=[^=]*$)/;

async function readerOf(compiled = KERNELS) {
  const engine = await Engine.make(vectors.settings, compiled, 16);
  engine.weights.addRows(0, bytesOf(vectors.rows));
  for (const [n, bytes] of vectors.layers.entries()) engine.weights.addLayer(n, bytesOf(bytes));
  engine.weights.addNorm(bytesOf(vectors.norm));
  return new Reader(engine);
}

function read(reader, of, switches = {}) {
  reader.begin(of, switches);
  while (reader.proceed());
}

async function readingOf(switches = {}, compiled = KERNELS, of = ids) {
  const reader = await readerOf(compiled);
  read(reader, of, switches);
  const steps = new Steps(reader.engine.weights, 16);
  for (const id of of) steps.vocabulary[id] = `<${id}>`;
  return new Reading(steps, of, reader.switches, reader.recorded, (layer, t) => reader.scores(layer, t));
}

for (const [kind, compiled] of Object.entries({ SIMD: KERNELS, "plain script": "" })) {
  for (const { name, switches } of compiled ? vectors.cases : vectors.cases.slice(0, 1)) {
    test(`what the fast path keeps is within the bound of its arithmetic: ${name}, by ${kind}`, async () => {
      const reading = await readingOf(switches, compiled);
      let [count, apart] = [0, 0];
      for (const step of reading.steps.steps) {
        if (!["rotary", "linear", "add"].includes(step.operation)) continue;
        for (const t of [0, 3, 5]) {
          for (let col = 0; col < step.width; col += 11) {
            const near = reading.nearOf(reading.term(step.name, [t, col]));
            if (!near) continue;
            count++;
            const gap = Math.abs(near.exact - reading.output(step, t)[col]);
            assert.ok(gap <= near.bound, `${step.name}[${t}, ${col}] is ${gap} off, more than ${near.bound}`);
            assert.ok(near.bound < 1e-4, `${step.name}[${t}, ${col}] may be ${near.bound} off`);
            if (gap) apart++;
          }
        }
      }
      assert.ok(count > 100 && apart > count / 4, `${count} numbers, ${apart} of them not exactly the same`);
    });
  }
}

test("a bound that is a twentieth of what it is does not hold", async () => {
  const reading = await readingOf();
  const gaps = Array.from({ length: 64 }, (_, col) => {
    const near = reading.nearOf(reading.term("layers.1.sum", [5, col]));
    return Math.abs(near.exact - reading.output(reading.steps.step("layers.1.sum"), 5)[col]) / near.bound;
  });
  assert.ok(Math.max(...gaps) > 0.05, "the bound is far from what happens");
});

test("every kind of number opens down to its leaves, and its line is right", async () => {
  const reading = await readingOf();
  const seen = new Set();
  const leaves = new Set();
  /** Opens the parts of a number, one of each kind. */
  const open = (term, depth) => {
    const kind = `${term.step.replace(/^(layers|lens)\.\d+/, "$1.n")} ${term.stage}`;
    if (!term.parts) {
      leaves.add(term.name.replace(/\d+/g, "n"));
      return;
    }
    if (seen.has(kind) || depth > 60) return;
    seen.add(kind);
    const said = Number(
      lineText(term.line)
        .split(MARK)[1]
        ?.match(/^[-\d.e+]+/)?.[0],
    );
    if (Number.isFinite(said))
      assert.ok(Math.abs(said - term.value) < 1e-3 * Math.max(1, Math.abs(term.value)), lineText(term.line));
    for (const part of term.parts()) open(part, depth + 1);
  };
  open(reading.term("chances", [5, 3]), 0);
  open(reading.term("lens.0.chances", [5, 3]), 0);
  open(reading.term("embedding", [5, 3]), 0);
  for (const stage of ["scores", "scaled", "masked", "weights", "output"]) {
    open(reading.term("layers.1.attention", [1, 5, 2], stage), 0);
  }
  const kinds = [...seen].filter((kind) => kind.startsWith("layers.n")).length;
  assert.ok(kinds > 20, `only ${kinds} kinds of numbers of a layer`);
  assert.deepEqual([...leaves].sort(), [
    "embedding.weight",
    "ids",
    "layers.n.attention.out_proj.weight",
    "layers.n.attention.rotated_key.angle",
    "layers.n.attention.rotated_query.angle",
    "layers.n.attention.w_key.weight",
    "layers.n.attention.w_query.weight",
    "layers.n.attention.w_value.weight",
    "layers.n.attention_norm.gain",
    "layers.n.feed_forward.down.weight",
    "layers.n.feed_forward.gate.weight",
    "layers.n.feed_forward.up.weight",
    "layers.n.feed_forward_norm.gain",
    "norm.gain",
  ]);
});

test("a weight is written out as it is stored", async () => {
  const reading = await readingOf();
  const { parts } = reading.explain("layers.0.attention.w_query", [0, 0]);
  assert.match(
    lineText(parts[1].line),
    /^layers\.0\.attention\.w_query\.weight\[0, 0\] = [\d.e-]+ · \d+ \+ \(-[\d.]+\) = /,
  );
  assert.equal(parts[1].opens, false);
  const row = reading.explain("embedding", [0, 1]);
  assert.match(lineText(row.line), /^embedding\[0, 1\] = \(?-?\d+\)? · [\d.e-]+ = .* \(stored in 8 bits/);
  const [scale, number] = lineText(row.line)
    .match(/= \(?(-?\d+)\)? · ([\d.e-]+) =/)
    .slice(1)
    .map(Number);
  assert.ok(Math.abs(scale * number - row.value) < 1e-5);
});

test("a number is opened by its way down, and says how it was reached", async () => {
  const reading = await readingOf();
  const opened = reading.explain("layers.1.attention", [0, 4, 2], "weights", ["0", "all", "0"]);
  assert.deepEqual(opened.trail, ["0", "0"].slice(0, opened.trail.length));
  assert.equal(opened.above[0].name, "layers.1.attention.weights[0,4,2]");
  assert.throws(() => reading.explain("layers.7.sum", [0, 0]), /there is no step called layers\.7\.sum/);
  assert.throws(() => reading.explain("layers.1.sum", [0, 64]), /there is no number layers\.1\.sum\[0,64\]/);
});

test("what is switched off is said, and the arithmetic follows it", async () => {
  const reading = await readingOf({ heads_off: [[0, 1]], attention_off: [1], rotary_off: true, sink_off: [0] });
  const text = (...number) => lineText(reading.explain(...number).line);
  assert.match(text("layers.0.attention", [3, 17]), /= 0, because head 1 is switched off$/);
  assert.match(text("layers.1.attention_sum", [3, 2]), /, because the attention of this layer is switched off$/);
  assert.match(text("layers.0.attention.rotated_query", [3, 2]), /, because the positions are switched off$/);
  assert.equal(reading.term("layers.0.attention", [0, 3, 0], "weights").value, 0);
  assert.equal(reading.term("layers.0.attention", [0, 0, 0], "weights").value, 1);
});

test("a text that goes on has the rows that it has alone", async () => {
  const reader = await readerOf();
  read(reader, ids.slice(0, 4));
  reader.begin([...ids.slice(0, 2), 9, 9], {});
  reader.proceed(); // and is left
  read(reader, ids);
  const alone = await readerOf();
  read(alone, ids);
  assert.deepEqual(reader.recorded, alone.recorded);
  assert.deepEqual(reader.engine.scores, alone.engine.scores);
  read(reader, ids.slice(0, 3));
  const short = await readerOf();
  read(short, ids.slice(0, 3));
  assert.deepEqual(reader.recorded, short.recorded);
  read(reader, ids, { attention_off: [0] });
  read(reader, [...ids, 5], { attention_off: [0] });
  assert.equal(reader.recorded[0].q, null);
  assert.equal(reader.recorded[1].stream.length, 7 * vectors.settings.width);
});

test("what a text leaves takes no memory but the kernels' own", async () => {
  const reader = await readerOf();
  for (const of of [ids, [...ids, 5], [9, ...ids]]) {
    read(reader, of);
    const rows = reader.recorded.flatMap((record) => Object.values(record));
    assert.ok(rows.every(({ buffer }) => buffer === reader.engine.kernels.memory));
  }
});

test("a lens behind the last layer is what the model says", async () => {
  const reader = await readerOf();
  read(reader, ids);
  assert.deepEqual(reader.scores(1, ids.length - 1), reader.engine.scores);
});
