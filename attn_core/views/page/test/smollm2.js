// What the page computes with SmolLM2: node smollm2.js SHARDS ASKED, a folder and a file; prints JSON.
// tests/test_language_page.py compares it with Python.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KERNELS } from "../../built/kernels.js";
import { Tokenizer } from "../core/language/tokenizer.js";
import { engineOf, explained } from "./smollm2_numbers.js";

const [folder, asked] = process.argv.slice(2);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const { texts, sentence, numbers } = json(asked);
const tokenizer = new Tokenizer(json(join(folder, "vocabulary.json")));
const index = json(join(folder, "index.json"));
const read = (name) => new Uint8Array(readFileSync(join(folder, name)));
const engine = await engineOf(index, read, KERNELS);
const scores = async (compiled) => [...(await engineOf(index, read, compiled)).read(tokenizer.encode(sentence))];

const ids = texts.map((text) => tokenizer.encode(text));
const answer = {
  ids,
  decoded: ids.map((of) => tokenizer.decode(of)),
  pieces: Array.from({ length: index.settings.vocabulary }, (_, id) => tokenizer.piece(id)),
  simd: await scores(KERNELS),
  plain: await scores(""),
  explained: explained(engine, tokenizer.encode(sentence), numbers),
};
process.stdout.write(JSON.stringify(answer));
