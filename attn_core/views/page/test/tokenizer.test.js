// The page's tokenizer, with a vocabulary that can be read; tests/test_language_page.py asks it about SmolLM2's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokenizer } from "../core/language/tokenizer.js";
import { Problem } from "../core/problem.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
const MARKS = ["<|end|>", "<|end|>>", "<a.b>"];
// The last five are the bytes c3 and a9 (é), then e2, 82 and ac (€).
const SIGNS = ["a", "b", "c", "Ġ", "Ċ", "1", "'", "s", ".", "Ã", "©", "â", "Ĥ", "¬"];
const MERGES = ["a b", "ab c", "Ġ ab", "Ġ Ġ", "b c", "' s", "â Ĥ", ". .", "a a"];

function sent(merges = MERGES) {
  const tokens = [...MARKS, ...SIGNS];
  const pairs = merges.map((pair) => {
    const [first, second] = pair.split(" ");
    tokens.push(first + second);
    return [tokens.indexOf(first), tokens.indexOf(second)];
  });
  const bytes = new Uint8Array(Uint16Array.from(pairs.flat()).buffer);
  return { marks: MARKS, signs: SIGNS, merges: btoa(String.fromCharCode(...bytes)) };
}

const tokenizer = new Tokenizer(sent());
const pieces = (text) => tokenizer.encode(text).map((id) => tokenizer.piece(id));

test("the earliest merge goes first, wherever it stands", () => {
  assert.deepEqual(pieces("abc"), ["abc"]);
  assert.deepEqual(pieces("bcab"), ["bc", "ab"]);
  assert.deepEqual(pieces("aabbc"), ["a", "ab", "bc"]);
  assert.deepEqual(pieces("aaa"), ["aa", "a"]);
});

test("a space belongs to the word behind it, other spaces to each other", () => {
  assert.deepEqual(pieces("ab ab"), ["ab", " ab"]);
  assert.deepEqual(pieces("a  ab"), ["a", " ", " ab"]);
  assert.deepEqual(pieces("a  "), ["a", "  "]);
  assert.deepEqual(pieces("a\n  ab"), ["a", "\n", " ", " ab"]);
  assert.deepEqual(pieces("ab's.."), ["ab", "'s", ".."]);
});

test("each digit is alone, and takes no space", () => {
  assert.deepEqual(pieces("11"), ["1", "1"]);
  assert.deepEqual(pieces("a  1"), ["a", "  ", "1"]);
  assert.deepEqual(pieces("a 1"), ["a", " ", "1"]);
});

test("marks are tokens, the longest that fits", () => {
  assert.deepEqual(tokenizer.encode("<|end|>ab<|end|>><a.b>"), [0, 17, 1, 2]);
  assert.deepEqual(pieces("a <|end|> ab"), ["a", " ", "<|end|>", " ab"]);
});

test("a byte without a token is left out, and nothing has no tokens", () => {
  assert.deepEqual(pieces("azb"), ["ab"]);
  assert.deepEqual(tokenizer.encode(""), []);
});

test("a character is given when its last byte is there", () => {
  const ids = tokenizer.encode("é€");
  assert.deepEqual(
    ids.map((id) => tokenizer.piece(id)),
    ["\\xc3", "\\xa9", "\\xe2\\x82", "\\xac"],
  );
  const decoder = tokenizer.decoder();
  assert.deepEqual(
    ids.map((id) => decoder.add(id)),
    ["", "é", "", "€"],
  );
  assert.equal(decoder.end(), "");
  assert.equal(tokenizer.decode(ids), "é€");
  assert.equal(tokenizer.decode(ids.slice(0, 3)), "é\ufffd");
});

test("what is no vocabulary, and no token, is said in a sentence", () => {
  const said = (what, sentence) =>
    assert.throws(what, (error) => error instanceof Problem && error.message === sentence);
  said(() => new Tokenizer({ ...sent(), merges: "AAAA" }), "its merges must be pairs of ids of 16 bits");
  said(() => new Tokenizer({ ...sent(), signs: ["a", "汤"] }), "its sign 汤 must be that of a byte");
  said(() => new Tokenizer({ marks: [], signs: ["a"], merges: "AAABAA==" }), "its merges must join tokens before them");
  said(() => tokenizer.piece(26), "the id of a token must be a whole number below 26, got 26");
});
