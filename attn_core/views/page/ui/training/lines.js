// Lines of arithmetic, each with what it is.

import { say } from "../../words/words.js";
import { make } from "../dom.js";

/**
 * @param {import("../../core/training/lines.js").Step[]} steps
 * @returns {HTMLElement}
 */
export const listOfLines = (steps) =>
  make(
    "dl",
    { class: "at-lines" },
    ...steps.map(({ key, text, value }) =>
      make(
        "div",
        { class: "at-step-line" },
        make("dt", {}, say(key)),
        make("dd", { "data-number": String(value) }, text),
      ),
    ),
  );
