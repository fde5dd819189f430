// What shows more than a screen has room for: how a long map pools its cells, and all heads at a glance.

import { parts } from "../core/parts.js";
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

  build() {
    const { explorer } = this;
    this.heads = new parts.heads(explorer.data);
    this.heads.onpick = (head) => explorer.choose({ head });
    explorer.body.before(this.heads.element);
  }

  draw(shown) {
    const { explorer, heads } = this;
    const { state } = explorer;
    heads.element.hidden = !explorer.shows("heads");
    heads.data = shown.data;
    if (explorer.shows("heads")) heads.draw((head) => explorer.derive({ ...state, head }), state);
  }
}
