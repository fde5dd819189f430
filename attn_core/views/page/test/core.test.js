// The core gives what attn_core gives: vectors.json is written by generate/page_vectors.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bytesOf85, decode, half } from "../core/arrays.js";
import { Attention } from "../core/attention.js";
import { firstDifference, rowsDiffer } from "../core/compare.js";
import { Data } from "../core/data.js";
import { Answers } from "../core/diagnosis/answers.js";
import { read } from "../core/diagnosis/pasted.js";
import { fixed, plain, written } from "../core/digits.js";
import { EditedData } from "../core/editing.js";
import { edited, names } from "../core/edits.js";
import { MISTAKES } from "../core/mistakes.js";
import { numberIn } from "../core/numbers.js";
import { philox, survivors } from "../core/philox.js";
import { pooled } from "../core/pooling.js";
import { accepted, changes, flag, settingsOf } from "../core/state.js";
import { visible } from "../core/visible.js";
import { weightRows } from "../core/weight_rows.js";
import { Workings } from "../core/workings.js";
import { BOX_WORDS, tell } from "../words/box.js";
import { BOX_CHINESE } from "../words/box_zh.js";
import { LAB_WORDS } from "../words/lab.js";
import { addWords } from "../words/words.js";

addWords(LAB_WORDS);
const vectors = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));
const given = { batch: 0, head: 0, mask: "given" };
const attentionOf = (data, settings, formulas) =>
  new Attention(data, { ...given, scale: data.scale, ...settings }, formulas);

// Rows of cells, −∞ standing as null.
function near(actual, wanted, what, room = 1e-12) {
  assert.equal(actual.length, wanted.length, what);
  for (const [i, row] of wanted.entries()) {
    assert.equal(actual[i].length, row.length, what);
    for (const [j, cell] of row.entries()) {
      const [x, y] = [actual[i][j], cell ?? -Infinity];
      const isNear = x === y || Math.abs(x - y) <= room * Math.max(1, Math.abs(y));
      assert.ok(isNear, `${what}[${i}, ${j}]: ${x}, not ${y}`);
    }
  }
}

const rowsOf = (attention, stage) => Array.from({ length: attention.data.L }, (_, i) => attention.row(stage, i));

// Records in whose weights more has a part than queries, keys, a scale and masks.
const NOT_PLAIN = /bias|softcap|sink/;

for (const [name, { payload, cells, lines }] of Object.entries(vectors.records)) {
  test(`every stage: ${name}`, () => {
    const data = new Data(payload);
    for (const [place, stages] of Object.entries(cells)) {
      const [batch, head] = place.split(",").map(Number);
      const attention = attentionOf(data, { batch, head });
      attention.check();
      for (const [stage, wanted] of Object.entries(stages)) near(rowsOf(attention, stage), wanted, `${stage} ${place}`);
      for (const step of [1, 2]) {
        const alone = weightRows(attentionOf(data, { batch, head }), step);
        assert.equal(alone === null, NOT_PLAIN.test(name), name);
        if (alone)
          assert.deepEqual(
            [...alone],
            rowsOf(attention, "weights").flatMap((row, i) => (i % step ? [] : [...row])),
          );
      }
    }
  });

  test(`arithmetic, line by line: ${name}`, () => {
    const data = new Data(payload);
    const linesOf = (term, depth = 0) => [
      "  ".repeat(depth) + term.line.map(([text]) => text).join(""),
      ...(term.parts?.() ?? []).flatMap((part) => linesOf(part, depth + 1)),
    ];
    for (const { place, text } of lines) {
      const [stage, i, j, batch, head] = place;
      const workings = new Workings(attentionOf(data, { batch, head }), i);
      assert.equal(linesOf(workings[stage](j)).join("\n"), text);
    }
  });
}

test("digits", () => {
  const rules = { fixed, plain, written };
  for (const { rule, x, more, text } of vectors.digits)
    assert.equal(rules[rule](x, more), text, `${rule} ${x} ${more}`);
});

