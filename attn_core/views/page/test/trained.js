// Writes the numbers of some trainings: node trained.js ASKED NUMBERS, two files. What tests/test_page_training.py
// compares with attn_core: of each step its losses, the gradients, the weights behind it, and the maps on the example.

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { Training } from "../core/training/training.js";
import { TRAINING_WORDS } from "../words/training.js";
import { addWords } from "../words/words.js";

addWords(TRAINING_WORDS);
const [asked, numbers] = process.argv.slice(2);
const { settings, steps } = JSON.parse(readFileSync(asked, "utf8"));
const training = new Training(settings);
const file = openSync(numbers, "w");
for (let n = 0; n < steps; n++) {
  const { loss, first, repeats } = training.step();
  for (const array of [
    Float64Array.of(loss, first, repeats),
    training.last.gradient,
    training.state.weights,
    ...training.maps(),
  ]) {
    writeSync(file, Buffer.from(array.buffer, array.byteOffset, array.byteLength));
  }
}
closeSync(file);
