// The page's language model gives what float64 gives, within bounds: language-vectors.json is written by
// generate/language_vectors.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KERNELS } from "../../built/kernels.js";
import { bytesOf } from "../core/arrays.js";
import { Engine } from "../core/language/engine.js";
import { dequantise, Q4_1, Q8_0, weightAt } from "../core/language/formats.js";
import { loadKernels } from "../core/language/kernels.js";
import { Problem } from "../core/problem.js";
import { LANGUAGE_CHINESE, LANGUAGE_WORDS } from "../words/language.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
const vectors = JSON.parse(readFileSync(new URL("language-vectors.json", import.meta.url), "utf8"));
const { settings, cases } = vectors;
const { ids } = cases[0];
const [rows, norm] = [vectors.rows, vectors.norm].map(bytesOf);
const layers = vectors.layers.map(bytesOf);
const KINDS = { SIMD: KERNELS, "plain script": "" };

/** An engine for short texts with all weights, or some of them. */
async function engineOf(compiled, { of = layers, hasNorm = true, longest = 8 } = {}) {
  const engine = await Engine.make(settings, compiled, longest);
  engine.weights.addRows(0, rows);
  for (const [n, bytes] of of.entries()) engine.weights.addLayer(n, bytes);
  if (hasNorm) engine.weights.addNorm(norm);
  return engine;
}

function assertNear(made, { numbers, bound }, name) {
  assert.equal(made.length, numbers.length, name);
  for (const [n, x] of numbers.entries()) {
    assert.ok(Math.abs(made[n] - x) <= bound, `${name}, number ${n}: ${made[n]} is not ${x} within ${bound}`);
  }
}

test("the kernels need SIMD, and nothing but a memory", () => {
  const module = new WebAssembly.Module(bytesOf(KERNELS));
  assert.deepEqual(WebAssembly.Module.imports(module), [{ module: "env", name: "memory", kind: "memory" }]);
});

for (const [kind, compiled] of Object.entries(KINDS)) {
  test(`scores and all rows of each case, by ${kind}`, async () => {
    const engine = await engineOf(compiled);
    for (const { name, switches, scores, layers: records } of cases) {
      engine.switch(switches);
      assertNear(engine.read(ids), scores, name);
      for (const [n, record] of (records ?? []).entries()) {
        for (const [part, wanted] of Object.entries(record)) {
          assertNear(engine.record(n)[part], wanted, `layer ${n}, ${part}`);
        }
      }
    }
  });

  test(`a token read alone has the bits that it has in its text, by ${kind}`, async () => {
    const [whole, alone] = [await engineOf(compiled), await engineOf(compiled)];
    const scores = whole.read(ids);
    const one = ids.map((id) => alone.read([id])).at(-1);
    assert.deepEqual(one, scores);
    for (const n of layers.keys()) assert.deepEqual(alone.record(n), whole.record(n));
    whole.cut(0);
    whole.read(ids.slice(0, 4));
    assert.deepEqual(whole.read(ids.slice(4)), scores, "several behind several");
    alone.cut(2);
    assert.deepEqual(alone.read(ids.slice(2)), scores, "the others were forgotten");
  });

  test(`rows of the embedding are the numbers that Python reads, by ${kind}`, async () => {
    const kernels = await loadKernels(2 ** 16, compiled);
    const wanted = vectors.weights.rows;
    const at = kernels.start + 4 * wanted.length;
    new Uint8Array(kernels.memory, at, wanted.length * 2).set(rows.subarray(0, wanted.length * 2));
    kernels.dequantise(at, wanted.length, kernels.start);
    assert.deepEqual([...new Float32Array(kernels.memory, kernels.start, wanted.length)], wanted);
  });

  test(`half numbers of each size, by ${kind}`, async () => {
    const kernels = await loadKernels(2 ** 16, compiled);
    const at = kernels.start + 128;
    for (const [bits, scale] of [
      [0x0001, 2 ** -24],
      [0x83ff, -1023 * 2 ** -24],
      [0x3c00, 1],
      [0xfbff, -65504],
    ]) {
      new Uint8Array(kernels.memory, at, 34).set([bits & 255, bits >> 8, ...new Array(32).fill(255)]);
      kernels.dequantise(at, 32, kernels.start);
      assert.equal(new Float32Array(kernels.memory, kernels.start, 32)[31], -scale);
    }
  });

  test(`SwiGLU of small and large numbers, by ${kind}`, async () => {
    const kernels = await loadKernels(2 ** 16, compiled);
    const gates = Float32Array.from({ length: 804 }, (_, n) => (n - 402) / 4);
    const [at, up] = [kernels.start, kernels.start + 4 * gates.length];
    const made = new Float32Array(kernels.memory, at, gates.length);
    made.set(gates);
    new Float32Array(kernels.memory, up, gates.length).fill(0.5);
    kernels.swiglu(at, up, gates.length);
    for (const [n, x] of gates.entries()) {
      const silu = x / (1 + Math.exp(-x));
      // Beyond 87 the exponential is the largest that float32 has: what is left is below 10^-35.
      assert.ok(Math.abs(made[n] - silu / 2) <= 6 * 2 ** -24 * Math.abs(silu) + 1e-35, `${x}: ${made[n]}`);
    }
  });
}

