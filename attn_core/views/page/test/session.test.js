// What the worker of a page does, on the small model: it loads, reads while it loads, and says what went wrong.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { KERNELS } from "../../built/kernels.js";
import { Session } from "../core/language/session.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";
import { FILES } from "./small_model.js";

addWords(LANGUAGE_WORDS);
addWords(MODEL_WORDS);
const FOLDER = "https://book/_static/language/";

/** A browser's cache, as far as a loader uses it. */
class Kept {
  constructor() {
    this.all = new Map();
  }
  async match(key) {
    return this.all.get(key)?.clone();
  }
  async put(key, response) {
    this.all.set(key, response);
  }
  async delete(key) {
    this.all.delete(key);
  }
  async keys() {
    return [...this.all.keys()].map((url) => ({ url }));
  }
}

/** A session, what it told, and what it fetched; `answer` may change what a file is. */
function sessionOf({
  answer = (_name, bytes) => bytes,
  cache = null,
  compiled = KERNELS,
  hash = true,
  now = () => 0,
} = {}) {
  const [told, freed, fetched, given] = [[], [], [], []];
  const means = {
    async fetch(address) {
      const name = address.slice(FOLDER.length);
      fetched.push(name);
      const bytes = await answer(name, FILES[name]);
      return bytes ? new Response(bytes) : new Response("", { status: 404 });
    },
    cache: cache && (async () => cache),
    digest: hash ? async (bytes) => createHash("sha256").update(bytes).digest().buffer : null,
    free: ({ buffer, byteLength }) => {
      structuredClone(null, { transfer: [buffer] });
      given.push(byteLength);
    },
  };
  const pause = () => new Promise((done) => setImmediate(done));
  const tell = (one, free) => {
    told.push(one);
    freed.push(free);
  };
  const session = new Session({ compiled, means, tell, pause, now });
  return { session, told, freed, fetched, given };
}

const read = (session, text, more = {}) => session.read({ text, more: [], switches: {}, reading: 1, ...more });

async function whole(how) {
  const made = sessionOf(how);
  const opened = await made.session.open({ folder: FOLDER });
  return { ...made, opened, loaded: await made.session.load() };
}

test("it loads, cuts a text, and says what may come next", async () => {
  const { session, told, fetched, opened } = await whole();
  assert.deepEqual(opened.shape, { layers: 2, heads: 4, kvHeads: 2, headDim: 16 });
  assert.equal(opened.isPlain, false);
  assert.deepEqual(session.cut({ text: "the cat" }).pieces, ["th", "e", " c", "at"]);
  const { likeliest } = await read(session, "the cat");
  assert.equal(likeliest.length, 10);
  assert.ok(likeliest.every(({ chance }, n) => !n || chance <= likeliest[n - 1].chance));
  const [{ first, records }] = told.filter(({ what }) => what === "layers");
  assert.deepEqual([first, records.map(({ q, k }) => [q.length, k.length])], [0, new Array(2).fill([4 * 64, 4 * 32])]);
  const loading = told.filter(({ what }) => what === "loading");
  assert.deepEqual(loading.at(-1), { what: "loading", loaded: opened.bytes, bytes: opened.bytes });
  assert.equal(fetched.length, 7);
});

test("it reads as the layers arrive, the rows of the text before all else", async () => {
  const gates = {};
  const answer = (name, bytes) => {
    if (!name.endsWith(".bin")) return bytes;
    return new Promise((done) => {
      gates[name] = () => done(bytes);
    });
  };
  const { session, told } = sessionOf({ answer });
  await session.open({ folder: FOLDER });
  const reading = read(session, "<|end|>is"); // a token of each file of rows
  const loading = session.load();
  const turn = () => new Promise((done) => setTimeout(done, 5));
  await turn();
  assert.deepEqual(Object.keys(gates), ["rows-00000.bin", "rows-00020.bin", "layer-00.bin"]);
  for (const name of ["layer-00.bin", "rows-00000.bin", "rows-00020.bin"]) gates[name]();
  await turn();
  assert.deepEqual(
    told.filter(({ what }) => what === "layers").map(({ first, records }) => [first, records.length]),
    [[0, 1]],
    "a layer that waits for the next one's weights is told",
  );
  assert.match(
    session
      .explain({ name: "layers.0.sum", index: [1, 3] })
      .line.flat()
      .join(""),
    /^layers\.0\.sum\[1, 3\]/,
  );
  assert.throws(
    () => session.explain({ name: "layers.1.sum", index: [1, 3] }),
    /layer 1 of the model is not there yet/,
  );
  gates["layer-01.bin"]();
  await turn();
  assert.deepEqual(told.at(-1).first, 1, "as long as files are on their way, each layer is told at once");
  gates["norm.bin"]();
  await Promise.all([reading, loading]);
});

test("layers that are soon there are told together, others as they are done", async () => {
  for (const [step, wanted] of [
    [0, [[0, 2]]],
    [
      1000,
      [
        [0, 1],
        [1, 1],
      ],
    ],
  ]) {
    let clock = 0;
    const { session, told } = await whole({ now: () => (clock += step) });
    await read(session, "the cat");
    const layers = told.filter(({ what }) => what === "layers");
    assert.deepEqual(
      layers.map(({ first, records }) => [first, records.length]),
      wanted,
    );
  }
});

test("what is told goes to the page without a copy", async () => {
  const { session, told, freed } = await whole();
  await read(session, "the cat");
  const rows = told.at(-1).records.flatMap(({ q, k, v }) => [q, k, v]);
  assert.deepEqual(
    freed.at(-1),
    rows.map(({ buffer }) => buffer),
  );
  assert.ok(rows.every(({ buffer, byteLength }) => buffer.byteLength === byteLength));
  await read(session, "the cat", { switches: { attention_off: [0] }, reading: 2 });
  assert.deepEqual([told.at(-1).records[0], freed.at(-1).length], [{ q: null, k: null, v: null }, 3]);
});

