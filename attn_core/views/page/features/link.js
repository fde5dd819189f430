// A link that opens what is shown. Its button is there in every explorer; what it does comes with the first click.

import { parts } from "../core/parts.js";
import { make } from "../ui/dom.js";
import { say } from "../words/words.js";

/** @param {import("../explorer.js").Explorer} explorer */
parts.share = ({ link, state, first, shared }) => {
  const url = link?.(state, first);
  const tell = (...what) => {
    shared.replaceChildren(...what);
    shared.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const input = make("input", {
      type: "text",
      class: "ax-number ax-link",
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
};