test("tokens as labels", () => {
  for (const { token, label } of vectors.labels) assert.equal(visible(token), label, JSON.stringify(token));
});

test("numbers as people write them", () => {
  const python = { None: NaN, inf: Infinity };
  for (const { text, number } of vectors.typed) assert.equal(numberIn(text), python[number] ?? Number(number), text);
});

test("Philox has the published words", () => {
  const words = (...hex) => hex.map((word) => Number.parseInt(word, 16));
  assert.deepEqual(philox([0, 0, 0, 0], [0, 0]), words("6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"));
  const high = 0xffffffff;
  assert.deepEqual(
    philox([high, high, high, high], [high, high]),
    words("408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"),
  );
  assert.deepEqual(
    philox(words("243f6a88", "85a308d3", "13198a2e", "03707344"), words("a4093822", "299f31d0")),
    words("d16cfe09", "94fdcceb", "5001e420", "24126ea1"),
  );
});

test("which weights survive", () => {
  for (const { p, seed, place, survives } of vectors.dropout) {
    assert.deepEqual([...survivors({ p, seed }, ...place, survives.length)], survives);
  }
});

test("pooling", () => {
  for (const { rows, how, cells } of vectors.pooled) {
    const full = rows.map((row) => row.map((x) => x ?? -Infinity));
    const [height, width] = [cells.length, cells[0].length];
    const blocks = pooled(full, height, width, how);
    const lines = cells.map((_, i) => blocks.slice(i * width, (i + 1) * width));
    near(lines, cells, how);
  }
});

test("mistakes", () => {
  assert.deepEqual(Object.keys(MISTAKES).sort(), Object.keys(vectors.mistakes).sort());
  for (const [name, { record, cells }] of Object.entries(vectors.mistakes)) {
    const data = new Data(vectors.records[record].payload);
    for (const [stage, wanted] of Object.entries(cells)) {
      const rows = [];
      for (let batch = 0; batch < data.B; batch++) {
        rows.push(...rowsOf(attentionOf(data, { batch }, MISTAKES[name]), stage));
      }
      const numbers = rows.map((row) => Array.from(row, (x) => (Number.isNaN(x) ? -9e9 : x)));
      // Its exponentials overflow as float32 does, and are rounded as it is.
      const room = name === "naive-softmax" ? 1e-6 : 1e-12;
      near(numbers, wanted, `${name}: ${stage}`, room);
    }
  }
});

for (const [kind, { payload, text, q, k, v }] of Object.entries(vectors.edits)) {
  test(`a change reaches what follows from it: ${kind}`, () => {
    const data = new Data(payload);
    const changed = edited(data, text);
    for (const [name, wanted] of Object.entries({ q, k, v })) near([changed[name].numbers], [wanted], name);
    assert.equal(changed.queries[1], "a,b");
    assert.equal(firstDifference(attentionOf(data), attentionOf(changed)), "scores");
    assert.equal(firstDifference(attentionOf(data), attentionOf(edited(data, ""))), undefined);
  });
}

test("a number that is not there can't be changed", () => {
  const data = new Data(vectors.edits.projected.payload);
  assert.throws(() => edited(data, "x.0.2.9:1"), { message: "there is no number x[0, 2, 9]" });
});

test("a change leaves the original as it was, and names what it can't change", () => {
  const data = new Data(vectors.records.none.payload);
  const [place, was] = [[0, 0, 0, 0], data.number("q", 0, 0, 0, 0)];
  const changed = EditedData.of(data, [
    ["keys", [1], "</script> \u200f"],
    ["q", place, 9],
  ]);
  assert.deepEqual([data.keys[1], changed.keys[1], changed.queries[1]], ["1", "</script> \u200f", "1"]);
  assert.deepEqual([data.number("q", ...place), changed.number("q", ...place)], [was, 9]);
  assert.deepEqual([data.isSet("q", place), changed.isSet("q", place)], [false, true]);
  for (const [edit, message] of [
    [["q", [0, 0, 9, 0], 1], "there is no number q[0, 0, 9, 0]"],
    [["q", [0, 0], 1], "there is no number q[0, 0]"],
    [["x", [0, 0, 0], 1], "there is no number x[0, 0, 0]"],
    [["q", place, 1e39], "q[0, 0, 0, 0] must be a number that fits float32, got 1e+39"],
    [["q", place, "1"], "q[0, 0, 0, 0] must be a number that fits float32, got 1"],
    [["keys", [6], "a"], "keys has no token 6"],
  ])
    assert.throws(() => EditedData.of(data, [edit]), { message });
});

