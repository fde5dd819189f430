// The small model of language-vectors.json as the files that a page loads: node small_model.js FOLDER writes them.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { base64Of, bytesOf } from "../core/arrays.js";

const vectors = JSON.parse(readFileSync(new URL("language-vectors.json", import.meta.url), "utf8"));
const HALF = 20; // tokens of a file of rows

// One mark, a space and the letters, and what twelve merges make of them: forty tokens.
const SIGNS = ["Ġ", ..."abcdefghijklmnopqrstuvwxyz"];
const PAIRS = ["th", "Ġc", "at", "Ġs", "he", "in", "er", "an", "re", "on", "is", "Ġa"];
const idOf = (sign) => 1 + SIGNS.indexOf(sign);
const merges = new Uint8Array(new Uint16Array(PAIRS.flatMap(([a, b]) => [idOf(a), idOf(b)])).buffer);
export const VOCABULARY = { marks: ["<|end|>"], signs: SIGNS, merges: base64Of(merges) };

const rows = bytesOf(vectors.rows);
const half = (rows.length / vectors.settings.vocabulary) * HALF;
const parts = [
  { name: "rows-00000.bin", rows: 0, content: rows.subarray(0, half) },
  ...vectors.layers.map((text, layer) => ({ name: `layer-0${layer}.bin`, layer, content: bytesOf(text) })),
  { name: "norm.bin", norm: true, content: bytesOf(vectors.norm) },
  { name: "rows-00020.bin", rows: HALF, content: rows.subarray(half) },
];

/** By name, the bytes of each file. @type {Record<string, Uint8Array>} */
export const FILES = Object.fromEntries(parts.map(({ name, content }) => [name, content]));
const shards = parts.map(({ content, ...shard }) => ({
  ...shard,
  bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
}));
const text = (value) => new TextEncoder().encode(JSON.stringify(value));
FILES["index.json"] = text({ settings: vectors.settings, shards });
FILES["vocabulary.json"] = text(VOCABULARY);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv;
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
}
