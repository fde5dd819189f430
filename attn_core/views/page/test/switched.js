// What a model writes with one thing after the other switched off: node switched.js ASKED WRITTEN, two files.
// What benchmarks/switched.py counts.

import { readFileSync, writeFileSync } from "node:fs";
import { changesIn } from "../core/model/changes.js";
import { Machine } from "../core/model/machine.js";
import { translate } from "../core/model/translate.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

addWords(MODEL_WORDS);
const [asked, written] = process.argv.slice(2);
const { program, sources, switches, most } = JSON.parse(readFileSync(asked, "utf8"));
const machine = new Machine(program);
const answers = switches.map((text) =>
  sources.map((source) =>
    translate(machine, { source, changes: changesIn(machine, text), most }).words.map(({ id }) => id),
  ),
);
writeFileSync(written, JSON.stringify(answers));