test("stored weights open to the numbers that Python reads", () => {
  for (const [name, format, bytes] of [
    ["rows", Q8_0, rows],
    ["w_query", Q4_1, layers[0].subarray(4 * settings.width)],
  ]) {
    const wanted = vectors.weights[name];
    const made = new Float32Array(wanted.length);
    dequantise(format, bytes, made);
    assert.deepEqual([...made], wanted);
    for (const [n, weight] of wanted.entries()) {
      const opened = weightAt(format, bytes, n);
      assert.equal(opened.weight, weight);
      assert.equal(Math.fround(opened.scale * opened.number) + opened.least, weight);
    }
  }
});

test("a layer works as soon as it is there", async () => {
  const engine = await engineOf(KERNELS, { of: layers.slice(0, 1), hasNorm: false });
  engine.begin(ids);
  assert.equal(engine.proceed(), true);
  assert.equal(engine.proceed(), false);
  assertNear(engine.record(0).stream, cases[0].layers[0].stream, "the first layer alone");
  assert.equal(engine.length, 0);
  engine.weights.addLayer(1, layers[1]);
  assert.equal(engine.proceed(), true);
  assert.equal(engine.proceed(), false, "the scores need the norm");
  engine.weights.addNorm(norm);
  assert.equal(engine.proceed(), true);
  assertNear(engine.scores, cases[0].scores, "scores");
  assert.equal(engine.proceed(), false);
});

test("a text as long as may be", async () => {
  const engine = await engineOf(KERNELS, { longest: 256 });
  const long = Array.from({ length: 256 }, (_, n) => (n * n) % settings.vocabulary);
  const scores = engine.read(long);
  engine.cut(0);
  engine.read(long.slice(0, 100));
  assert.deepEqual(engine.read(long.slice(100)), scores);
  assert.throws(() => engine.read([1]), new Problem("a text may have up to 256 tokens; this one has 257"));
});

test("rows of the embedding come in parts, and twice does no harm", async () => {
  const engine = await Engine.make(settings, KERNELS, 8);
  const { rowBytes } = engine.shape;
  engine.weights.addRows(3, rows.subarray(3 * rowBytes, 8 * rowBytes));
  engine.begin([7, 3]);
  assert.throws(
    () => engine.begin([2]),
    new Problem("the row of token 2 of the model is not there yet: wait until it has loaded"),
  );
  engine.weights.addRows(0, rows.subarray(0, 5 * rowBytes));
  assert.equal(engine.weights.rowsMissing, settings.vocabulary - 8);
});

