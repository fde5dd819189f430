// What the page computes with SmolLM2: node smollm2.js SHARDS ASKED, a folder and a file; prints JSON.
// tests/test_language_page.py compares it with Python.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KERNELS } from "../../built/kernels.js";
import { Engine } from "../core/language/engine.js";
import { Reader } from "../core/language/reader.js";
import { Tokenizer } from "../core/language/tokenizer.js";
import { Reading, Steps } from "../core/language/workings.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
addWords(MODEL_WORDS);
const [folder, asked] = process.argv.slice(2);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const { texts, sentence, numbers } = json(asked);
const tokenizer = new Tokenizer(json(join(folder, "vocabulary.json")));
const { settings, shards } = json(join(folder, "index.json"));

async function engineOf(compiled) {
  const engine = await Engine.make(settings, compiled, 16);
  for (const { name, rows, layer } of shards) {
    const bytes = new Uint8Array(readFileSync(join(folder, name)));
    if (rows !== undefined) engine.weights.addRows(rows, bytes);
    else if (layer !== undefined) engine.weights.addLayer(layer, bytes);
    else engine.weights.addNorm(bytes);
  }
  return engine;
}

const scores = async (compiled) => [...(await engineOf(compiled)).read(tokenizer.encode(sentence))];

/** Numbers of the sentence: each as it is shown, and of those that the fast path keeps, its arithmetic and the bound. */
async function explained() {
  const reader = new Reader(await engineOf(KERNELS));
  reader.begin(tokenizer.encode(sentence), {});
  while (reader.proceed());
  const steps = new Steps(reader.engine.weights, 16);
  const reading = new Reading(steps, reader.ids, reader.switches, reader.recorded, (layer, t) =>
    reader.scores(layer, t),
  );
  return numbers.map(([name, index, stage]) => {
    const { value, near, parts } = reading.explain(name, index, stage ?? undefined);
    return { value, near, parts: parts.length };
  });
}

const ids = texts.map((text) => tokenizer.encode(text));
const answer = {
  ids,
  decoded: ids.map((of) => tokenizer.decode(of)),
  pieces: Array.from({ length: settings.vocabulary }, (_, id) => tokenizer.piece(id)),
  simd: await scores(KERNELS),
  plain: await scores(""),
  explained: await explained(),
};
process.stdout.write(JSON.stringify(answer));
