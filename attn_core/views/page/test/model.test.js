// The page's model gives what attn_core gives: model-vectors.json is written by generate/model_vectors.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Attention } from "../core/attention.js";
import { Data } from "../core/data.js";
import { written } from "../core/digits.js";
import { Gradients } from "../core/model/backward/gradients.js";
import { changesIn, changesOf, changesText, isNone, isOff, switched } from "../core/model/changes.js";
import { DECLARED, KINDS } from "../core/model/declared.js";
import { Machine } from "../core/model/machine.js";
import { bell } from "../core/model/operations/activations.js";
import { sinusoids } from "../core/model/operations/embedding.js";
import { OPERATIONS } from "../core/model/operations/list.js";
import { fitting, idsOf, knownWords, wordsIn } from "../core/model/sentence.js";
import { choices, translate } from "../core/model/translate.js";
import { lineText, workings } from "../core/model/workings.js";
import { Problem } from "../core/problem.js";
import { MACHINE_WORDS } from "../words/machine.js";
import { MODEL_CHINESE, MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

addWords(MODEL_WORDS);
const vectors = JSON.parse(readFileSync(new URL("model-vectors.json", import.meta.url), "utf8"));
const { program } = vectors.translator;

/** Every number of a pass, by step and stage. */
function everything(pass) {
  const numbers = {};
  for (const { name, operation, stages, heads } of pass.machine.steps) {
    for (const stage of stages) {
      const isOfHeads = operation === "attention" && stage !== "merged";
      for (let head = 0; head < (isOfHeads ? heads : 1); head++) {
        numbers[`${name}.${stage}.${head}`] = pass.rows(name, stage, head).map((row) => [...row]);
      }
    }
  }
  return numbers;
}

// Numbers in lists of any depth; −∞ stands as null.
function near(actual, wanted, what) {
  if (Array.isArray(wanted)) {
    assert.equal(actual.length, wanted.length, what);
    for (const [n, part] of wanted.entries()) near(actual[n], part, `${what}[${n}]`);
  } else {
    const y = wanted ?? -Infinity;
    assert.ok(actual === y || Math.abs(actual - y) <= 1e-12 * Math.max(1, Math.abs(y)), `${what}: ${actual}, not ${y}`);
  }
}

// The numbers of a stage in lists as deep as its shape.
function numbersOf(pass, name, stage, [size, ...sizes] = pass.shape(name, stage), index = []) {
  if (size === undefined) return pass.value(name, index, stage);
  return Array.from({ length: size }, (_, n) => numbersOf(pass, name, stage, sizes, [...index, n]));
}

for (const [model, { program, passes }] of Object.entries(vectors)) {
  const machine = new Machine(program);

  test(`every number of every step: ${model}`, () => {
    for (const { source, target, changes, values } of passes) {
      const pass = machine.read({ source, target, changes });
      for (const [step, stages] of Object.entries(values)) {
        for (const [stage, wanted] of Object.entries(stages)) {
          near(numbersOf(pass, step, stage), wanted, `${step}.${stage} ${changesText(pass.changes)}`);
        }
      }
    }
  });

  test(`arithmetic, line by line: ${model}`, () => {
    const place = ({ name, index }) => `${name}[${index.join(", ")}]`;
    for (const { source, target, changes, lines } of passes) {
      const pass = machine.read({ source, target, changes });
      for (const { step, stage, index, text, parts } of lines) {
        const term = workings(pass, step, index, stage);
        assert.equal(lineText(term.line), text);
        const terms = term.parts?.() ?? [];
        assert.deepEqual(terms.map(place), parts, text);
        for (const part of [term, ...terms]) {
          assert.equal(part.value, pass.value(part.step, part.index, part.stage), place(part));
          assert.equal(lineText(part.line), lineText(workings(pass, part.step, part.index, part.stage).line));
        }
      }
    }
  });
}

// A tensor in lists as deep as its shape.
function nested(tensor, index = []) {
  if (index.length === tensor.shape.length) return tensor.at(...index);
  return Array.from({ length: tensor.shape[index.length] }, (_, n) => nested(tensor, [...index, n]));
}

for (const [model, { program, passes }] of Object.entries(vectors)) {
  const machine = new Machine(program);

  test(`gradients, and their arithmetic line by line: ${model}`, () => {
    const place = ({ name, index }) => `${name}[${index.join(", ")}]`;
    for (const { source, target, changes, loss, gradients: wanted, gradient_lines: lines } of passes) {
      const pass = machine.read({ source, target, changes });
      const gradients = new Gradients(pass, loss.step, loss.index);
      for (const [name, { output }] of Object.entries(wanted)) {
        near(nested(gradients.tensor({ name, stage: "output" })), output, name);
      }
      for (const { step, stage, index, text, parts } of lines) {
        const term = gradients.workings({ name: step, stage }, index);
        assert.equal(lineText(term.line), text);
        const terms = term.parts?.() ?? [];
        assert.deepEqual(terms.map(place), parts, text);
        for (const part of [term, ...terms]) {
          assert.equal(part.value, gradients.value(part.step, part.index, part.stage), place(part));
        }
      }
    }
  });
}

const sentence = { source: [3, 17, 4], target: [1, 3, 17] };
const everyChange = ({ steps }) => {
  const named = KINDS.map((kind) => {
    const names = steps.filter(({ switches }) => Object.hasOwn(switches, kind)).map(({ name }) => name);
    return [kind, kind === "heads_off" ? names.map((name) => [name, 0]) : names];
  });
  return Object.fromEntries(named);
};

test("the bell curve", () => {
  const known = { 0: 0.5, 1: 0.8413447460685429, "-3": 0.0013498980316300933, 6: 0.9999999990134123, 12: 1, "-12": 0 };
  for (const [x, share] of Object.entries(known)) assert.ok(Math.abs(bell(Number(x)) - share) < 1e-15, x);
});

test("a pass that takes rows over has the numbers of one that makes all", () => {
  const machine = new Machine(program);
  const off = everyChange(machine);
  const reads = [
    sentence,
    { ...sentence, target: [1, 3, 17, 4] },
    { ...sentence, target: [1, 3, 9, 4, 5] },
    { ...sentence, target: [1, 3, 9, 4, 5, 6], changes: { mask_off: off.mask_off } },
    { ...sentence, target: [1, 3, 9, 4, 5, 6, 7], changes: { mask_off: off.mask_off } },
    { ...sentence, target: [1, 3], changes: { heads_off: off.heads_off.slice(-1) } },
    { source: [3, 17, 4, 5], target: [1, 3] },
    { ...sentence, target: [1, 3, 17, 4], changes: { norms_off: off.norms_off.slice(-1) } },
    { ...sentence, target: [1, 3, 17, 4] },
  ];
  for (const read of reads)
    assert.deepEqual(everything(machine.read(read)), everything(new Machine(program).read(read)));
});

test("what a word more or a switch cannot change is not made again", () => {
  const machine = new Machine(program);
  const first = machine.read(sentence);
  everything(first);
  const longer = machine.read({ ...sentence, target: [1, 3, 17, 4] });
  for (const step of machine.steps.filter(({ axis }) => axis === "target")) {
    for (let t = 0; t < 3; t++) assert.equal(longer.output(step, t), first.output(step, t), step.name);
  }
  const isKept = (pass, name, t = 0) => pass.output(machine.step(name), t) === first.output(machine.step(name), t);
  const memory = machine.steps.findLast(({ axis }) => axis === "source").name;
  assert.ok(isKept(longer, memory));
  const { mask_off } = everyChange(machine);
  const seen = machine.read({ ...sentence, changes: { mask_off } });
  assert.ok(isKept(seen, "target_places") && !isKept(seen, "words_out"));
  const other = machine.read({ ...sentence, source: [3, 17, 5] });
  assert.ok(isKept(other, "target_places") && !isKept(other, memory) && !isKept(other, "words_out"));
  assert.ok(machine.read({ ...sentence, source: [3, 17, 5] }) === other);
  for (let id = 0; id < 20; id++) machine.read({ source: [id] });
  assert.equal(machine.passes.length, 6);
});

test("an attention can be handed to an explorer", () => {
  const pass = new Machine(program).read(sentence);
  const { name } = pass.machine.steps.find(({ operation, axis }) => operation === "attention" && axis === "target");
  const data = new Data(pass.payload(name));
  assert.deepEqual(data.queries, ["<start>", "汤姆", "追逐"]);
  const attention = new Attention(data, { batch: 0, head: 1, scale: data.scale, mask: "given" });
  assert.deepEqual(attention.row("output", 2), pass.row(name, "output", 2, 1));
  assert.deepEqual(attention.row("output", 2), pass.row(name, "merged", 2).slice(data.Dv, 2 * data.Dv));
});

test("changes", () => {
  const machine = new Machine(program);
  const all = changesOf(machine, everyChange(machine));
  assert.deepEqual(changesIn(machine, changesText(all)), all);
  const [attention] = machine.steps.filter(({ operation }) => operation === "attention");
  const off = switched(machine, changesOf(machine, {}), "heads_off", attention.name, 1);
  assert.ok(isOff(off, "heads_off", attention.name, 1) && !isOff(off, "heads_off", attention.name, 0) && !isNone(off));
  assert.equal(changesText(off), `heads_off:${attention.name}.1`);
  assert.ok(isNone(switched(machine, off, "heads_off", attention.name, 1)));
  const twice = { mask_off: [attention.name, attention.name] };
  assert.deepEqual(changesOf(machine, twice).mask_off, [attention.name]);
  for (const text of ["heads_off:source.0", `heads_off:${attention.name}.9`, "mask_off:none", "all", "__proto__:a"]) {
    assert.throws(() => changesIn(machine, text), Problem, text);
  }
  for (const wanted of [
    { mask_off: "all" },
    { masks: [] },
    { heads_off: [attention.name] },
    { mask_off: [[attention.name]] },
  ]) {
    assert.throws(() => changesOf(machine, wanted), Problem);
  }
});

test("a translation is written word after word", () => {
  const machine = new Machine(program);
  const { words, pass, hasEnded } = translate(machine, { source: idsOf(machine, ["Tom", "chases", "Jerry"]) });
  assert.deepEqual(
    words.map(({ word }) => word),
    ["汤姆", "追逐", "杰瑞", "<end>"],
  );
  assert.ok(hasEnded);
  for (const [n, { id, probability, choices, isTaken }] of words.entries()) {
    assert.equal(pass.value("probabilities", [n, id]), probability);
    assert.equal(choices.length, 5);
    assert.equal(choices[0].id, id);
    assert.ok(!isTaken && choices[0].probability > choices[1].probability);
  }
  const all = choices(pass, { t: 0 });
  assert.equal(all.length, machine.words.target.length);
  assert.ok(Math.abs(all.reduce((sum, { probability }) => sum + probability, 0) - 1) < 1e-12);
});

test("of passes that go on with each other the last one is kept", () => {
  const machine = new Machine(program);
  const { pass } = translate(machine, { source: [3, 17, 4] });
  assert.ok(machine.passes.length === 1 && machine.passes[0] === pass);
  const other = machine.read({ source: [3, 17, 4], target: [1, 5] });
  assert.ok(machine.read({ source: [3, 17, 4], target: pass.target }) === pass);
  assert.deepEqual(
    machine.passes.map(({ target }) => target),
    [pass.target, other.target],
  );
  machine.read({ source: [3, 17, 4], target: [2, 5, 6] });
  assert.equal(machine.passes.length, 3);
});

test("another word is taken, and the translation goes on from there", () => {
  const machine = new Machine(program);
  const source = idsOf(machine, ["Tom", "chases", "Jerry"]);
  const spike = machine.words.target.indexOf("斯派克");
  const { words, pass } = translate(machine, { source, taken: { 0: spike } });
  assert.deepEqual([words[0].word, words[0].isTaken, words[1].isTaken], ["斯派克", true, false]);
  assert.equal(pass.target[1], spike);
  assert.equal(translate(machine, { source, most: 2 }).words.length, 2);
  assert.equal(translate(machine, { source, taken: { 1: machine.end } }).words.length, 2);
  assert.throws(() => translate(machine, { source, taken: { 0: 99 } }), Problem);
  // Without an end the model's longest sentence is the end.
  const again = Object.fromEntries(Array.from({ length: 99 }, (_, n) => [n, spike]));
  const long = translate(machine, { source, taken: again });
  assert.deepEqual([long.words.length, long.hasEnded], [machine.longest, false]);
});

test("a temperature changes the probabilities, not their order", () => {
  const machine = new Machine(program);
  const pass = machine.read({ source: [3, 17, 4] });
  const [cold, warm, hot] = [0.5, 1, 1e6].map((temperature) => choices(pass, { temperature }));
  const idsIn = (all) => all.map(({ id }) => id);
  assert.deepEqual(idsIn(cold), idsIn(warm));
  assert.deepEqual(idsIn(hot), idsIn(warm));
  assert.ok(cold[0].probability > warm[0].probability && warm[0].probability > hot[0].probability);
  assert.ok(Math.abs(hot[0].probability - 1 / hot.length) < 1e-4);
  const [a, b] = warm;
  const ratio = Math.log(cold[0].probability / cold[1].probability) / Math.log(a.probability / b.probability);
  assert.ok(Math.abs(ratio - 2) < 1e-9);
  for (const temperature of [0, -1, Infinity, NaN, "warm"]) {
    assert.throws(() => choices(pass, { temperature }), {
      message: `the temperature must be a number above 0, got ${temperature}`,
    });
  }
});

test("a sentence is made of known words", () => {
  const machine = new Machine(program);
  assert.deepEqual(wordsIn(" Tom chases,the  cat.\nBut "), ["Tom", "chases", "the", "cat", "But"]);
  assert.deepEqual(wordsIn(" ., "), []);
  assert.deepEqual(idsOf(machine, ["tom", "CHASES", "The"]), idsOf(machine, ["Tom", "chases", "the"]));
  assert.deepEqual(idsOf(machine, ["汤姆"], "target"), [3]);
  assert.ok(!knownWords(machine).includes("<pad>") && knownWords(machine).includes("Tom"));
  assert.deepEqual(fitting(machine, "s"), ["Spike", "small", "sees", "street"]);
  const near = { chasse: "chases", hose: "house mouse", xat: "cat but", mous3: "mouse house", stret: "street" };
  for (const [typed, words] of Object.entries(near)) assert.equal(fitting(machine, typed).join(" "), words);
  assert.deepEqual(fitting(machine, "smoll"), ["small"]);
  assert.deepEqual(fitting(machine, "cclever"), ["clever"]);
  assert.deepEqual(fitting(machine, "elephants"), []);
  assert.deepEqual(fitting(machine, "", "source", 2), ["Tom", "Jerry"]);
  const refused = {
    "the model does not know the word Jery; it knows Jerry": ["Tom", "chases", "Jery"],
    "the model does not know the word elephants": ["elephants"],
    "the model does not know the word <pad>": ["<pad>"],
    "a sentence must have a word": [],
    "a sentence may have up to 64 words; this one has 65": Array(65).fill("Tom"),
  };
  for (const [message, words] of Object.entries(refused)) assert.throws(() => idsOf(machine, words), { message });
  assert.equal(machine.read({ source: idsOf(machine, Array(64).fill("Tom")) }).length("source"), 64);
});

test("a typed sentence has the ids that Python finds in it", () => {
  const machine = new Machine(program);
  for (const [text, ids] of vectors.translator.sentences) {
    const read = () => idsOf(machine, wordsIn(text));
    if (ids) assert.deepEqual(read(), ids, text);
    else assert.throws(read, Problem, text);
  }
});

test("what an address may ask for and cannot have", () => {
  const machine = new Machine(program);
  const pass = machine.read(sentence);
  const asked = {
    "there is no step called encoder.9": () => workings(pass, "encoder.9", [0, 0]),
    "there is no step called __proto__": () => pass.row("__proto__"),
    "step source has no stage called weights": () => pass.row("source", "weights"),
    "step target has no row 3": () => pass.row("target", "output", 3),
    "step encoder.0.attention has no head 4": () => pass.row("encoder.0.attention", "weights", 0, 4),
    "step source is not an attention": () => pass.data("source"),
    "there is no number source_words[0,32]": () => workings(pass, "source_words", [0, 32]),
    "there is no number source_words[0]": () => workings(pass, "source_words", [0]),
    "there is no number words_out[-1,0]": () => pass.value("words_out", [-1, 0]),
    "there is no number words_out[0.5,0]": () => pass.value("words_out", [0.5, 0]),
    "there is no number encoder.0.attention.weights[0,0,3]": () =>
      workings(pass, "encoder.0.attention", [0, 0, 3], "weights"),
    "a sentence must have a word": () => machine.read({ source: [] }),
    "a sentence may have up to 64 words; this one has 65": () => machine.read({ source: Array(65).fill(3) }),
    "the number of a word must be a whole number below 31, got 31": () => machine.read({ source: [31] }),
    "the number of a word must be a whole number below 32, got 1.5": () => machine.read({ source: [3], target: [1.5] }),
  };
  for (const [message, ask] of Object.entries(asked))
    assert.throws(ask, (error) => error instanceof Problem && error.message === message, message);
});

test("each operation has a formula, a line for each of its numbers, and words for what it does", () => {
  assert.deepEqual(Object.keys(OPERATIONS), Object.keys(DECLARED));
  for (const [operation, { stages, statistics }] of Object.entries(DECLARED)) {
    const { lines, isOfHeads } = OPERATIONS[operation];
    assert.deepEqual(Object.keys(lines).sort(), [...stages, ...statistics].sort(), operation);
    assert.ok(MACHINE_WORDS[`does_${operation}`], operation);
    const buttons = stages.length > 1 && !isOfHeads ? stages : [];
    for (const stage of buttons) assert.ok(MACHINE_WORDS[`array_${stage}`], `${operation}: array_${stage}`);
  }
});

test("Chinese has a phrase for each English one, with the same places", () => {
  const places = (words) => Object.entries(words).map(([key, text]) => [key, text.match(/{\w+}/g)?.sort()]);
  assert.deepEqual(places(MODEL_CHINESE), places(MODEL_WORDS));
});

// A copy of a program with another value at a place such as "steps/source/settings/side".
function changed(place, value, program = vectors.translator.program) {
  const copy = structuredClone(program);
  const path = place.split("/");
  const last = path.pop();
  const part = path.reduce((at, key) => (Array.isArray(at) ? at.find(({ name }) => name === key) : at[key]), copy);
  part[last] = value;
  return copy;
}

const float64 = (shape, numbers) => {
  const bytes = new Uint8Array(new Float64Array(numbers).buffer);
  return { dtype: "float64", shape, data: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) };
};