/** An array of a payload: 0, 1, 2 … in this shape. */
const counted = (...shape) => {
  const numbers = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, n) => n);
  return { dtype: "float64", shape, data: Buffer.from(numbers.buffer).toString("base64") };
};
const GROUPED = { version: 1, scale: 1, q: counted(1, 4, 2, 1), k: counted(1, 2, 3, 1), v: counted(1, 2, 3, 2) };

test("what does not fit q and k is refused in one sentence", () => {
  const sizes = "sizes of 1 or of 1×4×2×3";
  for (const [wrong, message] of [
    [{ k: counted(1, 3, 3, 1), v: counted(1, 3, 3, 2) }, "q, k and v must fit each other"],
    [{ v: counted(1, 4, 3, 2) }, "q, k and v must fit each other"],
    [{ softcap: 0 }, "its softcap must be a number above 0"],
    [{ softcap: "2" }, "its softcap must be a number above 0"],
    [{ sinks: counted(2) }, "it must have a sink for each of the 4 heads"],
    [{ bias: {} }, "bias must have a table, slopes or relative numbers"],
    [{ bias: { table: counted(2, 3) } }, "bias.table must be a float array with 4 axes"],
    [{ bias: { table: counted(1, 2, 2, 3) } }, `bias.table must have ${sizes}, got 1×2×2×3`],
    [{ bias: { slopes: counted(2) } }, "bias.slopes must have a slope for each of the 4 heads, got 2"],
    [{ bias: { relative: counted(4, 2) } }, "bias.relative must have an odd row for each of the 4 heads, got 4×2"],
  ])
    assert.throws(() => new Data({ ...GROUPED, ...wrong }), { message });
});

test("a key that is changed serves every head of its group", () => {
  const data = new Data({ ...GROUPED, v: { ...counted(1, 1, 3, 2), heads: [1] } });
  assert.deepEqual(data.headsWithValues, [2, 3]);
  const changed = edited(data, "k.0.1.2.0:9,v.0.0.0.1:7");
  const scores = [0, 1, 2, 3].map((head) => attentionOf(changed, { head }).cell("scores", 0, 2));
  assert.deepEqual(scores, [0 * 2, 2 * 2, 4 * 9, 6 * 9]);
  assert.deepEqual([...attentionOf(changed, { head: 3 }).values(1)], [7, 3, 5]);
  assert.deepEqual(names(data, "k.0.1.2.0:9,v.0.0.0.1:7"), ["k[1, 2, 0]", "v[1, 0, 1]"]);
  const shared = new Data({ ...GROUPED, k: counted(1, 1, 3, 1), v: counted(1, 1, 3, 2) });
  assert.deepEqual(names(shared, "q.0.1.0.0:5,k.0.0.2.0:9"), ["q[1, 0, 0]", "k[2, 0]"]);
});

test("a bias can make a score overflow", () => {
  const most = Float64Array.of(1e308, 1e308, 1e308, 1e308);
  const slopes = { ...counted(4), data: Buffer.from(most.buffer).toString("base64") };
  const message = "q, k, v, scale and bias must give numbers below 1.8e308, the largest float64";
  assert.throws(() => attentionOf(new Data({ ...GROUPED, bias: { slopes } })).check(), { message });
  attentionOf(new Data({ ...GROUPED, bias: { slopes: counted(4) } })).check();
});

