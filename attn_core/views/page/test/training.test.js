// The page's training gives what attn_core gives: training-vectors.json is written by generate/training_vectors.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Attention } from "../core/attention.js";
import { Dice, randomWords } from "../core/dice.js";
import { fixed } from "../core/digits.js";
import { Problem } from "../core/problem.js";
import { backward } from "../core/training/backward.js";
import { Film } from "../core/training/film.js";
import { forward } from "../core/training/forward.js";
import { dataOf } from "../core/training/head.js";
import { Kept } from "../core/training/kept.js";
import { backLines, digits, hundredths, updateLines } from "../core/training/lines.js";
import { crossEntropy } from "../core/training/loss.js";
import { sharesOf } from "../core/training/measures.js";
import { initialWeights, parametersOf } from "../core/training/model.js";
import { OPTIMISERS, updateOf } from "../core/training/optimisers.js";
import { Past } from "../core/training/past.js";
import { Session } from "../core/training/session.js";
import {
  exampleOf,
  isFirst,
  isRepeat,
  possibleLoss,
  REPEATED_SEGMENTS,
  textOf,
  tokensOf,
} from "../core/training/task.js";
import { Training } from "../core/training/training.js";
import { TRAINING_CHINESE, TRAINING_WORDS } from "../words/training.js";
import { TRAINING_VIEW_WORDS } from "../words/training_view.js";
import { TRAINING_VIEW_CHINESE } from "../words/training_view_zh.js";
import { addWords } from "../words/words.js";

addWords(TRAINING_WORDS);
const vectors = JSON.parse(readFileSync(new URL("training-vectors.json", import.meta.url), "utf8"));
const EACH = 41;
const sampled = (numbers) => [...numbers].filter((_, n) => n % EACH === 0);

function near(actual, wanted, what, room = 1e-10) {
  assert.equal(actual.length, wanted.length, what);
  for (const [n, y] of wanted.entries()) {
    assert.ok(Math.abs(actual[n] - y) <= room, `${what}[${n}]: ${actual[n]}, not ${y}`);
  }
}

for (const [name, wanted] of Object.entries(vectors)) {
  test(`it learns as in Python: ${name}`, () => {
    const training = new Training(wanted.asked);
    const { task, seed } = training.settings;
    const texts = [0, 1, 2].map((number) => textOf(task, seed, number));
    assert.deepEqual([...texts, exampleOf(task, seed)], wanted.texts);
    assert.deepEqual(
      training.parameters.map(({ name, shape }) => [name, shape]),
      Object.entries(wanted.parameters),
    );
    near(sampled(training.state.weights), wanted.first, "first", 1e-13);
    for (const { losses, shares } of wanted.steps) {
      const entry = training.step();
      near([entry.loss, entry.first, entry.repeats], losses, `losses of step ${entry.step}`);
      near(
        entry.shares.flatMap((layer) => Object.values(layer)),
        shares.flat(),
        `shares of step ${entry.step}`,
      );
    }
    for (const [layer, map] of training.maps().entries()) near(map, wanted.maps[layer], `map ${layer}`);
    near(sampled(training.last.gradient), wanted.gradients, "gradients");
    near(sampled(training.state.weights), wanted.weights, "weights");
    for (const [weight, parts] of Object.entries(wanted.updates)) {
      const update = training.update(weight, 1, 2);
      assert.deepEqual(new Set(Object.keys(update)), new Set(Object.keys(parts)));
      for (const [part, number] of Object.entries(parts)) near([update[part]], [number], `${weight} ${part}`);
    }
  });
}

