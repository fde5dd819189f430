// Dropout: its p and its seed.

import { numberIn } from "../core/numbers.js";
import { isWhole, numbersIn, textSetting } from "../core/state.js";
import { field } from "../ui/controls.js";
import { make } from "../ui/dom.js";
import { say } from "../words/words.js";
import { Change } from "./feature.js";

const dropoutIn = (text) => {
  const [p, seed = 0] = numbersIn(text) || [0];
  return p > 0 ? { p, seed } : null;
};

function isDropout(text) {
  const [p, seed, ...rest] = numbersIn(text) || [0, 0];
  return p >= 0 && p < 1 && isWhole(seed, 2 ** 53) && !rest.length;
}

export class Dropout extends Change {
  onRequest = ["dropout"];

  constructor(explorer) {
    super(explorer);
    const given = explorer.data.dropout;
    const first = given ? `${given.p},${given.seed}` : "";
    this.settings = { dropout: { ...textSetting(first, isDropout, "dropoutForm"), alters: true } };
  }

  build(controls) {
    const written = (text) => (Number.isNaN(numberIn(text)) ? text : numberIn(text));
    const read = () => {
      const isNone = numberIn(p.value) === 0;
      this.explorer.choose({ dropout: isNone ? "" : `${written(p.value)},${written(seed.value || "0")}` });
    };
    const more = { class: "ax-number ax-short", inputmode: "decimal", value: 0 };
    const [p, seed] = ["p", "seed"].map((name) => field(name, read, more));
    controls.updates.push(({ dropout }) => {
      const now = dropoutIn(dropout);
      controls.fill(p, now ? String(now.p) : "0");
      if (now) controls.fill(seed, String(now.seed));
    });
    controls.box("dropout", say("dropout"), make("i", {}, "p"), p, say("seed"), seed);
  }

  derive(made, { dropout }) {
    made.settings.dropout = dropoutIn(dropout);
    return made;
  }

  changes(list) {
    const { first, state } = this.explorer;
    const [before, after] = [dropoutIn(first.dropout), dropoutIn(state.dropout)];
    const own = before?.p !== after?.p ? [say("theDropout")] : [];
    if (before && after && before.seed !== after.seed) own.push(say("theSeed"));
    return [...own, ...list];
  }
}