test("masks that a program may have, and whether rows stay with them", () => {
  const first = { source: [3, 17, 4], target: [1, 3, 17] };
  const longer = { ...first, target: [1, 3, 17, 4] };
  const behind = { kind: "window", before: 1, after: 0 };
  const masks = [
    [behind, true],
    [{ kind: "window", before: null, after: 0 }, true],
    [{ kind: "and", of: [{ kind: "window", before: 2, after: 1 }, { kind: "causal" }] }, true],
    [{ kind: "window", before: 0, after: 1 }, false],
    [{ kind: "window", before: 0 }, false],
    [{ kind: "and", of: [] }, false],
    [null, false],
  ];
  for (const [keep, stays] of masks) {
    const masked = changed("steps/decoder.0.self_attention/settings/keep", keep);
    const machine = new Machine(masked);
    const before = machine.read(first).row("words_out", "output", 2);
    const pass = machine.read(longer);
    assert.equal(pass.row("words_out", "output", 2) === before, stays, JSON.stringify(keep));
    assert.deepEqual(everything(pass), everything(new Machine(masked).read(longer)));
  }
});

test("learned positions are those of a table", () => {
  const rows = Array.from({ length: 64 }, (_, t) => [...sinusoids(32, t)]);
  const learned = changed("steps/source_places/settings", {});
  learned.steps.find(({ name }) => name === "source_places").parameters = { table: "positions" };
  learned.weights.positions = float64([64, 32], rows.flat());
  assert.deepEqual(everything(new Machine(learned).read(sentence)), everything(new Machine(program).read(sentence)));
  learned.weights.positions = float64([63, 32], rows.slice(1).flat());
  assert.throws(() => new Machine(learned), { message: "step source_places must have a row for each position" });
});

