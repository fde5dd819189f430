// The sentence that the reader builds, and its translation, written word by word.

import { fixed } from "../../core/digits.js";
import { fitting, wordsIn } from "../../core/model/sentence.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { takenIn, takenText } from "./settings.js";

const PAUSE = 900; // milliseconds between two words of a translation that is played

/** @type {(share: number) => string} */
function percent(share) {
  if (share < 0.0005) return "< 0.1 %";
  if (share > 0.9995 && share < 1) return "> 99.9 %";
  return `${fixed(100 * share, share < 0.0995 || share > 0.9005 ? 1 : 0)} %`;
}

let count = 0;

export class Sentence {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    const id = `am-sentence-${++count}`;
    this.model = model;
    /** @type {number | null} the word whose likeliest are shown, if not the last */
    this.shown = null;
    this.input = make("input", {
      id,
      type: "text",
      class: "am-input",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.typed(),
      onchange: () => this.entered(),
    });
    this.fits = make("span", { class: "am-fits", role: "group", "aria-label": say("fittingWords") });
    this.written = make("div", { class: "am-written", role: "group", "aria-label": say("translation") });
    this.right = make("p", { class: "am-right" });
    this.steps = this.buildSteps();
    this.likeliest = make("div", { class: "am-likeliest", role: "group" });
    const all = make("details", { class: "am-all" }, make("summary", {}, say("allWords")), this.buildWords());
    this.element = make(
      "div",
      { class: "am-sentence" },
      make(
        "div",
        { class: "am-line" },
        make("label", { for: id, class: "ax-label" }, say("yourSentence")),
        this.input,
        this.fits,
      ),
      all,
      make(
        "div",
        { class: "am-line" },
        make("span", { class: "ax-label", "aria-hidden": "true" }, say("translation")),
        this.written,
      ),
      this.right,
      this.steps,
      this.likeliest,
    );
  }

  // Every word that the model knows, to press.
  buildWords() {
    const { machine } = this.model;
    const marks = Object.values(machine.marks);
    const words = machine.words.source.filter((word) => !marks.includes(word));
    const box = make("div", { class: "am-words" });
    for (const word of words) box.append(this.wordButton(word, () => this.add(word)));
    box.append(make("button", { type: "button", onclick: () => this.takeAway() }, say("takeLast")));
    return box;
  }

  wordButton(word, act) {
    return make("button", { type: "button", class: "am-word", lang: "en", onclick: act }, word);
  }

  buildSteps() {
    const button = (name, act) => make("button", { type: "button", onclick: act }, say(name));
    this.play = button("play", () => this.toggle());
    this.temperature = make("input", {
      type: "range",
      min: -2,
      max: 2,
      step: 0.1,
      "aria-label": say("temperature"),
      oninput: () => this.model.choose({ temperature: Number((2 ** Number(this.temperature.value)).toFixed(2)) }),
    });
    this.degree = make("output", { class: "am-degree" });
    return make(
      "div",
      { class: "am-line am-steps" },
      button("oneBack", () => this.step(-1)),
      button("oneMore", () => this.step(1)),
      this.play,
      make("span", { class: "ax-label", "aria-hidden": "true" }, say("temperature")),
      this.temperature,
      this.degree,
    );
  }

  /** @param {string} text */
  set(text) {
    this.shown = null;
    return this.model.choose({ say: text, taken: "", written: 0, select: null });
  }

  // While a word is not yet whole, the translation stays that of the words before.
  typed() {
    const words = wordsIn(this.input.value);
    const { machine } = this.model;
    const known = words.every((word) => machine.words.source.includes(word));
    if (known && words.length && !/\s$/.test(this.input.value)) this.set(words.join(" "));
    this.suggest();
  }

  entered() {
    if (this.input.value.trim() !== this.model.state.say) this.set(wordsIn(this.input.value).join(" "));
    this.suggest();
  }

  // Words that begin as the last one does that is being typed.
  suggest() {
    const { machine } = this.model;
    const words = wordsIn(this.input.value);
    const start = words.at(-1) ?? "";
    const isWhole = !start || machine.words.source.includes(start);
    const list = isWhole ? [] : fitting(machine, start);
    const take = (word) => {
      this.input.value = [...words.slice(0, -1), word].join(" ");
      this.input.focus();
      this.typed();
    };
    this.fits.replaceChildren(...list.map((word) => this.wordButton(word, () => take(word))));
  }

  add(word) {
    this.set([...wordsIn(this.model.state.say), word].join(" "));
  }

  takeAway() {
    this.set(wordsIn(this.model.state.say).slice(0, -1).join(" "));
  }

  // How many words are written: all of them stand as 0.
  step(by) {
    this.stop();
    const { translation, state } = this.model;
    const now = translation.words.length;
    if (by > 0 && (!state.written || translation.hasEnded)) return;
    const next = Math.max(1, now + by);
    this.shown = null;
    this.model.choose({ written: next });
    if (by > 0 && this.model.translation.hasEnded) this.model.choose({ written: 0 });
  }

  toggle() {
    if (this.timer) return this.stop();
    this.model.choose({ written: 1 });
    const on = () => {
      const { state } = this.model;
      if (!this.timer || !state.written) return this.stop();
      this.model.choose({ written: state.written + 1 });
      if (this.model.translation.hasEnded || this.model.translation.words.length < this.model.state.written) {
        this.model.choose({ written: 0 });
        this.stop();
      }
      return undefined;
    };
    this.timer = setInterval(on, PAUSE);
    this.play.textContent = say("pause");
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = say("play");
  }

  /** @param {number} place @param {number} id */
  take(place, id) {
    const { machine, state } = this.model;
    const taken = takenIn(machine, state.taken);
    for (const later of Object.keys(taken)) if (Number(later) >= place) delete taken[Number(later)];
    const [likeliest] = this.model.translation.words[place].choices;
    this.shown = place;
    this.model.choose({ taken: takenText(machine, id === likeliest.id ? taken : { ...taken, [place]: id }) });
  }

  render() {
    const { model } = this;
    const { state, translation, right } = model;
    if (document.activeElement !== this.input || wordsIn(this.input.value).join(" ") === state.say) {
      if (wordsIn(this.input.value).join(" ") !== state.say) this.input.value = state.say;
    }
    const place = Math.min(this.shown ?? translation.words.length - 1, translation.words.length - 1);
    this.written.replaceChildren(
      ...translation.words.map(({ word, probability, isTaken }, n) =>
        make(
          "button",
          {
            type: "button",
            class: isTaken ? "am-word am-taken" : "am-word",
            "aria-pressed": String(n === place),
            onclick: () => {
              this.shown = n;
              this.render();
              this.written.children[n]?.focus();
            },
          },
          make("bdi", { lang: "zh" }, word),
          make("small", {}, percent(probability)),
        ),
      ),
    );
    this.right.hidden = !right;
    if (right) {
      const text = right.words.map(({ word }) => word).join(" ");
      this.right.replaceChildren(say("unchanged"), " ", make("bdi", { lang: "zh" }, text));
    }
    this.temperature.value = String(Math.log2(state.temperature));
    this.degree.textContent = String(state.temperature);
    this.temperature.setAttribute("aria-valuetext", String(state.temperature));
    this.renderLikeliest(place);
  }

  /** @param {number} place */
  renderLikeliest(place) {
    const chosen = this.model.translation.words[place];
    if (!chosen) return this.likeliest.replaceChildren();
    this.likeliest.setAttribute("aria-label", say("likeliest", { n: place + 1 }));
    const line = ({ id, word, probability }) => {
      const bar = make("i", { class: "am-share" });
      bar.style.width = `${100 * probability}%`;
      return make(
        "button",
        {
          type: "button",
          class: "am-choice",
          "aria-pressed": String(id === chosen.id),
          onclick: () => this.take(place, id),
        },
        make("bdi", { lang: "zh" }, word),
        make("span", { class: "am-bar" }, bar),
        make("span", {}, percent(probability)),
      );
    };
    this.likeliest.replaceChildren(
      make("p", { class: "ax-label" }, say("likeliest", { n: place + 1 })),
      ...chosen.choices.map(line),
    );
    return undefined;
  }
}
