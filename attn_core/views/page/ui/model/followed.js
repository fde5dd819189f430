// The number whose gradients are shown, above the drawing, and the way back from it.

import { fixed } from "../../core/digits.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { numberName } from "./gradients.js";

/** Whose gradients are shown, and the way back to the numbers. */
export class Followed {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    this.said = make("p", {});
    const back = () => model.choose({ loss: "", stage: "", select: null }, true);
    this.element = make(
      "div",
      { class: "am-followed", role: "group", "aria-label": say("gradients") },
      this.said,
      make("button", { type: "button", onclick: back }, say("backToNumbers")),
      make("p", { class: "am-look" }, say("gradientColours")),
    );
  }

  render() {
    const { gradients } = this.model;
    this.element.hidden = !gradients;
    if (!gradients) return;
    const { index, name, pass } = gradients;
    const number = fixed(pass.value(name, index), 4);
    const lead = make(
      "button",
      { type: "button", class: "am-way", onclick: () => this.model.go(name, { select: index }) },
      numberName(name, index),
    );
    this.said.replaceChildren(`${say("gradientsOf")} `, lead, ` = ${number}`);
  }
}
