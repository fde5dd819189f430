// The text: typed, cut into tokens while it is typed, and the words that were chosen behind it.

import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { refillFor } from "../refill.js";
import { shown } from "./pieces.js";

const PAUSE = 250; // milliseconds without a letter before a text is read
let boxes = 0;

export class Text {
  /** @param {import("./model.js").LanguageModel} model */
  constructor(model) {
    this.model = model;
    this.timer = 0;
    const id = `lm-text-${++boxes}`;
    this.input = make("textarea", {
      id,
      class: "am-input lm-input",
      rows: 2,
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => this.typed(),
    });
    this.tokens = make("p", { class: "lm-tokens", "aria-label": say("tokens"), role: "group" });
    this.count = make("p", { class: "lm-count" });
    this.examples = make("div", { class: "am-examples", role: "group", "aria-label": say("examples") });
    this.element = make(
      "div",
      { class: "lm-text" },
      make("label", { for: id, class: "ax-label" }, say("yourText")),
      this.input,
      this.tokens,
      this.count,
      this.examples,
    );
  }

  typed() {
    clearTimeout(this.timer);
    const { value } = this.input;
    this.model.cut(value);
    this.timer = window.setTimeout(() => this.model.choose({ text: value, more: "" }), PAUSE);
  }

  /** Texts to try. @param {string[]} texts */
  offer(texts) {
    const button = (text) => {
      const take = () => this.model.choose({ text, more: "", select: null, open: "", trail: "" }, true);
      return make("button", { type: "button", class: "lm-example", onclick: take }, text);
    };
    this.examples.replaceChildren(make("span", { class: "ax-label" }, say("examples")), ...texts.map(button));
  }

  render() {
    const { tokens, written, state } = this.model;
    refillFor(this.tokens, JSON.stringify([tokens, state.more]), () => {
      const chosen = tokens.length - (state.more ? state.more.split(",").length : 0);
      return tokens.map((token, n) =>
        make("bdi", { class: n < chosen ? "lm-token" : "lm-token lm-chosen" }, shown(token)),
      );
    });
    const { length: count } = tokens;
    this.count.textContent = count ? say(count === 1 ? "tokenCountOne" : "tokenCount", { count }) : "";
    if (document.activeElement === this.input && state.more === "") return;
    if (this.input.value !== written) this.input.value = written;
  }
}