test("a gradient is the slope of the loss", () => {
  const shape = { vocabulary: 5, places: 4, width: 6, layers: 2, isMasked: true };
  const weights = initialWeights(shape, 3);
  const [ids, targets] = [Int32Array.of(0, 1, 2, 0, 4, 4, 3, 2), Int32Array.of(1, 2, 0, 1, 4, 3, 2, 1)];
  const lossOf = () => crossEntropy(forward(shape, weights, ids, 4).logits, targets).mean;
  const pass = forward(shape, weights, ids, 4);
  const { numbers } = backward(shape, weights, ids, 4, pass, crossEntropy(pass.logits, targets).gradient);
  for (let n = 0; n < weights.length; n += 7) {
    const [was, e] = [weights[n], 1e-5];
    weights[n] = was + e;
    const above = lossOf();
    weights[n] = was - e;
    const below = lossOf();
    weights[n] = was;
    assert.ok(Math.abs((above - below) / (2 * e) - numbers[n]) < 1e-9, `weight ${n}`);
  }
});

test("what a hidden cell gets is 0, and each row of dS adds up to 0", () => {
  const training = new Training();
  const { gradients } = training.passOf(training.batch(1));
  const { length } = training.example;
  for (const { scaled } of gradients.layers) {
    for (let row = 0; row < scaled.length / length; row++) {
      const numbers = scaled.subarray(row * length, (row + 1) * length);
      assert.ok(Math.abs(numbers.reduce((a, b) => a + b)) < 1e-15);
      assert.ok(numbers.subarray((row % length) + 1).every((number) => number === 0));
      // A place that sees only itself teaches its query nothing.
      if (row % length === 0) assert.equal(numbers[0], 0);
    }
  }
});

test("two words in small fractions", () => {
  // q = (ln 3, 0), k = (0, 1), v = (0, 4): P = ¼, ¾ and ½, ½; the targets ask for dO = (2, −2).
  const [P, dO, v] = [
    [0.25, 0.75, 0.5, 0.5],
    [2, -2],
    [0, 4],
  ];
  const training = new Training({
    layers: 1,
    width: 1,
    isMasked: false,
    task: { letters: 2, longest: 2, shortest: 1 },
  });
  const shape = { ...training.shape, places: 2 };
  const numbers = new Float64Array(parametersOf(shape).at(-1).end);
  const [, , , , , out] = parametersOf(shape);
  numbers[out.start] = 1;
  const unembedding = parametersOf(shape).at(-1);
  numbers[unembedding.start] = 1;
  const layer = {
    q: Float64Array.of(Math.log(3), 0),
    k: Float64Array.of(0, 1),
    v: Float64Array.from(v),
    weights: Float64Array.from(P),
    mixed: Float64Array.of(3, 2),
  };
  const pass = { streams: [new Float64Array(2), new Float64Array(2)], layers: [layer], logits: new Float64Array(4) };
  const ofLogits = Float64Array.of(dO[0], 0, dO[1], 0);
  const { layers } = backward(shape, numbers, Int32Array.of(0, 1), 2, pass, ofLogits);
  assert.deepEqual([...layers[0].mixed], dO);
  assert.deepEqual([...layers[0].weights], [0, 8, 0, -8]);
  assert.deepEqual([...layers[0].scaled], [-1.5, 1.5, 2, -2]);
  assert.deepEqual([...layers[0].q], [1.5, -2]);
  assert.deepEqual([...layers[0].v], [-0.5, 0.5]);
  near(layers[0].k, [-1.5 * Math.log(3), 1.5 * Math.log(3)], "dK", 1e-15);
});

test("three steps of AdamW by hand", () => {
  const adamw = { ...OPTIMISERS.adamw, lr: 0.1, weightDecay: 0.1, beta2: 0.999 };
  let [weight, moments] = [2, { step: 0, m: 0, v: 0 }];
  const weights = [0.5, -0.5, 0.5].map((gradient) => {
    const update = updateOf(adamw, weight, gradient, moments);
    weight = update.after;
    moments = { step: moments.step + 1, m: update.m, v: update.v };
    return weight.toFixed(3);
  });
  assert.deepEqual(weights, ["1.880", "1.866", "1.814"]);
  const first = [0.001, 1000].map((gradient) => updateOf(adamw, 2, gradient, { step: 0, m: 0, v: 0 }).moved);
  near(first, [0.1, 0.1], "the first step is lr for any gradient", 1e-5);
});

