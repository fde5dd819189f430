// What shows more than a screen has room for: how a long map pools its cells, and all heads at a glance.

import { measuresOf } from "../core/measures.js";
import { parts } from "../core/parts.js";
import { flag, oneOf } from "../core/state.js";
import { setLevels } from "../ui/headings.js";
import { withParts } from "../ui/loading.js";
import { say } from "../words/words.js";
import { Feature } from "./feature.js";

export class Pooling extends Feature {
  static fits(explorer) {
    return Feature.fits(explorer) && "how" in explorer.settings;
  }

  onRequest = ["how"];

  build(controls) {
    controls.pick(
      "how",
      ["max", "mean"].map((how) => [how, say(how)]),
    );
  }
}

export class EveryHead extends Feature {
  static fits(explorer) {
    return Feature.fits(explorer) && explorer.data.H > 1;
  }

  onRequest = ["heads"];

  constructor(explorer) {
    super(explorer);
    this.settings = {
      own: flag,
      sort: oneOf("layer", ["layer", ...measuresOf(explorer.data, !!explorer.payload.runs)]),
    };
  }

  build() {
    if (parts.heads) this.add();
  }

  add() {
    const { explorer } = this;
    this.heads = new parts.heads(explorer.data, !!explorer.payload.runs);
    this.heads.onpick = (head) => explorer.choose({ head });
    this.heads.onown = () => explorer.choose({ own: !explorer.state.own });
    this.heads.onsort = (sort) => explorer.choose({ sort });
    explorer.body.before(this.heads.element, this.heads.opened);
    setLevels(this.heads.opened);
    // Arrow keys go from map to map: only a press asks for the large one.
    this.heads.sheet.addEventListener("click", () => explorer.map.scrollIntoView({ block: "nearest" }));
  }

  // Another explorer of the page may have loaded the further controls, but not the maps of the heads.
  load() {
    const { explorer } = this;
    const act = () => {
      if (!this.heads) this.add();
      explorer.render();
    };
    const fail = ({ message }) => {
      explorer.noticeLine.textContent = `${message}.`;
    };
    withParts(["heads"], act, fail);
  }

  take() {
    this.heads?.forget();
  }

  draw(shown) {
    const { explorer, heads } = this;
    const { state } = explorer;
    const isShown = explorer.shows("heads");
    if (!heads && isShown) this.load();
    if (!heads) return;
    heads.element.hidden = heads.opened.hidden = !isShown;
    heads.data = shown.data;
    if (isShown) heads.draw((head) => explorer.derive({ ...state, head }), state);
  }
}
