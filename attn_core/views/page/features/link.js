// A link that opens what is shown.

import { make } from "../ui/dom.js";
import { say } from "../words/words.js";
import { Feature } from "./feature.js";

export class Link extends Feature {
  onRequest = ["link"];

  build(controls) {
    if (!this.explorer.link) return;
    controls.box("link", "", make("button", { type: "button", onclick: () => this.copy() }, say("link")));
  }

  copy() {
    const { link, state, first, noticeLine } = this.explorer;
    const url = link?.(state, first);
    const tell = (...what) => {
      noticeLine.replaceChildren(...what);
      noticeLine.hidden = false;
    };
    const show = () => {
      const input = make("input", {
        type: "text",
        class: "ax-number",
        readonly: true,
        value: url,
        "aria-label": say("copyThis"),
      });
      tell(say("copyThis"), " ", input);
      input.select();
    };
    if (!navigator.clipboard) return show();
    navigator.clipboard.writeText(url).then(() => tell(say("copied")), show);
    return undefined;
  }
}
