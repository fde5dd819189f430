// What the further controls do: change inputs and dropout, draw a mask, compare, put a mistake in.

import { Attention } from "./attention.js";
import { firstDifference, rowsDiffer } from "./compare.js";
import { field } from "./controls.js";
import { Data, Problem } from "./data.js";
import { fixed } from "./digits.js";
import { make } from "./dom.js";
import { edited, names } from "./edits.js";
import { Inputs } from "./inputs.js";
import { LAB_WORDS } from "./labwords.js";
import { numberIn } from "./numbers.js";
import { parts } from "./parts.js";
import { survivors } from "./philox.js";
import { flag, isWhole, listOf, numbersIn, oneOf, textSetting } from "./state.js";
import { listenTwin, showTwin, twin } from "./twin.js";
import { WORDS, say } from "./words.js";

// Shown where they are asked for.
const CONTROLS = ["heads", "how", "draw", "dropout", "compare", "table", "link", "inputs"];

const drawnIn = (text) => listOf(text).map((cell) => cell.split(".").map(Number));
const dropoutIn = (text) => {
  const [p, seed = 0] = numbersIn(text) || [0];
  return p > 0 ? { p, seed } : null;
};

export class Lab {
  constructor(owner) {
    this.owner = owner;
    const { data, payload } = owner;
    // Words of another language that are there already stay.
    Object.assign(WORDS, { ...LAB_WORDS, ...WORDS });
    this.mistakes = (payload.mistakes || []).map((mistake) => {
      const other = mistake.other && new Data({ ...payload, ...mistake.other, source: null });
      const formulas = parts.mistakes?.[mistake.name];
      if (!other && !formulas) throw new Problem(`it has no formulas of the mistake ${mistake.name}`);
      return { ...mistake, other, formulas };
    });
    const settings = {
      drawn: { ...textSetting("", (v) => listOf(v).every((cell) => /^\d+\.\d+$/.test(cell)) && drawnIn(v).every(([i, j]) => i < data.L && j < data.S), "cells"), listed: true },
      dropout: textSetting(data.dropout ? `${data.dropout.p},${data.dropout.seed}` : "", (v) => {
        const [p, seed, ...rest] = numbersIn(v) || [0, 0];
        return p >= 0 && p < 1 && isWhole(seed, 2 ** 53) && !rest.length;
      }, "dropoutForm"),
      edits: { ...textSetting("", (v) => edited(data, v), "editForm"), listed: true },
      mistake: oneOf("", ["", ...this.mistakes.map(({ name }) => name)]),
      compare: flag,
      draw: flag,
      table: flag,
    };
    Object.assign(owner.settings, settings);
    for (const [name, { first }] of Object.entries(settings)) owner.first[name] = owner.state[name] = first;
    this.addControls(owner.controls);
    this.line = make("p", { class: "ax-said", role: "status" });
    this.inputs = new Inputs(owner);
    this.twin = make("div");
    listenTwin(this.twin, owner);
    owner.body.before(this.line);
    owner.map.append(this.twin);
    owner.root.append(this.inputs.element);
    this.heads = data.H > 1 && new parts.heads(data);
    if (this.heads) {
      this.heads.onpick = (head) => owner.change({ head });
      owner.body.before(this.heads.element);
    }
    this.pair = make("div", { class: "ax-pair" });
    owner.view.element.before(this.pair);
    this.place(owner.view);
  }

  hides(name) {
    return CONTROLS.includes(name) && !(this.owner.data.view.show || []).includes(name);
  }

  addControls(controls) {
    const { owner } = this;
    controls.addMasks("padding", "causal+padding");
    const { B, S } = owner.data;
    const lengths = field("lengths", () => controls.readMask(), { value: Array(B).fill(Math.max(1, S - 1)).join(","), hidden: true });
    controls.sizes.padding = {
      box: lengths,
      text: () => lengths.value.replaceAll(" ", ""),
      show: (json) => (lengths.value = json.lengths.join(",")),
    };
    controls.maskBox.append(lengths, controls.toggle("draw", { "data-control": "draw" }));
    const written = (text) => (Number.isNaN(numberIn(text)) ? text : numberIn(text));
    const read = () => owner.change({ dropout: numberIn(p.value) === 0 ? "" : `${written(p.value)},${written(seed.value || "0")}` });
    const [p, seed] = ["p", "seed"].map((name) => field(name, read, { class: "ax-number ax-short", inputmode: "decimal", value: 0 }));
    controls.shown.push(({ dropout }) => {
      const now = dropoutIn(dropout);
      controls.show(p, now ? String(now.p) : "0");
      if (now) controls.show(seed, String(now.seed));
    });
    controls.box("dropout", say("dropout"), make("i", {}, "p"), p, say("seed"), seed);
    if (owner.isLong) controls.pick("how", ["max", "mean"].map((how) => [how, say(how)]));
    if (this.mistakes.length) {
      controls.pick("mistake", [["", say("none")], ...this.mistakes.map(({ name, title }) => [name, title])]);
    }
    for (const name of ["compare", "table"]) controls.box(name, "", controls.toggle(name));
    if (owner.link) controls.box("link", "", make("button", { type: "button", onclick: () => this.copy() }, say("link")));
  }

  // A matrix with a line above it that says which it is.
  place(view) {
    view.caption = make("p", { class: "ax-caption", hidden: true });
    view.box = make("div", { class: "ax-one" }, view.caption, view.element);
    this.pair.prepend(view.box);
    return view;
  }

  get mistake() {
    return this.mistakes.find(({ name }) => name === this.owner.state.mistake);
  }

  get isCompared() {
    return this.owner.state.compare || !!this.mistake;
  }