test("a number of q stays set whatever of its source is changed after it", () => {
  const data = new Data(vectors.edits.projected.payload);
  const edits = [
    ["q", [0, 1, 2, 0], 9],
    ["x", [0, 2, 0], 3.5],
  ];
  const [one, other] = [edits, edits.toReversed()].map((each) => EditedData.of(data, each));
  for (const name of ["q", "k", "v"]) assert.deepEqual(one[name].numbers, other[name].numbers, name);
  assert.equal(other.number("q", 0, 1, 2, 0), 9);
});

test("only the scores of changed rows and columns are derived anew", () => {
  const data = new Data(vectors.records.none.payload);
  for (let i = 0; i < data.L; i++) data.scores(0, 0, i).fill(99);
  const changed = EditedData.of(data, [
    ["q", [0, 0, 2, 1], 5],
    ["k", [0, 0, 4, 0], 5],
  ]);
  for (let i = 0; i < data.L; i++) {
    const isKept = Array.from(changed.scores(0, 0, i), (x) => x === 99);
    assert.deepEqual(
      isKept,
      [0, 1, 2, 3, 4].map((j) => i !== 2 && j !== 4),
    );
  }
});

test("cells that differ by rounding, measured by the largest of their row, are the same", () => {
  const row = [1, 2, 0, -Infinity, Number.NaN];
  const other = [1 + 1e-6, 2 + 1e-4, 1e-6, -Infinity, Number.NaN];
  assert.deepEqual(rowsDiffer(row, other), [false, true, false, false, false]);
});

const PASTED = {
  "[[1.5, 2], [-0.25, -inf]]": [
    "Array([[ 1.5 ,  2.  ],\n       [-0.25,  -inf]], dtype=float32)",
    "w = Array([[1.5, 2.], [-0.25, -inf]], dtype=float32, weak_type=True)",
    "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[ 1.5 ,  2.  ],\n       [-0.25,  -inf]], dtype=float32)>",
    "<tf.Variable 'w:0' shape=(2, 2) dtype=float32, numpy=array([[1.5, 2.], [-0.25, -inf]], dtype=float32)>",
    "tf.Tensor(\n[[ 1.5   2.  ]\n [-0.25  -inf]], shape=(2, 2), dtype=float32)",
    "tensor([[1.5, 2.], [-0.25, -inf]], device='cuda:0', grad_fn=<SoftmaxBackward0>)",
    "weights = [[1.5, 2], [−0.25, −inf]]",
    "[1.5 2; -0.25 -Inf]",
    "A = [1.5, 2;\n     -0.25, -Inf];",
    "A =\n\n    1.5000    2.0000\n   -0.2500      -Inf\n",
    "1.5 2; -0.25 -inf",
    "1.5;2\n-0.25;-inf",
    "1.5\t2\n−0.25\t−∞",
    "[1.5，2；－0.25，-inf]",
    "weights = tensor([[1.5000, 2.0000],\n        [-0.2500,   -inf]], grad_fn=<DivBackward0>)",
    "torch.tensor([[1.5, 2], [-.25, -inf]], dtype=torch.float64, requires_grad=True);",
    "array([[ 1.5 ,  2.  ],\n       [-0.25, -inf]], dtype=float32)",
    "[[ 1.5   2.  ]\n [-0.25  -inf]]",
    "1.5, 2\n-.25 -Inf\n",
    "1.5\t2.0\r\n-2.5e-1\t-inf",
  ],
  "[[0.1385, 0.2379], [0.5, 1]]": [
    "0,1385;0,2379\n0,5;1",
    "0,1385\t0,2379\r\n0,5\t1",
    "0,1385 0,2379\n0,5 1",
    "0.1385,0.2379\n0.5,1",
  ],
  "[[0.1385, 0.2379]]": ["0,1385;0,2379", "0.1385,0.2379", "0.1385, 0.2379;"],
  "[[1, 2], [3, 4]]": ["1,2\n3,4", "1, 2; 3, 4", "[1,2;3,4]", "[1 2\n3 4;]", "1 2\n3 4"],
};
test("numbers are read as they are printed", () => {
  for (const [wanted, texts] of Object.entries(PASTED))
    for (const text of texts) {
      const { shape, cells } = read(text);
      const rows = Array.from({ length: shape[0] }, (_, i) => [...cells.slice(i * shape[1], (i + 1) * shape[1])]);
      assert.deepEqual(rows, JSON.parse(wanted.replace("-inf", "-1e999")), text);
    }
});

