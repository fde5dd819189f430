// A link that opens what is shown; of a page that is a file, the end of its address. The button is there in every
// explorer; what it does comes with the first click.

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
  const show = (said, value) => {
    const input = make("input", {
      type: "text",
      class: "ax-number ax-link",
      readonly: true,
      value,
      "aria-label": said,
    });
    tell(said, " ", input);
    input.select();
  };
  // The address of a file on this device leads nobody else anywhere.
  if (!/^https?:/.test(url)) return show(say("sendFile"), new URL(url).hash);
  const showLink = () => show(say("copyThis"), url);
  if (!navigator.clipboard) return showLink();
  navigator.clipboard.writeText(url).then(() => tell(say("copied")), showLink);
  return undefined;
};