test("a text repeats its segment, and says what can be known", () => {
  for (let number = 0; number < 200; number++) {
    const { ids, segment } = textOf(REPEATED_SEGMENTS, 5, number);
    assert.ok(segment >= 3 && segment <= 6 && ids.length === 13);
    assert.equal(new Set(ids.slice(0, segment)).size, segment);
    assert.ok(ids.every((id, i) => id >= 0 && id < 8 && id === ids[i % segment]));
  }
  const batch = { segments: [3], length: 7, start: 1 };
  const places = [...Array(7).keys()];
  assert.deepEqual(
    places.filter((t) => isFirst(batch, 0, t)),
    [1, 2],
  );
  assert.deepEqual(
    places.filter((t) => isRepeat(batch, 0, t)),
    [4, 5, 6],
  );
});

test("dice are counted", () => {
  assert.deepEqual([...randomWords(0, 0, 3)], [1713891541, 3781805453, 3159862348]);
  const dice = new Dice(randomWords(0, 0, 256));
  assert.deepEqual(
    Array.from({ length: 8 }, () => dice.below(6)),
    [2, 5, 4, 3, 5, 2, 4, 0],
  );
  assert.deepEqual(dice.pick([..."abcdefgh"], 3), ["a", "d", "b"]);
});

test("going back is exact, with the optimiser of that step", () => {
  const training = new Training();
  for (let n = 0; n < 13; n++) training.step();
  const [then, update] = [training.state.weights, training.update("positions", 0, 0)];
  training.change({ kind: "sgd", lr: 0.2 });
  for (let n = 0; n < 12; n++) training.step();
  const after = training.state.weights;
  assert.deepEqual([...training.film.items.keys()], [0, 10, 20]);
  training.rewind(17);
  assert.equal(training.optimiser.kind, "sgd");
  for (let n = 0; n < 8; n++) training.step();
  assert.deepEqual(training.state.weights, after);
  training.rewind(13);
  assert.equal(training.optimiser.kind, "sgd");
  assert.deepEqual(training.update("positions", 0, 0), update);
  training.rewind(12);
  assert.equal(training.optimiser.kind, "adamw");
  training.step();
  assert.deepEqual(training.state.weights, then);
  assert.deepEqual([training.count, training.history.length, [...training.film.items.keys()]], [13, 13, [0, 10]]);
  training.rewind(0);
  assert.deepEqual(training.state.weights, initialWeights(training.shape, 1));
  assert.throws(() => training.update("positions", 0, 0), /no step has been taken yet/);
});

test("an overflow is said, changes nothing, and one can go back", () => {
  const training = new Training();
  for (let n = 0; n < 3; n++) training.step();
  training.change({ kind: "sgd", lr: 1e300 });
  assert.throws(() => {
    for (let n = 0; n < 9; n++) training.step();
  }, new Problem(
    "training overflowed at step 5 with the learning rate 1e+300: go back to an earlier step and choose a smaller learning rate",
  ));
  assert.equal(training.count, 4);
  assert.ok(training.state.weights.every(Number.isFinite));
  training.rewind(2);
  assert.equal(training.step().step, 3);
});

test("a film of 600 steps takes less than 20 MB, a longer one thins out", () => {
  const film = new Film(1, 2, 144);
  for (let step = 0; step <= 600; step++) film.look(step, () => [new Float64Array(144), new Float64Array(144)]);
  assert.equal(film.items.size, 601);
  assert.ok(film.bytes < 1e6);
  const large = new Film(1, 4, 65 * 65);
  assert.ok(large.most * large.frameBytes <= 20e6);
  const kept = new Kept(1, 4);
  for (let step = 0; step < 10; step++) if (kept.isDue(step)) kept.add(step, step);
  assert.deepEqual([[...kept.items.keys()], kept.every, kept.before(7)], [[0, 4, 8], 4, 4]);
  kept.dropAfter(4);
  assert.deepEqual([...kept.items.keys()], [0, 4]);
  assert.equal(new Kept(1, 4).before(3), null);
});