test("another activation", () => {
  const place = "steps/encoder.0.feed_forward.activation/operation";
  const pass = new Machine(changed(place, "gelu")).read(sentence);
  const [x, y] = ["widen", "activation"].map((name) => pass.row(`encoder.0.feed_forward.${name}`, "output", 1));
  near(
    [...y],
    [...x].map((number) => number * bell(number)),
    "gelu",
  );
  const n = x.findIndex((number) => number < -0.1);
  const { line, parts } = workings(pass, "encoder.0.feed_forward.activation", [1, n]);
  const [a, b] = [x[n], y[n]].map((number) => written(number));
  assert.equal(lineText(line), `encoder.0.feed_forward.activation[1, ${n}] = (${a}) · Φ(${a}) = ${b}`);
  assert.deepEqual(
    parts().map(({ name, index }) => [name, ...index]),
    [["encoder.0.feed_forward.widen", 1, n]],
  );
});

test("what goes in is counted", () => {
  for (const model of ["translator", "recurrent with attention", "recurrent with one vector"]) {
    const { program } = vectors[model];
    for (const { name, operation, inputs } of program.steps) {
      const refuses = (wrong) => {
        const run = () => new Machine(changed(`steps/${name}/inputs`, wrong, program));
        assert.throws(run, (error) => error instanceof Problem && /inputs?$/.test(error.message), name);
      };
      const [least, most] = DECLARED[operation].takes;
      if (most !== null) refuses([...inputs, "source", "source"].slice(0, most + 1));
      if (least) refuses(inputs.slice(0, least - 1));
    }
  }
});