test("what is off is not recorded", async () => {
  const engine = await engineOf(KERNELS);
  engine.switch({ attention_off: [1] });
  engine.read(ids);
  const [first, second] = [0, 1].map((n) => engine.record(n));
  assert.deepEqual([second.q, second.k, second.v], [null, null, null]);
  assert.deepEqual(second.attended, first.stream);
});

test("what cannot be is said in a sentence", async () => {
  const engine = await engineOf(KERNELS, { of: layers.slice(0, 1), hasNorm: false });
  const { weights } = engine;
  const said = (what, sentence) =>
    assert.throws(what, (error) => error instanceof Problem && error.message === sentence);
  said(() => engine.read([]), "a text must have a token");
  said(() => engine.read(new Array(9).fill(1)), "a text may have up to 8 tokens; this one has 9");
  said(() => engine.read([40]), "the id of a token must be a whole number below 40, got 40");
  said(() => engine.read([0.5]), "the id of a token must be a whole number below 40, got 0.5");
  said(() => engine.read([1]), "layer 1 of the model is not there yet: wait until it has loaded");
  weights.addLayer(1, layers[1]);
  said(() => engine.read([1]), "the last norm of the model is not there yet: wait until it has loaded");
  said(() => weights.addLayer(2, layers[1]), "the model has layers 0 to 1, got 2");
  said(() => weights.addLayer(1, norm), `layer 1 must have ${layers[1].length} bytes, got 256: load it again`);
  said(() => weights.addNorm(rows), "the last norm must have 256 bytes, got 2720: load it again");
  const [few, many] = [rows.subarray(0, 67), "rows must be those of tokens below 40, 68 bytes each, got"];
  said(() => weights.addRows(0, few), `${many} 67 bytes from token 0 on`);
  said(() => weights.addRows(1, rows), `${many} 2720 bytes from token 1 on`);
  said(() => engine.cut(1), "what is kept must be a whole number of tokens from 0 to 0, got 1");
  said(
    () => engine.switch({ heads_off: [[2, 0]] }),
    "a head must be given as a layer below 2 and a number below 4, got 2,0",
  );
  said(() => engine.switch({ heads_off: [3] }), "a head must be given as a layer below 2 and a number below 4, got 3");
  said(() => engine.switch({ sink_off: [2] }), "the model has layers 0 to 1, got 2");
  said(() => engine.switch({ sink_off: 1 }), "there is nothing to switch called sink_off: 1");
  said(() => engine.switch({ sinks_off: [] }), "there is nothing to switch called sinks_off");
  said(() => engine.switch({ rotary_off: 1 }), "rotary_off must be true or false, got 1");
});

test("settings that are none are said, and a memory that is not to be had", async () => {
  const said = (changed, sentence) =>
    assert.rejects(Engine.make({ ...settings, ...changed }, KERNELS), (error) => error.message === sentence);
  await said({ width: 48 }, "its width must be a multiple of 32, got 48");
  await said({ heads: 3 }, "its heads must be a divisor of width, with a quotient that 4 divides, got 3");
  await said({ kv_heads: 3 }, "its kv_heads must be a divisor of heads, got 3");
  await said({ layers: 0 }, "its layers must be a whole number above 0, got 0");
  await said({ vocabulary: 0 }, "its vocabulary must be a whole number above 0, got 0");
  await said({ eps: "" }, "its eps must be a number of at least 0, got nothing");
  await said({ rates: [1] }, "its rates must be a number for each pair of a head, got 1");
  await said({ hidden: undefined }, "its hidden must be a multiple of 32, got nothing");
  for (const compiled of Object.values(KINDS)) {
    await assert.rejects(Engine.make(settings, compiled, 2 ** 26), /^Error: the model needs \d+ MB of memory/);
  }
});

test("both languages have the same sentences", () => {
  const places = (words) =>
    Object.entries(words).map(([key, phrase]) => [key, [...phrase.matchAll(/\{\w+\}/g)].map(String).sort()]);
  assert.deepEqual(places(LANGUAGE_CHINESE), places(LANGUAGE_WORDS));
});
