// The sentence that the reader builds: typed, or of words that are pressed.

import { fitting, idsOf, knownWords, wordsIn } from "../../core/model/sentence.js";
import { Problem } from "../../core/problem.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { refill } from "../refill.js";

let count = 0; // for the names of fields
let isPressing = false;
const press = ({ type }) => {
  isPressing = type === "pointerdown";
};
for (const name of ["pointerdown", "pointerup", "pointercancel"]) addEventListener(name, press, true);

/**
 * Once a press that may be under way has reached its target, or was given up: what moved under the pointer would miss
 * it.
 *
 * @param {() => void} act
 */
function afterPress(act) {
  const ended = new AbortController();
  // On a touch screen all events of a press come in one go.
  const soon = () => {
    ended.abort();
    setTimeout(act);
  };
  if (!isPressing) soon();
  else for (const name of ["pointerup", "pointercancel"]) addEventListener(name, soon, { signal: ended.signal });
}

export class Typed {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    const id = `am-sentence-${++count}`;
    this.model = model;
    this.input = make("input", {
      id,
      type: "text",
      class: "am-input",
      lang: "en",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-describedby": `${id}-said`,
      oninput: () => this.typed(),
      onchange: () => afterPress(() => this.entered()),
    });
    this.read = make("p", { class: "am-read", lang: "en" }); // where a page leaves the field out
    this.said = make("p", { id: `${id}-said`, class: "ax-notice am-said", role: "status" });
    this.still = make("p", { class: "am-look am-still", lang: say("lang"), hidden: true });
    this.long = make("p", { class: "am-look am-long", role: "status", hidden: true });
    this.fits = make("div", { class: "am-fits", role: "group", "aria-label": say("fittingWords") });
    this.element = make(
      "div",
      { class: "am-typed" },
      make("label", { for: id, class: "ax-label" }, say("yourSentence")),
      this.input,
      this.read,
      this.said,
      this.fits,
      this.still,
      this.long,
      this.buildExamples(),
      make("details", { class: "am-all" }, make("summary", {}, say("allWords")), this.buildWords()),
    );
  }

  buildExamples() {
    const list = this.model.payload.view.examples ?? [];
    const button = (text) =>
      make("button", { type: "button", lang: "en", onclick: () => this.set(wordsIn(text)) }, text);
    return make(
      "div",
      { class: "am-examples", role: "group", "aria-label": say("examples"), hidden: !list.length },
      make("span", { class: "ax-label", "aria-hidden": "true" }, say("examples")),
      ...list.map(button),
    );
  }

  // Every word that the model knows, to press.
  buildWords() {
    const words = knownWords(this.model.machine);
    const own = () => wordsIn(this.model.state.say);
    return make(
      "div",
      { class: "am-words" },
      ...words.map((word) => this.wordButton(word, () => this.set([...own(), word]))),
      make("button", { type: "button", onclick: () => this.set(own().slice(0, -1)) }, say("takeLast")),
    );
  }

  wordButton(word, act) {
    return make("button", { type: "button", class: "am-word", lang: "en", onclick: act }, word);
  }

  /** Takes a sentence, or says in its place why not. @param {string[]} words */
  set(words) {
    const { machine } = this.model;
    try {
      const known = idsOf(machine, words).map((id) => machine.words.source[id]);
      this.tell("");
      return this.model.choose({ say: known.join(" "), taken: "", written: 0 });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.tell(`${error.message[0].toUpperCase()}${error.message.slice(1)}${say("fullStop")}`);
      return false;
    }
  }

  /** Why a sentence is not taken, and what is shown instead; "" if it is. @param {string} text */
  tell(text) {
    const { root, state } = this.model;
    this.said.textContent = text;
    this.input.setAttribute("aria-invalid", String(!!text));
    this.still.hidden = !text;
    this.still.textContent = text && say("stillShown", { text: state.say });
    root.classList.toggle("am-stale", !!text);
  }

  // Training has its end: what a longer sentence loses is no fault of the page.
  renderLength() {
    const { payload, state } = this.model;
    const most = payload.view.longest_trained ?? Infinity;
    const count = wordsIn(state.say).length;
    this.long.hidden = count <= most;
    this.long.textContent = count > most ? say("longerThanTraining", { count, most }) : "";
  }

  // A word that is still being typed waits; those before it are said at once if the model does not know them.
  typed() {
    const words = wordsIn(this.input.value);
    const isWhole = !words.length || /[^\p{L}\p{N}]$/u.test(this.input.value) || this.knows(words.at(-1));
    const done = isWhole ? words : words.slice(0, -1);
    if (isWhole) this.set(words);
    else if (done.every((word) => this.knows(word))) this.tell("");
    this.suggest();
  }

  entered() {
    const words = wordsIn(this.input.value);
    if (words.join(" ").toLowerCase() !== this.model.state.say.toLowerCase()) this.set(words);
    this.suggest();
  }

  /** @param {string} word */
  knows(word) {
    return knownWords(this.model.machine).some((known) => known.toLowerCase() === word.toLowerCase());
  }

  // For the first word that it does not know, those that fit in its place.
  suggest() {
    const words = wordsIn(this.input.value);
    const at = words.findIndex((word) => !this.knows(word));
    const { machine } = this.model;
    const near = at < 0 ? [] : fitting(machine, words[at]);
    // A word that none is like, and that is no longer being typed, may be replaced by any.
    const list = at < 0 || near.length || !this.said.textContent ? near : knownWords(machine);
    const take = (word) => {
      const now = wordsIn(this.input.value);
      this.input.value = now
        .with(
          now.findIndex((typed) => !this.knows(typed)),
          word,
        )
        .join(" ");
      this.input.focus();
      this.typed();
    };
    // Whoever presses one leaves the field first, which asks again: the button must still be there.
    if (String(list) === this.fits.dataset.list) return;
    this.fits.dataset.list = String(list);
    this.fits.hidden = !list.length;
    refill(this.fits, ...list.map((word) => this.wordButton(word, () => take(word))));
  }

  render() {
    const { state, machine } = this.model;
    this.read.textContent = state.say;
    this.renderLength();
    const own = wordsIn(this.input.value);
    const isSame = own.join(" ").toLowerCase() === state.say.toLowerCase();
    const isTyping = document.activeElement === this.input && own.some((word) => !this.knows(word));
    if (isSame || isTyping || state.say === this.shown) return;
    this.shown = state.say;
    this.input.value = state.say;
    this.input.maxLength = 40 * machine.longest;
    this.tell("");
    this.suggest();
  }
}