test("recurrent steps must fit each other", () => {
  const { program, passes } = vectors["recurrent with one vector"];
  const refused = [
    ["step writer must have one row as its start", "steps/writer/inputs", ["writer.input", "reader"]],
    ["step writer must have one row as its start", "steps/writer/inputs", ["writer.input", "last"]],
    ["step context must have one row to repeat", "steps/context/inputs", ["writer", "writer"]],
    ["step beside must have inputs with as many rows each", "steps/beside/inputs", ["writer", "reader"]],
    ["step writer must have a weight weight_hh of the shape 9×3", "steps/writer/parameters/weight_hh", "blend.weight"],
    ["step writer must have a weight bias_hh of the shape 9", "steps/writer/parameters/bias_hh", "blend.weight"],
    ["step reader must have a weight weight_hh of the shape 3×1", "steps/reader/inputs", ["source_words"]],
  ];
  const last = { name: "last", operation: "last_row", inputs: ["reader.input"] };
  for (const [message, place, value] of refused) {
    const wrong = changed(place, value, program);
    wrong.steps.splice(
      wrong.steps.findIndex(({ name }) => name === "writer"),
      0,
      last,
    );
    assert.throws(() => new Machine(wrong), { message });
  }
  const short = new Machine(program).read(passes[0]);
  assert.deepEqual(short.labels("context"), short.labels("target"));
  assert.deepEqual(short.labels("c"), short.labels("source").slice(-1));
  assert.deepEqual(short.shape("c"), [1, 3]);
  const partsOf = (...place) =>
    workings(short, ...place)
      .parts()
      .map(({ name, index }) => `${name}[${index}]`);
  assert.equal(partsOf("reader", [2, 1]).at(-1), "reader[1,1]");
  assert.equal(partsOf("writer", [0, 1]).at(-1), "c[0,1]");
  assert.deepEqual(partsOf("reader", [0, 1]), ["reader.update[0,1]", "reader.candidate[0,1]"]);
  assert.deepEqual(partsOf("reader", [2, 8], "recurrent"), ["reader[1,0]", "reader[1,1]", "reader[1,2]"]);
});

