// The translation: written word by word, the likeliest at each place, and beside the right one what a change made.

import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { refill } from "../refill.js";
import { percent } from "../shares.js";
import { takenIn, takenText } from "./settings.js";

const PAUSE = 900; // milliseconds between two words of a translation that is played

export class Written {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {ReturnType<typeof setInterval> | undefined} while it is played */
    this.timer = undefined;
    this.words = make("div", { class: "am-written", role: "group", "aria-label": say("translation") });
    this.right = make("div", { class: "am-right" });
    this.likeliest = make("div", { class: "am-likeliest", role: "group" });
    this.heard = make("p", { class: "ax-unseen", role: "status" });
    this.element = make(
      "div",
      { class: "am-translation" },
      make("span", { class: "ax-label", "aria-hidden": "true" }, say("translation")),
      this.words,
      this.right,
      this.buildSteps(),
      this.likeliest,
    );
  }

  buildSteps() {
    const button = (name, act) => make("button", { type: "button", onclick: act }, say(name));
    this.play = button("play", () => this.toggle());
    this.back = button("oneBack", () => this.step(-1));
    this.next = button("oneMore", () => this.step(1));
    this.temperature = make("input", {
      type: "range",
      min: -2,
      max: 3,
      step: 0.1,
      "aria-label": say("temperature"),
      oninput: () => this.model.choose({ temperature: Number((2 ** Number(this.temperature.value)).toFixed(2)) }),
    });
    this.degree = make("output", { class: "am-degree" });
    return make(
      "div",
      { class: "am-steps" },
      this.back,
      this.next,
      this.play,
      make(
        "span",
        { class: "am-temperature" },
        make("span", { class: "ax-label", "aria-hidden": "true" }, say("temperature")),
        this.temperature,
        this.degree,
      ),
    );
  }

  /** How many words are written: all of them stand as 0. @param {number} by */
  step(by) {
    this.stop();
    const { translation, state } = this.model;
    const count = translation.words.length + by;
    if (count && (by < 0 || state.written)) this.write(count);
  }

  /** @param {number} words */
  write(words) {
    const { model } = this;
    model.choose({ written: words, word: 0 });
    const { translation } = model;
    const isAll = translation.hasEnded || translation.words.length < words || words >= model.machine.longest;
    if (isAll) model.choose({ written: 0 });
  }

  toggle() {
    if (this.timer) return this.stop();
    this.timer = setInterval(() => {
      const { state } = this.model;
      const isLeft = !this.element.isConnected || !state.written;
      if (!isLeft) this.write(state.written + 1);
      if (isLeft || !state.written || !this.model.state.written) this.stop();
    }, PAUSE);
    this.play.textContent = say("pause");
    this.write(1);
    if (!this.model.state.written) this.stop();
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = say("play");
  }

  /**
   * Another word instead of the likeliest; what was taken behind it is let go.
   *
   * @param {number} place
   * @param {number} id
   */
  take(place, id) {
    this.stop();
    const { machine, state, translation } = this.model;
    const before = Object.entries(takenIn(machine, state.taken)).filter(([at]) => Number(at) < place);
    const taken = Object.fromEntries(before);
    if (id !== translation.words[place].choices[0].id) taken[place] = id;
    this.model.choose({ taken: takenText(machine, taken), word: place + 1 });
  }

  // Of a whole translation the word that it was least sure of, else the last; unless the reader chose one.
  place() {
    const { translation, state } = this.model;
    const { words } = translation;
    if (state.word && state.word <= words.length) return state.word - 1;
    if (state.written) return words.length - 1;
    const sure = words.map(({ probability }) => probability);
    return sure.indexOf(Math.min(...sure));
  }

  render() {
    const { state, translation, right } = this.model;
    const place = this.place();
    const others = right?.words.map(({ word }) => word);
    const isEndless = !state.written && !translation.hasEnded;
    const goesOn = isEndless ? [make("span", { class: "ax-label" }, say("goesOn"))] : [];
    refill(this.words, ...translation.words.map((word, n) => this.chip(word, n, place, others)), ...goesOn);
    this.renderRight(right);
    this.temperature.value = String(Math.log2(state.temperature));
    this.temperature.setAttribute("aria-valuetext", String(state.temperature));
    this.degree.textContent = String(state.temperature);
    // Not disabled: a button that is would lose the focus.
    this.back.ariaDisabled = String(translation.words.length < 2);
    this.next.ariaDisabled = String(!state.written);
    this.renderLikeliest(place);
    this.hear();
  }

  /**
   * @param {import("../../core/model/translate.js").Written} word
   * @param {number} n
   * @param {number} place
   * @param {string[] | undefined} others
   */
  chip({ word, probability, isTaken }, n, place, others) {
    const isOther = others && others[n] !== word;
    const notes = [isTaken && say("isTaken"), isOther && say("isOtherWord")].filter(Boolean);
    return make(
      "button",
      {
        type: "button",
        class: ["am-word", isTaken && "am-taken", isOther && "am-other"].filter(Boolean).join(" "),
        "aria-pressed": String(n === place),
        title: notes.join(", ") || undefined,
        onclick: () => this.model.choose({ word: n + 1 }),
      },
      make("bdi", { lang: "zh" }, word),
      make("small", {}, percent(probability)),
      ...notes.map((note) => make("span", { class: "ax-unseen" }, note)),
    );
  }

  /** @param {import("../../core/model/translate.js").Translation | null} right */
  renderRight(right) {
    this.right.hidden = !right;
    if (!right) return;
    const words = right.words.map(({ word }) => make("bdi", { lang: "zh" }, word));
    const own = this.model.translation.words.map(({ word }) => word).join(" ");
    const isSame = own === right.words.map(({ word }) => word).join(" ");
    this.right.replaceChildren(
      make("span", { class: "ax-label" }, say(isSame ? "unchangedSame" : "unchanged")),
      ...words.flatMap((word) => [" ", word]),
    );
  }

  /** @param {number} place */
  renderLikeliest(place) {
    const { translation, state } = this.model;
    const chosen = translation.words[place];
    const isLeastSure = !state.word && !state.written && translation.words.length > 1;
    const title = say(isLeastSure ? "leastSure" : "likeliest", { n: place + 1 });
    this.likeliest.setAttribute("aria-label", title);
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
    const isTempered = state.temperature !== 1;
    const cold = say(state.temperature > 1 ? "warm" : "cold", { t: state.temperature });
    refill(
      this.likeliest,
      make("p", { class: "ax-label" }, title),
      ...chosen.choices.map(line),
      make("p", { class: "am-look", hidden: !isTempered }, isTempered ? cold : ""),
    );
  }

  // Who does not see the words hears them when they change.
  hear() {
    const { translation, state } = this.model;
    const text = translation.words.map(({ word }) => word).join(" ");
    const said = say(state.written ? "soFar" : "saysTranslation", { text });
    if (this.heard.textContent !== said) this.heard.textContent = said;
  }
}