test("a later text ends the one before", async () => {
  const { session } = await whole();
  const answers = await Promise.all([
    read(session, "the cat", { reading: 1 }),
    read(session, "the cat sat", { reading: 2 }),
  ]);
  assert.equal(answers[0], null);
  const { session: other } = await whole();
  assert.deepEqual(answers[1], await read(other, "the cat sat"));
});

test("a text that comes while layers are computed ends the one before", async () => {
  const { session } = await whole();
  const first = read(session, "the cat");
  await new Promise((done) => setImmediate(done));
  assert.equal(session.engine.layer, 1);
  const second = read(session, "the cat sat", { reading: 2 });
  assert.equal(await first, null);
  assert.equal((await second).likeliest.length, 10);
});

test("what is switched off is said beside what was before", async () => {
  const { session } = await whole();
  const before = await read(session, "the cat");
  const { likeliest } = await read(session, "the cat", { switches: { attention_off: [0] }, reading: 2 });
  assert.ok(
    likeliest.some(({ id }) => id === before.likeliest[0].id),
    "what was likeliest is in the list",
  );
  for (const { id, was } of likeliest) {
    const same = before.likeliest.find((each) => each.id === id);
    if (same) assert.equal(was, same.chance);
  }
  const again = await read(session, "the cat", { reading: 3 });
  assert.deepEqual(again, before);
});

test("words that were chosen are read behind the text as they are", async () => {
  const { session } = await whole();
  const { ids } = session.cut({ text: "th" });
  const chosen = await read(session, "t", { more: [ids[0]] });
  assert.ok(chosen.likeliest.length);
  assert.equal(session.shown.ids("target").length, 2);
});

test("a lens gives the likeliest words of each layer", async () => {
  const { session } = await whole();
  const { likeliest } = await read(session, "the cat");
  const behind = await session.lens({ row: 3 });
  assert.equal(behind.length, 2);
  assert.deepEqual(
    behind[1].map(({ id }) => id),
    likeliest.slice(0, 3).map(({ id }) => id),
  );
});

test("files are kept, checked, and those of another model forgotten", async () => {
  const cache = new Kept();
  cache.all.set(`${FOLDER}old.bin?0`, new Response("old"));
  const first = await whole({ cache });
  assert.equal(first.loaded.kept, 0);
  assert.equal(cache.all.size, 5);
  const second = await whole({ cache });
  assert.equal(second.loaded.kept, second.opened.bytes);
  assert.deepEqual(second.fetched.sort(), ["index.json", "vocabulary.json"]);
  const [key] = [...cache.all.keys()].filter((each) => each.includes("layer-01"));
  cache.all.set(key, new Response("damaged"));
  const third = await whole({ cache });
  assert.deepEqual(third.fetched.sort(), ["index.json", "layer-01.bin", "vocabulary.json"]);
});

test("the memory of each file is given back once the engine has it", async () => {
  for (const cache of [null, new Kept()]) {
    const { given, opened, session } = await whole({ cache });
    assert.equal(given.length, 5);
    assert.equal(
      given.reduce((sum, bytes) => sum + bytes, 0),
      opened.bytes,
    );
    assert.ok((await read(session, "the cat")).likeliest.length);
  }
});

test("a lost or damaged file is said, and what came stays", async () => {
  let isLost = true;
  const { session, fetched } = sessionOf({
    answer: (name, bytes) => (isLost && name === "layer-01.bin" ? null : bytes),
  });
  await session.open({ folder: FOLDER });
  const reading = read(session, "the cat");
  const failed = [session.load(), reading].map((of) =>
    assert.rejects(of, /^Error: layer-01\.bin could not be loaded \(404\)$/),
  );
  await Promise.all(failed);
  isLost = false;
  fetched.length = 0;
  await session.load();
  assert.deepEqual(fetched, ["layer-01.bin"]);
  assert.ok((await read(session, "the cat")).likeliest.length);

  const flipped = (bytes) => Uint8Array.from(bytes, (byte, n) => (n === 100 ? byte ^ 1 : byte));
  const damaged = (name, bytes) => (name === "norm.bin" ? flipped(bytes) : bytes);
  await assert.rejects(whole({ answer: damaged }), /^Error: norm\.bin is damaged/);
  assert.ok(await whole({ answer: damaged, hash: false }), "without a digest only its length is known");
  const short = (name, bytes) => (name === "norm.bin" ? bytes.subarray(1) : bytes);
  await assert.rejects(whole({ answer: short, hash: false }), /^Error: norm\.bin is damaged/);
  await assert.rejects(
    whole({ answer: () => Promise.reject(new TypeError("offline")) }),
    /could not be loaded \(no answer\)/,
  );
});

test("a cache that refuses costs nothing", async () => {
  const full = Object.assign(new Kept(), { put: () => Promise.reject(new Error("full")) });
  assert.equal((await whole({ cache: full })).loaded.kept, 0);
});

test("without SIMD it says so", async () => {
  const { opened, session } = await whole({ compiled: "" });
  assert.equal(opened.isPlain, true);
  assert.ok((await read(session, "the cat")).likeliest.length);
});

test("too long a text is said, and an empty one", async () => {
  const { session } = await whole();
  await assert.rejects(read(session, "q".repeat(200)), /a text may have up to 128 tokens; this one has 200/);
  await assert.rejects(read(session, ""), /a text must have a token/);
  assert.ok((await read(session, "the cat")).likeliest.length);
});
