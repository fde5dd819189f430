// Two matrices beside each other: what is shown and what was given, or a mistake and what is right.

import { firstDifference, rowsDiffer } from "../core/compare.js";
import { Data } from "../core/data.js";
import { fixed } from "../core/digits.js";
import { parts } from "../core/parts.js";
import { Problem } from "../core/problem.js";
import { flag, oneOf } from "../core/state.js";
import { make } from "../ui/dom.js";
import { say } from "../words/words.js";
import { Change } from "./feature.js";

export class Comparison extends Change {
  // Of two runs at once there is no input to change, and no other original.
  static fits(explorer) {
    return Change.fits(explorer) && !explorer.payload.runs;
  }

  /** @type {any} the second matrix, once there is one */
  other;
  /** @type {any} the two attentions in whose matrices cells are marked */
  pair;
  onRequest = ["compare"];

  constructor(explorer) {
    super(explorer);
    const { payload } = explorer;
    this.mistakes = (payload.mistakes || []).map((mistake) => {
      // A wrong record may lack what is right: it must not be taken over.
      const own = { source: null, bias: null, softcap: null, sinks: null, ...mistake.other };
      const other = mistake.other && new Data({ ...payload, ...own });
      const formulas = parts.mistakes?.[mistake.name];
      if (!other && !formulas) throw new Problem(`it has no formulas of the mistake ${mistake.name}`);
      return { ...mistake, other, formulas };
    });
    const names = ["", ...this.mistakes.map(({ name }) => name)];
    this.settings = { mistake: { ...oneOf("", names), alters: true }, compare: flag };
  }

  build(controls) {
    const { view } = this.explorer;
    if (this.mistakes.length) {
      controls.pick("mistake", [["", say("none")], ...this.mistakes.map(({ name, title }) => [name, title])]);
    }
    controls.box("compare", "", controls.toggle("compare"));
    this.sides = make("div", { class: "ax-pair" });
    view.element.before(this.sides);
    this.place(view);
  }

  // A matrix with a line above it that says which it is.
  place(view) {
    view.caption = make("p", { class: "ax-caption", hidden: true });
    view.box = make("div", { class: "ax-one" }, view.caption, view.element);
    this.sides.prepend(view.box);
    return view;
  }

  get mistake() {
    return this.mistakes.find(({ name }) => name === this.explorer.state.mistake);
  }

  get isWide() {
    return this.explorer.state.compare || !!this.mistake;
  }

  derive(made, state) {
    const { other, formulas } = this.mistakes.find(({ name }) => name === state.mistake) || {};
    if (!other) return formulas ? { ...made, formulas: { ...made.formulas, ...formulas } } : made;
    // Of the wrong record's own settings those that the reader did not change.
    const { first } = this.explorer;
    const settings = { ...made.settings };
    if (state.scale === first.scale) settings.scale = other.scale;
    if (state.dropout === first.dropout) settings.dropout = other.dropout;
    return { data: other, settings };
  }

  unspoiled(state) {
    return { ...state, mistake: "" };
  }

  original() {
    const { state } = this.explorer;
    return this.mistake ? { ...state, mistake: "", edits: this.mistake.other ? "" : state.edits } : null;
  }

  // Arithmetic is written of what is right.
  explained(state) {
    return this.mistake ? { ...state, ...this.original(), select: state.select } : state;
  }

  // A sentence about one side, and the number of the other.
  compared(place, state) {
    if (!this.isWide) return null;
    const { explorer, mistake } = this;
    const sides = [explorer.attention(state), explorer.attention(explorer.original())];
    const [attention, other] = mistake ? sides.reverse() : sides;
    const number = fixed(other.cell(state.stage, place[0], place[1]), explorer.data.places);
    return { attention, more: [" ", say(mistake ? "wrongGives" : "originalGives", { number })] };
  }

  draw(shown, original) {
    const { explorer, isWide } = this;
    const { state } = explorer;
    this.first = isWide ? firstDifference(original, shown) : "";
    for (const input of explorer.stages) input.parentElement.classList.toggle("ax-differs", input.value === this.first);
    if (isWide) {
      this.other ??= this.place(explorer.newView());
      this.other.draw(original, state, shown);
    }
    const captions = this.mistake ? ["wrong", "right"] : ["now", "original"];
    const pair = isWide ? this.pairOf(shown, original, state.stage) : null;
    this.label(explorer.view, say(captions[0]), pair);
    if (!this.other) return;
    this.other.box.hidden = !isWide;
    this.label(this.other, say(captions[1]), pair);
  }

  says(list) {
    const { first, mistake } = this;
    if (!this.isWide) return list;
    const own = mistake ? [mistake.says] : [];
    own.push(first ? say("differs", { stage: say(first) }) : say("same"));
    if (mistake?.other && this.explorer.state.edits) own.push(say("computedBefore"));
    return [...own, ...list];
  }

  // Cells that differ are marked in both.
  label(view, caption, pair) {
    view.caption.textContent = caption;
    view.caption.hidden = !pair;
    view.mark(pair);
  }

  // The same object as long as nothing of it changes.
  pairOf(shown, original, stage) {
    const { pair } = this;
    if (pair?.shown === shown && pair.original === original && pair.stage === stage) return pair;
    const differing = (i) => rowsDiffer(original.row(stage, i), shown.row(stage, i));
    this.pair = { shown, original, stage, differing };
    return this.pair;
  }

  light(place) {
    if (this.isWide) this.other?.light(place);
  }
}
