// The likeliest next words with their chances: one is written by pressing it. With something off, each chance beside
// what it was.

import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { heading } from "../headings.js";
import { refill } from "../refill.js";
import { percent } from "../shares.js";
import { shown } from "./pieces.js";

export class Next {
  /** @param {import("./model.js").LanguageModel} model */
  constructor(model) {
    this.model = model;
    this.title = heading("ax-label", say("nextWordsRead"));
    this.list = make("div", { class: "lm-list", role: "group" });
    this.write = make(
      "button",
      { type: "button", class: "lm-write", onclick: () => model.write(model.likeliest[0].id) },
      say("writeNext"),
    );
    this.back = make("button", { type: "button", onclick: () => model.takeBack() }, say("takeBack"));
    this.heard = make("p", { class: "ax-unseen", role: "status" });
    const row = make("div", { class: "lm-steps" }, this.write, this.back);
    this.element = make("div", { class: "lm-next" }, this.title, this.list, row, this.heard);
  }

  render() {
    const { likeliest, state, isDone, tokens } = this.model;
    const [first] = likeliest;
    this.element.classList.toggle("lm-stale", !isDone);
    this.element.hidden = !first;
    this.write.disabled = !this.model.canWrite;
    this.back.hidden = !state.more;
    if (!first) return;
    this.title.textContent = say(this.about(first));
    this.list.setAttribute("aria-label", this.title.textContent);
    if (isDone && this.shown !== likeliest) {
      this.shown = likeliest;
      refill(this.list, ...likeliest.map((likely) => this.choice(likely, tokens.length - 1)));
      this.heard.textContent = say("nextIs", { word: shown(first.piece), chance: percent(first.chance) });
    }
  }

  /**
   * The line above the words; without the whole model none can be written.
   *
   * @param {import("../../core/language/shares.js").Likely} likeliest
   */
  about({ was }) {
    if (was !== undefined) return "nextWordsWas";
    return this.model.source?.isWhole ? "nextWords" : "nextWordsRead";
  }

  /**
   * @param {import("../../core/language/shares.js").Likely} likely
   * @param {number} row
   */
  choice({ id, piece, chance, was }, row) {
    const { model } = this;
    const bar = (share, kind) => {
      const filled = make("i", { class: `am-share ${kind}` });
      filled.style.width = `${100 * share}%`;
      return make("i", { class: "am-bar" }, filled);
    };
    const bars = make(
      "span",
      { class: "lm-bars" },
      bar(chance, ""),
      ...(was === undefined ? [] : [bar(was, "lm-was")]),
    );
    const before = was === undefined ? [] : [make("small", {}, say("wasChance", { chance: percent(was) }))];
    const word = make(
      "button",
      {
        type: "button",
        class: "lm-choice",
        disabled: !model.canWrite,
        onclick: () => model.write(id),
      },
      make("bdi", { class: "lm-piece" }, shown(piece)),
      bars,
      make("span", { class: "lm-chance" }, percent(chance), ...before),
    );
    const open = () => model.openNumber(`chances/${row},${id}`);
    const why = make(
      "button",
      {
        type: "button",
        class: "lm-why",
        title: say("openChance"),
        "aria-label": say("openChanceOf", { word: shown(piece) }),
        onclick: open,
      },
      "=",
    );
    why.hidden = !model.source?.isWhole;
    return make("div", { class: "lm-row" }, word, why);
  }
}