test("an even map looks evenly", () => {
  const batch = { segments: [6], length: 12, start: 0 };
  const shares = sharesOf(new Float64Array(144).fill(1 / 12), batch);
  near([shares.previous, shares.copied], [1 / 12, 7 / 72], "shares", 1e-15);
  assert.deepEqual([shares.startAtFirst, shares.startAtRepeats], [0, 0]);
});

for (const [asked, said] of [
  [{ rate: 1 }, "there is no setting called rate"],
  [{ seed: -1 }, "seed must be a whole number from 0 to 9007199254740991, got -1"],
  [{ layers: 1.5 }, "layers must be a whole number from 1 to 4, got 1.5"],
  [{ isMasked: 1 }, "isMasked must be true or false, got 1"],
  [
    { task: { longest: 9 } },
    "the longest segment must have at least the 3 letters of the shortest one, and at most 8, got 9",
  ],
  [{ optimiser: { kind: "lion" } }, "the optimiser must be sgd or adamw, got lion"],
  [{ optimiser: { lr: Infinity } }, "lr must be a finite number of at least 0, got Infinity"],
  [{ optimiser: { beta1: 1 } }, "beta1 must be at least 0 and below 1, got 1"],
  [{ optimiser: { kind: "sgd", beta1: 0.5 } }, "there is no setting called beta1"],
]) {
  test(`what cannot be: ${said}`, () => assert.throws(() => new Training(asked), new Problem(said)));
}

test("what is not there", () => {
  const training = new Training();
  training.step();
  assert.throws(() => training.update("positions", 12, 0), new Problem("there is no weight positions[12, 0]"));
  assert.throws(() => training.update("bias", 0, 0), new Problem("there is no weight bias[0, 0]"));
  assert.throws(() => training.rewind(2), new Problem("the step to go back to must be from 0 to 1, got 2"));
});

/** A session, and what it told; each look at the clock takes as long as a slice. */
function sessionOf(onPause = () => {}) {
  const told = [];
  let time = 0;
  const session = new Session({
    tell: (news) => told.push(news),
    now: () => {
      time += 20;
      return time;
    },
    pause: async () => onPause(session),
  });
  return { session, told };
}

test("a session begins, steps, runs in slices and goes back", async () => {
  const { session, told } = sessionOf();
  assert.throws(() => session.step({}), new Problem("no training has begun"));
  const begun = session.init({ every: 2 });
  assert.deepEqual([begun.weights, begun.vocabulary, begun.count, begun.entries.length], [2496, 8, 0, 0]);
  assert.deepEqual(
    begun.frames.map(([step]) => step),
    [0],
  );
  assert.equal(begun.example.ids.length, 12);
  const stepped = session.step({ steps: 3 });
  assert.deepEqual(
    stepped.entries.map(({ step }) => step),
    [1, 2, 3],
  );
  assert.deepEqual(
    stepped.frames.map(([step]) => step),
    [2],
  );
  assert.deepEqual(await session.run({ until: 8 }), { count: 8, isDone: true });
  assert.deepEqual(
    told.flatMap(({ entries }) => entries.map(({ step }) => step)),
    [4, 5, 6, 7, 8],
  );
  assert.ok(told.length > 1);
  assert.deepEqual(
    told.flatMap(({ frames }) => frames.map(([step]) => step)),
    [4, 6, 8],
  );
  const back = session.rewind({ step: 5 });
  assert.deepEqual([back.count, back.entries.length, back.optimiser.kind], [5, 0, "adamw"]);
  assert.deepEqual(
    session.step({}).entries.map(({ step }) => step),
    [6],
  );
  const { pass, gradients, gradient } = session.numbers();
  assert.deepEqual([pass.layers.length, gradients.numbers.length, gradient.length], [2, 2496, 2496]);
  const { value, step, made } = session.weight({ name: "positions", row: 0, column: 0 });
  assert.deepEqual([value, step, made.moments.step], [made.update.after, 6, 5]);
});

