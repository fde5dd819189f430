// The way back gives what attn_core gives: vectors.json is written by generate/page_vectors.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Attention } from "../core/attention.js";
import { edited } from "../core/edits.js";
import { withGradients } from "../core/gradients/data.js";
import { parts } from "../core/parts.js";
import { survivors } from "../core/philox.js";
import { STAGES } from "../core/stages.js";
import { GRADIENT_WORDS } from "../words/gradients.js";
import { addWords } from "../words/words.js";

addWords(GRADIENT_WORDS);
parts.philox = survivors;
const vectors = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));
const LEVELS = 1;

const dataOf = (name) =>
  withGradients({ ...vectors.records[name].payload, grad_output: vectors.gradients[name].grad_output });
const attentionOf = (data, settings) =>
  new Attention(data, { batch: 0, head: 0, mask: "given", scale: data.scale, ...settings });
const rowsOf = (attention, stage) =>
  Array.from({ length: attention.data.rowsIn(stage) }, (_, i) => [...attention.row(stage, i)]);

function near(actual, wanted, what, room = 1e-12) {
  assert.equal(actual.length, wanted.length, what);
  for (const [i, row] of wanted.entries()) {
    assert.equal(actual[i].length, row.length, what);
    for (const [j, y] of row.entries()) {
      const x = actual[i][j];
      assert.ok(Math.abs(x - y) <= room * Math.max(1, Math.abs(y)), `${what}[${i}, ${j}]: ${x}, not ${y}`);
    }
  }
}

const linesOf = (term, depth = 0) => [
  "  ".repeat(depth) + term.line.map(([text]) => text).join(""),
  ...(depth < LEVELS ? (term.parts?.() ?? []) : []).flatMap((part) => linesOf(part, depth + 1)),
];

for (const [name, { cells, lines }] of Object.entries(vectors.gradients)) {
  test(`every gradient: ${name}`, () => {
    const data = dataOf(name);
    for (const [place, stages] of Object.entries(cells)) {
      const [batch, head] = place.split(",").map(Number);
      const attention = attentionOf(data, { batch, head });
      assert.deepEqual(Object.keys(stages), data.stages.slice(STAGES.length));
      for (const [stage, wanted] of Object.entries(stages)) near(rowsOf(attention, stage), wanted, `${stage} ${place}`);
    }
  });

  test(`arithmetic of gradients, line by line: ${name}`, () => {
    const data = dataOf(name);
    for (const { place, text } of lines) {
      const [stage, i, j, batch, head] = place;
      const workings = new data.Lines(attentionOf(data, { batch, head }), i);
      assert.equal(linesOf(workings.of(stage, j)).join("\n"), text);
    }
  });

  test(`the products beside a gradient add up to it: ${name}`, () => {
    const data = dataOf(name);
    if (data.keyHeads < data.H) return; // there the sums of several heads are added
    const attention = attentionOf(data, {});
    for (const stage of Object.keys(data.further)) {
      const factors = new data.Lines(attention, 1).factors(stage, 1);
      if (!factors) continue;
      const sum = factors.a.reduce((total, x, n) => total + x * factors.b[n], 0);
      near([[sum]], [[factors.ends[0][1]]], stage);
      near([[sum]], [[attention.cell(data.isOfPairs(stage) ? "grad_dropped" : stage, 1, 1)]], stage);
    }
  });
}

test("gradients follow a mask and a scale that the reader chooses", () => {
  const chosen = attentionOf(dataOf("none"), { mask: "causal" });
  for (const [stage, wanted] of Object.entries(vectors.gradients.causal.cells["0,0"]))
    near(rowsOf(chosen, stage), wanted, stage);
  const data = dataOf("none");
  const [once, twice] = [1, 2].map((by) => attentionOf(data, { scale: by * data.scale }));
  assert.notDeepEqual(rowsOf(once, "grad_q"), rowsOf(twice, "grad_q"));
});

test("gradients follow an input that the reader changes", () => {
  const data = dataOf("none");
  const changed = edited(data, "v.0.0.1.2:3");
  const [before, after] = [data, changed].map((each) => attentionOf(each, {}));
  assert.equal(after.cell("grad_dropped", 0, 0), before.cell("grad_dropped", 0, 0));
  const by = 3 - data.number("v", 0, 0, 1, 2);
  const grad = before.cell("grad_output", 0, 2);
  near([[after.cell("grad_dropped", 0, 1)]], [[before.cell("grad_dropped", 0, 1) + by * grad]], "grad_dropped");
});

test("a grad_output of another shape is refused", () => {
  const { payload } = vectors.records.none;
  const { grad_output } = vectors.gradients["bias, softcap, sinks and grouped keys"];
  assert.throws(() => withGradients({ ...payload, grad_output }), {
    message: "grad_output must have the shape of the output",
  });
});