test("a program that cannot be run is refused in one sentence", () => {
  const [query, weight] = ["steps/encoder.0.attention.w_query", "encoder.0.attention.w_query.weight"];
  const norm = "steps/encoder.0.residuals.0.norm";
  const nameless = "each step must have a name of its own, of letters, digits, _ and dots";
  const keep = "step encoder.0.attention must have a mask for sentences of any length as its keep";
  const refused = [
    ["its version must be 1", "version", 2],
    ["it must have 1 to 1000 steps", "steps", []],
    ["it must have 1 to 1000 steps", "steps", "all"],
    ["it must have 1 to 1000 steps", "steps", Array(1001)],
    ["longest must be a whole number from 1 to 512", "longest", 1e9],
    ["words must have a list of different words for the source", "words/source", ["Tom", "Tom"]],
    ["words must have a list of different words for the target", "words/target", [1]],
    ["the mark end must be a word of the target", "marks/end", "Ende"],
    ["the mark start must be a word of the target", "marks", null],
    [nameless, "steps/source_words/name", "source"],
    [nameless, "steps/source_words/name", "<b>"],
    [nameless, "steps", [null]],
    ["step source_words must have a known operation", "steps/source_words/operation", "constructor"],
    ["step source_words must have the stages output", "steps/source_words/stages", ["rows"]],
    ["step source_words must have inputs that are earlier steps", "steps/source_words/inputs", ["words_out"]],
    ["step source_words must have 1 input", "steps/source_words/inputs", []],
    ["step probabilities must have numbers to go in", "steps/probabilities/inputs", ["target"]],
    ["step target_words must have words to go in", "steps/target_words/inputs", ["source_places"]],
    ['step source must have the side "source" or "target"', "steps/source/settings/side", "left"],
    ["step source_words must have a number as its times", "steps/source_words/settings/times", "a"],
    ["step source_words must have a weight weight of the shape 31×any", "steps/source_words/parameters", { weight }],
    ["step source_places must have a weight table of the shape any×32", "steps/source_places/settings", {}],
    ["step encoder.0.attention.w_query must have a weight weight of the shape any×32", `${query}/parameters`, null],
    ["step encoder.0.attention.w_query must have a weight bias of the shape 32", `${query}/parameters/bias`, weight],
    [
      "step encoder.0.attention must have q, k and v that fit its heads and each other",
      "steps/encoder.0.attention/settings/num_heads",
      5,
    ],
    ["step encoder.0.attention must have a number as its scale", "steps/encoder.0.attention/settings/scale", null],
    [keep, "steps/encoder.0.attention/settings/keep", { kind: "dense", bits: "", shape: [1, 1, 1, 1] }],
    [keep, "steps/encoder.0.attention/settings/keep", { kind: "and", of: 5 }],
    [keep, "steps/encoder.0.attention/settings/keep", { kind: "window", before: "all" }],
    [
      "step decoder.0.residuals.0.sum must have two inputs of one shape",
      "steps/decoder.0.residuals.0.sum/inputs",
      ["target_places", "source_places"],
    ],
    ["step encoder.0.residuals.0.norm must have a number of at least 0 as its eps", `${norm}/settings`, {}],
    ["step encoder.0.residuals.0.norm must have a number of at least 0 as its eps", `${norm}/settings/eps`, -1],
    ["step encoder.0.residuals.0.norm must have no settings but eps, got off", `${norm}/settings/off`, true],
    ["step encoder.0.residuals.0.norm must have no parameter table", `${norm}/parameters/table`, weight],
    ["step source_places must have table or sinusoids as its kind", "steps/source_places/settings/kind", "learned"],
    [
      "step source_places must have no table where its kind is sinusoids",
      "steps/source_places/parameters",
      { table: weight },
    ],
    [
      "step decoder.0.residuals.0.sum must have no settings, got times",
      "steps/decoder.0.residuals.0.sum/settings",
      { times: 2 },
    ],
    [
      "step encoder.0.attention must have a whole number of at least 1 as its num_heads",
      "steps/encoder.0.attention/settings/num_heads",
      0,
    ],
    ["step encoder.0.attention.w_query must have true or false as its transposed", `${query}/settings/transposed`, 1],
    [`${weight} must be a float array with 2 axes`, `weights/${weight}`, { dtype: "int8", shape: [32, 32], data: "" }],
    [`${weight} must be a float array with 2 axes`, `weights/${weight}`, null],
    [`${weight} must hold the numbers of its shape 33×32`, `weights/${weight}/shape`, [33, 32]],
    [`${weight} must be written in base64`, `weights/${weight}/data`, "*"],
    [
      "step encoder.0.attention.w_query must have numbers that fit float64",
      `weights/${weight}`,
      float64([32, 32], Array(1024).fill(1e308, 0, 32).fill(0, 32)),
    ],
  ];
  for (const [message, place, value] of refused) {
    const run = () => everything(new Machine(changed(place, value)).read(sentence));
    assert.throws(run, (error) => error instanceof Problem && error.message === message, message);
  }
  for (const nothing of [null, undefined, 1, "program", []]) assert.throws(() => new Machine(nothing), Problem);
  const without = new Machine({ ...program, steps: program.steps.slice(0, -1) });
  assert.throws(() => translate(without, sentence), {
    message: "its last step must be a softmax over the words of the target",
  });
});

test("the longest program is not too deep", () => {
  const deep = structuredClone(program);
  for (let n = 0; deep.steps.length < 1000; n++) {
    deep.steps.push({ name: `on.${n}`, operation: "relu", inputs: [deep.steps.at(-1).name] });
  }
  assert.equal(new Machine(deep).read(sentence).row(deep.steps.at(-1).name, "output", 2).length, 32);
});