/** News of steps as a session tells them, each step's loss its number; frames of every second step. */
const newsOf = (from, to, every = 2) => ({
  count: to,
  every,
  entries: Array.from({ length: to - from }, (_, n) => ({ step: from + n + 1, loss: from + n + 1 })),
  frames: Array.from({ length: to - from }, (_, n) => [from + n + 1, []]).filter(([step]) => step % every === 0),
});

test("a page knows later steps as long as the same ones would come again", () => {
  const past = new Past();
  past.take({ ...newsOf(0, 8), frames: [[0, []], ...newsOf(0, 8).frames] });
  assert.deepEqual([past.count, past.furthest, past.strip(9), past.last.loss], [8, 8, [0, 2, 4, 6, 8], 8]);
  past.rewind(newsOf(3, 3));
  assert.deepEqual([past.count, past.furthest, past.strip(9), past.last.loss], [3, 8, [0, 2, 4, 6, 8], 3]);
  past.take(newsOf(3, 5));
  past.change(5);
  assert.deepEqual([past.furthest, past.strip(9)], [5, [0, 2, 4]], "what came with other settings is gone");
  past.take(newsOf(5, 9));
  past.rewind(newsOf(4, 4));
  assert.deepEqual([past.furthest, past.changes], [5, []], "behind the change other steps would come");
});

test("a strip has a few frames, evenly spaced, and a curve a few points", () => {
  const past = new Past();
  past.take(newsOf(0, 100));
  assert.deepEqual(past.strip(4), [32, 64, 96]);
  assert.deepEqual(past.curve("loss", 3), [
    [17.5, 17.5],
    [51.5, 51.5],
    [84.5, 84.5],
  ]);
  past.take(newsOf(100, 104, 8));
  assert.ok(past.strip(100).every((step) => step % 8 === 0));
  assert.deepEqual(new Past().curve("loss", 5), []);
});

test("a weight opens down to its gradient and what AdamW remembered", () => {
  const training = new Training();
  const place = ["layers.1.attention.w_query.weight", 3, 5];
  assert.equal(training.weight(...place).made, null);
  for (let n = 0; n < 3; n++) training.step();
  const { value, made } = training.weight(...place);
  const lines = Object.fromEntries(updateLines(made).map(({ key, value, text }) => [key, { value, text }]));
  const of = (key) => lines[`line_${key}`].value;
  const [g, { m, v }] = [of("gradient"), made.moments];
  assert.deepEqual(
    [of("m"), of("v"), of("mHat"), of("vHat")],
    [0.9 * m + (1 - 0.9) * g, 0.999 * v + (1 - 0.999) * g * g, of("m") / (1 - 0.9 ** 3), of("v") / (1 - 0.999 ** 3)],
  );
  assert.equal(of("after"), of("before") - of("decayed") - of("moved"));
  assert.equal(value, of("after"));
  assert.match(lines.line_mHat.text, /^m̂ = m \/ \(1 − 0\.9\^3\) = \S+ \/ 0\.271 = /);
  training.change({ kind: "sgd", lr: 0.5 });
  training.step();
  const plain = updateLines(training.weight(...place).made);
  assert.deepEqual(
    plain.map(({ key }) => key),
    ["line_before", "line_gradient", "line_decayed", "line_moved", "line_after"],
  );
  assert.equal(plain[3].value, 0.5 * plain[1].value);
});

test("what comes back to a score opens, and is 0 behind the mask", () => {
  const training = new Training();
  const { pass, gradients } = training.passOf(training.example);
  const at = (place) => backLines(pass.layers[1], gradients.layers[1], 12, place);
  const [dP, r, dS] = at([7, 2]).map(({ value }) => value);
  near([dS], [pass.layers[1].weights[7 * 12 + 2] * (dP - r)], "dS", 1e-15);
  assert.ok(dS !== 0);
  assert.equal(at([2, 7])[2].value, 0);
  assert.match(at([7, 2])[2].text, /^dS\[7, 2\] = P · \(dP − r\) = /);
});

