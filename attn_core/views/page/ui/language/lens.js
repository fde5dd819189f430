// What the model would write next if it ended behind an earlier layer: read from each layer's row of one token.

import { lensOf } from "../../core/language/lens.js";
import { Problem } from "../../core/problem.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { percent } from "../shares.js";
import { shown } from "./pieces.js";

export class Lens {
  /** @param {import("./model.js").LanguageModel} model */
  constructor(model) {
    this.model = model;
    this.asked = "";
    this.list = make("ol", { class: "lm-lens", start: 0 });
    this.about = make("p", { class: "am-look" });
    this.element = make(
      "details",
      { class: "lm-fold", ontoggle: () => this.render() },
      make("summary", {}, say("lens")),
      this.about,
      this.list,
    );
  }

  /** The row of the cell that is selected, or of the last token. */
  get row() {
    const { source, state, tokens } = this.model;
    const { select, open } = state;
    const last = tokens.length - 1;
    if (!source?.isWhole) return last;
    const [, of] = /^(?:lens\.\d+\.)?chances\/(\d+),/.exec(open) ?? [];
    return Math.min(of === undefined ? (select?.[0] ?? last) : Number(of), last);
  }

  async render() {
    const { model } = this;
    this.element.hidden = !model.isDone;
    if (this.element.hidden || !this.element.open) return;
    const { row } = this;
    const asked = `${row} ${model.stamp}`;
    if (asked === this.asked) return;
    this.asked = asked;
    const how = model.source?.isWhole ? say("lensOpens") : "";
    this.about.textContent = say("lensAbout", { token: shown(model.tokens[row]) }) + how;
    try {
      const layers = await model.source?.lens(row);
      if (layers && asked === this.asked)
        this.list.replaceChildren(...layers.map((words, layer) => this.layer(words, layer, row)));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.about.textContent = `${error.message}.`;
    }
  }

  /**
   * @param {import("../../core/language/shares.js").Likely[]} words
   * @param {number} layer
   * @param {number} row
   */
  layer(words, layer, row) {
    const { model } = this;
    const before = layer < model.sizes.layers - 1 ? `${lensOf(layer)}.` : "";
    const buttons = words.map(({ id, piece, chance }) =>
      make(
        "button",
        {
          type: "button",
          class: "lm-lens-word",
          disabled: !model.source?.isWhole,
          onclick: () => model.openNumber(`${before}chances/${row},${id}`),
        },
        make("bdi", {}, shown(piece)),
        make("small", {}, percent(chance)),
      ),
    );
    return make("li", { "aria-label": say("theLayer", { layer }) }, ...buttons);
  }
}