test("what the box says of pasted numbers", () => {
  const { payload, pasted } = vectors.answers;
  for (const { text, said } of pasted) assert.equal(new Answers(payload).diagnose(text).text, said);
});

test("settings are taken as far as they fit, and the rest is said", () => {
  const data = new Data(vectors.records.causal.payload);
  const settings = { ...settingsOf(data), compare: flag };
  const first = Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.first]));
  const wanted = { scale: "1/4", mask: "causal+window:1,0", stage: "sums", batch: "7", compare: "1", colour: "red" };
  const [state, refused] = accepted(settings, first, wanted, () => {});
  assert.deepEqual(state, { ...first, scale: 0.25, mask: "causal+window:1,0", compare: true });
  assert.deepEqual(refused, [
    "there is no setting called colour",
    "stage must be one of scores, scaled, masked, weights, dropped, output, got sums",
    "batch must be a whole number below 2, got 7",
  ]);
  assert.equal(changes(settings, first, state, ["x[1]"]), "You changed x[1], the scale and the mask.");
  assert.equal(changes(settings, first, { ...first, batch: 1 }, []), "You chose another view.");
  for (const same of [{}, { select: [1, 0] }, { all: true }])
    assert.equal(changes(settings, first, { ...first, ...same }, []), "");
});

test("the box says in Chinese what it says in English, with the same places", () => {
  const places = (phrase) => (phrase.match(/\{\w+\}/g) ?? []).sort();
  assert.deepEqual(Object.keys(BOX_CHINESE), Object.keys(BOX_WORDS));
  for (const [key, phrase] of Object.entries(BOX_WORDS))
    assert.deepEqual(places(BOX_CHINESE[key]), places(phrase), key);
  assert.equal(tell("rowOf", { n: 2, lead: "0, 1" }), "row 2 of [0, 1]");
});

test("of a large array of 16 bits a head is decoded when it is asked for", () => {
  const [H, T, D] = [3, 1400, 1024];
  const halves = Uint16Array.from({ length: H * T * D }, (_, n) => (n * 7919) % 0x7c00);
  const sent = (numbers) => Buffer.from(numbers.buffer).toString("base64");
  const array = (numbers, T) => ({ dtype: "float16", shape: [1, H, T, D], data: sent(numbers) });
  const [small, large] = [array(halves.subarray(0, H * 2 * D).slice(), 2), array(halves, T)];
  const data = new Data({ version: 1, q: large, k: small, v: small, scale: 1 });
  const place = (1 * T + 77) * D;
  assert.deepEqual([...data.vector("q", 0, 1, 77)], [...halves.subarray(place, place + D)].map(half));
  assert.equal(data.number("q", 0, 2, 5, 6), half(halves[(2 * T + 5) * D + 6]));
  assert.equal(data.q.numbers[place + 3], half(halves[place + 3]));
  halves[place] = 0x7c00;
  assert.throws(() => decode(array(halves, T), "q", 4), /q must be finite/);
});

test("five letters are four bytes", () => {
  assert.deepEqual([...bytesOf85("!!!#!", 4)], [0, 0, 0, 85]);
  assert.deepEqual([...bytesOf85("!!!#!", 3)], [0, 0, 0]);
  const array = { dtype: "float32", shape: [1, 1, 1, 1], data85: "!!!" };
  assert.throws(() => decode(array, "q", 4), /q must hold the numbers of its shape 1×1×1×1/);
});