test("digits are five, wherever the point is", () => {
  assert.deepEqual([0, 1, -0.25, 123.456789, 0.00123456789, 1.23456e-7, 1e-8, -4e9, Infinity, NaN].map(digits), [
    "0",
    "1",
    "-0.25",
    "123.46",
    "0.0012346",
    "1.2346e-07",
    "1e-08",
    "-4e+09",
    "inf",
    "nan",
  ]);
});

test("a small loss is 0.00, and a large one has its exponent", () => {
  assert.deepEqual([0.0049, 2.345, 1e9, NaN].map(hundredths), ["0.00", "2.35", fixed(1e9, 2), "nan"]);
});

test("what is possible, and the tokens of ids", () => {
  const { log } = Math;
  near([possibleLoss({ letters: 8, shortest: 3, longest: 3 })], [(log(7) + log(6)) / 2], "possible", 1e-15);
  assert.equal(possibleLoss(REPEATED_SEGMENTS).toFixed(2), "1.69");
  assert.equal(possibleLoss({ letters: 8, shortest: 1, longest: 1 }), 0);
  assert.deepEqual(tokensOf(REPEATED_SEGMENTS, [8, 0, 7]), ["BOS", "A", "H"]);
});

test("a layer is an explorer's data, with the same weights", () => {
  const training = new Training();
  const { pass } = training.passOf(training.example);
  const tokens = tokensOf(training.settings.task, training.example.ids);
  const data = dataOf(pass.layers[0], tokens, training.shape, {});
  const attention = new Attention(data, { batch: 0, head: 0, scale: data.scale, mask: "given" });
  near(attention.row("weights", 5), [...pass.layers[0].weights.subarray(60, 72)], "weights", 1e-15);
  const open = dataOf(pass.layers[0], tokens, { ...training.shape, isMasked: false }, {});
  assert.equal(open.keepJson, null);
});

test("a run ends with a pause, and goes on with another learning rate", async () => {
  const paused = sessionOf((session) => session.pause());
  paused.session.init({});
  const { count, isDone } = await paused.session.run({ until: 100 });
  assert.ok(count < 100 && !isDone);
  const changed = sessionOf((session) => session.change({ optimiser: { lr: 0.02 } }));
  changed.session.init({});
  assert.deepEqual(await changed.session.run({ until: 6 }), { count: 6, isDone: true });
  assert.equal(changed.session.training.optimiser.lr, 0.02);
});

test("a run that overflows tells first what was done", async () => {
  const { session, told } = sessionOf();
  session.init({});
  session.step({ steps: 2 });
  session.change({ optimiser: { kind: "sgd", lr: 1e280 } });
  await assert.rejects(session.run({ until: 100 }), /training overflowed at step [34]/);
  assert.equal(told.at(-1).count, session.training.count);
  assert.equal(session.rewind({ step: 1 }).count, 1);
});

test("a worker answers what it is asked, in the language of the page", async () => {
  const sent = [];
  globalThis.postMessage = (message) => sent.push(message);
  await import("../features/training_worker.js");
  const ask = (id, what, asked) => globalThis.onmessage({ data: { id, what, asked } });
  await ask(1, "init", { seed: 2 });
  await ask(2, "step");
  await ask(3, "weight", { name: "bias", row: 0, column: 0 });
  await ask(4, "advance", {});
  ask(5, "speak", { isChinese: true });
  await ask(6, "rewind", { step: 2 });
  assert.deepEqual([sent[0].answer.settings.seed, sent[1].answer.count], [2, 1]);
  assert.deepEqual(sent.slice(2), [
    { id: 3, problem: "there is no weight bias[0, 0]" },
    { id: 4, problem: "the script that trains the model has stopped" },
    { id: 6, problem: "可以回到第 0 到 1 步，得到的是 2" },
  ]);
});

test("both languages fill the same places", () => {
  const places = (words) => Object.fromEntries(Object.entries(words).map(([k, v]) => [k, v.match(/\{\w+\}/g)?.sort()]));
  assert.deepEqual(places(TRAINING_CHINESE), places(TRAINING_WORDS));
  assert.deepEqual(places(TRAINING_VIEW_CHINESE), places(TRAINING_VIEW_WORDS));
});
