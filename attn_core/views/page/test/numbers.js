// Writes every number of some passes, and some lines: node numbers.js ASKED NUMBERS LINES, three files. What
// tests/test_page_model.py compares with attn_core.

import { readFileSync, writeFileSync } from "node:fs";
import { changesOf, isNone } from "../core/model/changes.js";
import { Machine } from "../core/model/machine.js";
import { translate } from "../core/model/translate.js";
import { lineText, workings } from "../core/model/workings.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

addWords(MODEL_WORDS);
const [asked, numbers, lines] = process.argv.slice(2);
const { program, passes } = JSON.parse(readFileSync(asked, "utf8"));
const machine = new Machine(program);

function* rowsOf(pass, { name, operation, stages, statistics, heads }) {
  for (const stage of stages) {
    const isOfHeads = operation === "attention" && stage !== "merged";
    for (let head = 0; head < (isOfHeads ? heads : 1); head++) yield* pass.rows(name, stage, head);
  }
  for (const stage of statistics) {
    const [rows, height = 0] = pass.shape(name, stage).reverse();
    for (let n = 0; n < (height || 1) * rows; n++) {
      const index = height ? [Math.floor(n / rows), n % rows] : [n];
      yield Float64Array.of(pass.value(name, index, stage));
    }
  }
}

const buffers = [];
const texts = passes.map(({ source, target, changes, addresses }) => {
  const pass = machine.read({ source, target, changes: changesOf(machine, changes) });
  for (const step of machine.steps) {
    for (const row of rowsOf(pass, step)) buffers.push(Buffer.from(row.buffer, row.byteOffset, row.byteLength));
  }
  return {
    lines: addresses.map((place) => lineText(workings(pass, ...place).line)),
    written: isNone(pass.changes) && translate(machine, { source }).words.map(({ id }) => id),
  };
});
writeFileSync(numbers, Buffer.concat(buffers));
writeFileSync(lines, JSON.stringify(texts));