  derive({ batch, head, scale, mask, drawn, dropout, edits, mistake }) {
    const { other, formulas } = this.mistakes.find(({ name }) => name === mistake) || {};
    const settings = { batch, head, scale, mask, drawn: drawnIn(drawn), dropout: dropoutIn(dropout) };
    const { data, first } = this.owner;
    if (!other) {
      if (this.edits !== edits) [this.edits, this.data] = [edits, edits ? edited(data, edits) : data];
      return new Attention(this.data, settings, formulas);
    }
    // Of the wrong record's own settings those that the reader did not change.
    if (scale === first.scale) settings.scale = other.scale;
    if (dropout === first.dropout) settings.dropout = other.dropout;
    return new Attention(other, settings);
  }

  // What those shown are compared with: the same without the mistake, or all as given.
  base() {
    const { first, state } = this.owner;
    if (this.mistake) return { ...state, mistake: "", edits: this.mistake.other ? "" : state.edits };
    const { scale, mask, drawn, dropout, edits } = first;
    return { ...state, scale, mask, drawn, dropout, edits };
  }

  // Arithmetic is written of what is right.
  right(where) {
    return this.mistake ? { ...where, ...this.base(), select: where.select } : where;
  }

  // A sentence about one side, and the number of the other.
  compared(place, where) {
    if (!this.isCompared) return null;
    const { owner, mistake } = this;
    const [shown, base] = [owner.attention(where), owner.attention(this.base())];
    const [one, other] = mistake ? [base, shown] : [shown, base];
    const number = fixed(other.cell(where.stage, ...place), owner.data.places);
    return { attention: one, more: [" ", say(mistake ? "wrongGives" : "originalGives", { number })] };
  }

  // In drawing, a cell that is chosen is hidden or shown again.
  draws(place) {
    const { state } = this.owner;
    if (!state.draw || state.stage === "output") return false;
    const [cell, cells] = [place.join("."), listOf(state.drawn)];
    const left = cells.filter((other) => other !== cell);
    this.owner.change({ drawn: (left.length < cells.length ? left : [...cells, cell]).join(",") });
    return true;
  }

  changes() {
    const { data, first, state } = this.owner;
    const list = names(data, state.edits);
    if (list.length > 4) list.splice(3, list.length, say("more", { count: list.length - 3 }));
    const [before, after] = [dropoutIn(first.dropout), dropoutIn(state.dropout)];
    if (before?.p !== after?.p) list.push(say("theDropout"));
    if (before && after && before.seed !== after.seed) list.push(say("theSeed"));
    return list;
  }

  render(shown, given) {
    const { owner, isCompared, mistake } = this;
    const { state } = owner;
    const first = isCompared ? firstDifference(given, shown) : "";
    for (const input of owner.stages) input.parentNode.classList.toggle("ax-differs", input.value === first);
    const said = [];
    if (mistake) said.push(mistake.says);
    if (isCompared) said.push(first ? say("differs", { stage: say(first) }) : say("same"));
    if (mistake?.other && state.edits) said.push(say("computedBefore"));
    if (state.draw) said.push(say("drawHint"));
    this.line.textContent = said.join(" ");
    this.line.hidden = !said.length;
    if (isCompared && !this.other) this.other = this.place(owner.newView());
    if (isCompared) this.other.draw(given, state, shown);
    if (this.other) this.other.box.hidden = !isCompared;
    const captions = mistake ? ["wrong", "right"] : ["now", "original"];
    const pair = isCompared ? this.pairOf(shown, given, state.stage) : null;
    [owner.view, this.other].forEach((view, n) => view && this.label(view, say(captions[n]), pair));
    showTwin(this.twin, state.table ? [twin(shown, state)] : []);
    this.inputs.render();
    if (!this.heads) return;
    this.heads.element.hidden = !owner.shows("heads");
    this.heads.data = shown.data;
    if (owner.shows("heads")) this.heads.draw((head) => this.derive({ ...state, head }), state);
  }

  // Cells that differ are marked in both.
  label(view, caption, pair) {
    view.caption.textContent = caption;
    view.caption.hidden = !pair;
    if (this.owner.isLong) return view.mark(pair);
    return view.cells.forEach((line, i) => {
      const marks = pair ? pair.differing(i) : [];
      line.forEach((cell, j) => cell.classList.toggle("ax-differs", !!marks[j]));
    });
  }

  // The same object as long as nothing of it changes.
  pairOf(shown, given, stage) {
    const old = this.pair;
    if (old?.shown !== shown || old.given !== given || old.stage !== stage) {
      this.pair = { shown, given, stage, differing: (i) => rowsDiffer(given.row(stage, i), shown.row(stage, i)) };
    }
    return this.pair;
  }

  light(place) {
    if (this.isCompared) this.other?.light(place);
  }

  editOf(part, place) {
    return this.inputs.editOf(part, place);
  }

  prepare(where) {
    this.inputs.prepare(where);
  }

  leaf(term, element) {
    this.inputs.leaf(term, element);
  }

  copy() {
    const { owner } = this;
    const url = owner.link(owner.state, owner.first);
    const tell = (...what) => {
      owner.noticeLine.replaceChildren(...what);
      owner.noticeLine.hidden = false;
    };
    const show = () => {
      const input = make("input", { type: "text", class: "ax-number ax-link", readonly: true, value: url, "aria-label": say("copyThis") });
      tell(say("copyThis"), " ", input);
      input.select();
    };
    if (!navigator.clipboard) return show();
    navigator.clipboard.writeText(url).then(() => tell(say("copied")), show);
  }
}

Object.assign(parts, { lab: Lab, philox: survivors });
