// The state of an explorer: each setting with its first value, its check, and its text in an address.

import { brief, say } from "../words/words.js";
import { stored } from "./arrays.js";
import { numberIn } from "./numbers.js";
import { Problem } from "./problem.js";
import { STAGES } from "./stages.js";

export const isWhole = (n, below) => Number.isInteger(n) && n >= 0 && n < below;
export const numbersIn = (text) => (text === "" ? null : text.split(",").map(numberIn));
export const listOf = (text) => text.split(",").filter(Boolean);
export const textSetting = (first, fits, ...must) => ({ first, fits, must });
export const oneOf = (first, list) => textSetting(first, (v) => list.includes(v), "oneOf", { list: list.join(", ") });
export const flag = { first: false, read: (text) => text === "1", fits: () => true };

function isMask(text, data) {
  return text
    .split("+")
    .every(
      (part) =>
        /^(given|none|causal|window:\d{1,6},\d{1,6})$/.test(part) ||
        (/^padding:\d{1,6}(,\d{1,6})*$/.test(part) && part.split(",").length === data.B),
    );
}

// A setting: `first`, `fits(value, state)`, what it `must` be, and how its text is `read`.
// Of a `listed` one, a text with commas, the items that fit together are taken. One that `alters` gives
// the same cells other numbers; `phrase` names it in the sentence about what the reader changed.
export function settingsOf(data, ofView) {
  const { view, L } = data;
  const { stage = "weights", batch = 0, head = 0, select = null, hide = [] } = view;
  const below = (first, n) => ({ first, read: numberIn, fits: (v) => isWhole(v, n), must: ["below", { n }] });
  return {
    stage: oneOf(stage, STAGES),
    batch: below(batch, data.B),
    head: below(head, data.H),
    scale: {
      first: data.scale,
      read: numberIn,
      fits: (v) => Number.isFinite(stored(v, data.q.dtype)),
      must: ["fits", { dtype: data.q.dtype }],
      alters: true,
      phrase: "theScale",
    },
    mask: { ...textSetting("given", (v) => isMask(v, data), "maskForm"), alters: true, phrase: "theMask" },
    select: {
      first: select,
      read: numbersIn,
      fits: (v, { stage }) => v === null || (v.length === 2 && isWhole(v[0], L) && isWhole(v[1], data.columns(stage))),
      must: ({ stage }) => ["rowBelow", { rows: L, width: data.columns(stage) }],
    },
    ...ofView,
    hide: textSetting(hide.join(","), (v) => /^[a-z,]*$/.test(v), "names"),
    all: flag,
  };
}

// What is wanted (by the reader, an address, Python): the state with what can be taken, and sentences
// about the rest. `check` raises a sentence about settings that fit one by one, but not together.
export function accepted(settings, state, wanted, check) {
  const found = acceptedOneByOne(settings, state, wanted, () => {});
  return problemOf(() => check(found[0])) ? acceptedOneByOne(settings, state, wanted, check) : found;
}

// The sentence of a problem that an action meets, "" if it meets none.
function problemOf(act) {
  try {
    act();
    return "";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message;
  }
}

// One setting after the other, each checked with those before it.
function acceptedOneByOne(settings, state, wanted, check) {
  const [next, refused] = [{ ...state }, []];
  const why = (name, value, raw) =>
    problemOf(() => {
      const { fits, must } = settings[name];
      if (!fits(value, next)) {
        throw new Problem(say("mustBe", { name, must: say(...(must.call ? must(next) : must)), value: brief(raw) }));
      }
      check({ ...next, [name]: value });
    });
  // Of a list that does not fit its first half, then what fits beside that: few trials for many items.
  const together = (name, items, kept) => {
    const all = [...kept, ...items];
    const sentence = why(name, all.join(","), items[0]);
    if (!sentence) return all;
    if (items.length > 1) {
      const middle = items.length >> 1;
      return together(name, items.slice(middle), together(name, items.slice(0, middle), kept));
    }
    refused.push(sentence);
    return kept;
  };
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(settings, name)) refused.push(say("noSetting", { name: brief(name) }));
  }
  for (const name of Object.keys(settings).filter((name) => Object.hasOwn(wanted, name))) {
    const [raw, { read, listed }] = [wanted[name], settings[name]];
    if (listed) {
      next[name] = together(name, listOf(raw), []).join(",");
      continue;
    }
    const value = read && typeof raw === "string" ? read(raw) : raw;
    const sentence = why(name, value, raw);
    if (sentence) refused.push(sentence);
    else next[name] = value;
  }
  return [next, refused];
}

// What the reader changed, in a sentence; `more` are changes of inputs.
export function changes(settings, first, state, more) {
  const differing = Object.keys(settings).filter((name) => `${first[name]}` !== `${state[name]}`);
  const phrases = differing.map((name) => settings[name].phrase).filter(Boolean);
  const list = [...more, ...[...new Set(phrases)].map((phrase) => say(phrase))];
  if (!list.length) return differing.some((name) => name !== "all") ? say("chose") : "";
  const last = list.pop();
  return say("changed", { list: list.length ? list.join(", ") + say("and") + last : last });
}
