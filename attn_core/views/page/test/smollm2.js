// What the page computes with SmolLM2: node smollm2.js SHARDS ASKED, a folder and a file; prints JSON.
// tests/test_language_page.py compares it with Python.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KERNELS } from "../../built/kernels.js";
import { Engine } from "../core/language/engine.js";
import { Tokenizer } from "../core/language/tokenizer.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
const [folder, asked] = process.argv.slice(2);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const { texts, sentence } = json(asked);
const tokenizer = new Tokenizer(json(join(folder, "vocabulary.json")));
const { settings, shards } = json(join(folder, "index.json"));

async function scores(compiled) {
  const engine = await Engine.make(settings, compiled, 16);
  for (const { name, rows, layer } of shards) {
    const bytes = new Uint8Array(readFileSync(join(folder, name)));
    if (rows !== undefined) engine.weights.addRows(rows, bytes);
    else if (layer !== undefined) engine.weights.addLayer(layer, bytes);
    else engine.weights.addNorm(bytes);
  }
  return [...engine.read(tokenizer.encode(sentence))];
}

const ids = texts.map((text) => tokenizer.encode(text));
const answer = {
  ids,
  decoded: ids.map((of) => tokenizer.decode(of)),
  pieces: Array.from({ length: settings.vocabulary }, (_, id) => tokenizer.piece(id)),
  simd: await scores(KERNELS),
  plain: await scores(""),
};
process.stdout.write(JSON.stringify(answer));
