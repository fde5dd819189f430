// The chosen layer number by number: an explorer of its attention, and below it what comes back to the chosen score.

import { Problem } from "../../core/problem.js";
import { dataOf } from "../../core/training/head.js";
import { backLines } from "../../core/training/lines.js";
import { Explorer } from "../../explorer.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { heading, part } from "../headings.js";
import { listOfLines } from "./lines.js";

// What the training decides, not the explorer of one of its layers: there it would change one map alone.
const HIDDEN = ["scale", "mask", "inputs", "link", "all", "head", "batch"];
const HEARD = 200; // milliseconds after which a reader of the screen has looked at what changed
const SHOWN = ["scores", "scaled", "masked", "weights", "output"]; // nothing drops out

export class Head {
  /** @param {import("./view.js").TrainingView} view */
  constructor(view) {
    this.view = view;
    this.title = heading("at-title");
    this.place = make("div", { class: "am-explorer" });
    this.back = make("div", { class: "at-returns" });
    this.hint = make("p", { class: "at-hint" });
    this.element = part("at-part", this.title, this.hint, this.place, this.back);
    this.timer = 0;
    for (const event of ["click", "keydown"]) this.place.addEventListener(event, () => this.sayAgain(), true);
  }

  /** What the reader chooses is said, right behind a step, too. */
  sayAgain() {
    clearTimeout(this.timer);
    this.explorer?.panel.sentence.setAttribute("aria-live", "polite");
  }

  /** The open number comes into sight once it is there. */
  show() {
    this.isWanted = !this.explorer;
    this.explorer?.comeIntoSight();
  }

  /** Another training: its text or its mask may be another one. */
  forget() {
    this.explorer = null;
    this.place.replaceChildren();
  }

  /** What an explorer must be made anew for. */
  get form() {
    const { view } = this;
    return JSON.stringify([view.tokens, view.state.mask]);
  }

  paint() {
    const { view } = this;
    const { numbers, layer, state, tokens, isBroken } = view;
    this.title.textContent = say("tr_headOf", { layer, step: numbers.count });
    this.hint.textContent = say(isBroken ? "tr_overflowedNow" : "tr_headHint");
    this.place.hidden = !numbers || isBroken;
    if (this.place.hidden) {
      this.back.replaceChildren();
      return;
    }
    const pass = numbers.pass.layers[layer];
    const shape = { width: pass.q.length / tokens.length, isMasked: state.mask };
    const data = dataOf(pass, tokens, shape, { hide: HIDDEN, stages: SHOWN, places: 2 });
    try {
      this.draw(data);
    } catch (error) {
      // Numbers that are finite may have scores that are not.
      if (!(error instanceof Problem)) throw error;
      this.forget();
      this.hint.textContent = say("tr_overflowedNow");
    }
    this.tell();
  }

  /** @param {import("../../core/data.js").Data} data */
  draw(data) {
    const { view, form } = this;
    const { select } = view.state;
    const stage = this.explorer?.state.stage ?? "weights";
    const wanted = { stage, select };
    if (this.explorer && form === this.shown) {
      const { sentence } = this.explorer.panel;
      // The training says each step; of the open number only what the reader chooses is said.
      if (String(select) === String(this.explorer.state.select)) sentence.setAttribute("aria-live", "off");
      this.explorer.take(data, wanted);
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.sayAgain(), HEARD);
      return;
    }
    this.shown = form;
    this.place.replaceChildren();
    const chosen = (/** @type {any} */ { select: place }) => {
      if (String(place) === String(view.state.select)) return;
      view.row = place ? place[0] : view.row;
      view.choose({ select: place });
    };
    const payload = { data, name: `${view.id}-layer` };
    this.explorer = new Explorer(this.place, payload, { start: wanted, chosen });
    if (this.isWanted) this.show();
  }

  /** What comes back to the chosen score. */
  tell() {
    const { numbers, layer, state, tokens } = this.view;
    const { select } = state;
    const isOutput = this.explorer?.state.stage === "output";
    const key = JSON.stringify([select, layer, isOutput, numbers.stamp]);
    if (key === this.told) return;
    this.told = key;
    if (!select || isOutput) {
      this.back.replaceChildren();
      return;
    }
    const [row, column] = select;
    const of = { query: tokens[row], row, key: tokens[column], column };
    const gradients = numbers.gradients.layers[layer];
    const isHidden = state.mask && column > row;
    const lines = backLines(numbers.pass.layers[layer], gradients, tokens.length, select);
    const way = Math.sign(lines[2].value);
    const says = isHidden ? "tr_backMasked" : way < 0 ? "tr_backUp" : way > 0 ? "tr_backDown" : "tr_backNone";
    this.back.replaceChildren(
      make("p", {}, say("tr_backOf", of)),
      ...(isHidden ? [] : [listOfLines(lines)]),
      make("p", {}, say(says)),
    );
  }
}
