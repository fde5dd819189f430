// Numbers of texts that the page reads with SmolLM2, in node and in a browser.

import { Engine } from "../core/language/engine.js";
import { Reader } from "../core/language/reader.js";
import { Reading, Steps } from "../core/language/workings.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

export const LONGEST = 32; // tokens of a text

addWords(LANGUAGE_WORDS);
addWords(MODEL_WORDS);

/**
 * @param {any} index of the files
 * @param {(name: string) => Uint8Array | Promise<Uint8Array>} read
 * @param {string} compiled the kernels, or "" for those in plain script
 */
export async function engineOf({ settings, shards }, read, compiled) {
  const engine = await Engine.make(settings, compiled, LONGEST);
  for (const { name, rows, layer } of shards) {
    const bytes = await read(name);
    if (rows !== undefined) engine.weights.addRows(rows, bytes);
    else if (layer !== undefined) engine.weights.addLayer(layer, bytes);
    else engine.weights.addNorm(bytes);
  }
  return engine;
}

/**
 * Each number as it is shown; of those that the fast path keeps, what float64 gives and the bound.
 *
 * @param {Engine} engine
 * @param {number[]} ids
 * @param {[name: string, index: number[], stage: string | null][]} numbers
 */
export function explained(engine, ids, numbers) {
  const reader = new Reader(engine);
  reader.begin(ids, {});
  while (reader.proceed());
  const steps = new Steps(engine.weights, LONGEST);
  const reading = new Reading(steps, reader.ids, reader.switches, reader.recorded, (layer, t) =>
    reader.scores(layer, t),
  );
  return numbers.map(([name, index, stage]) => {
    const { value, near, parts } = reading.explain(name, index, stage ?? undefined);
    return { value, near, parts: parts.length };
  });
}
