// From one explorer to the next by keyboard: a button before each, which shows itself when it has the focus.

import { say } from "../words/words.js";
import { make } from "./dom.js";
import { startNow } from "./waiting.js";

const KINDS = "attention-explorer, attention-model, attention-training, language-model";
const all = () => [...document.querySelectorAll(KINDS)];

/** @param {Element} element an explorer */
export function addSkip(element) {
  if (all().length < 2 || element.querySelector(".ax-skip")) return;
  element.prepend(make("button", { type: "button", class: "ax-skip", onclick: () => skipToNext(element) }));
  nameSkip(element);
}

/**
 * In the language of the explorer, once that is known.
 *
 * @param {Element} element
 */
export function nameSkip(element) {
  const skip = element.querySelector(".ax-skip");
  if (skip) skip.textContent = say(all().at(-1) === element ? "firstFigure" : "nextFigure");
}

function skipToNext(element) {
  const here = all();
  const at = here.indexOf(element);
  const isSeen = (each) => each.getClientRects().length > 0; // not in a fold that is closed
  const next = [...here.slice(at + 1), ...here.slice(0, at)].find(isSeen);
  if (!next) return;
  startNow(next);
  /** @type {HTMLElement | null} */
  const skip = next.querySelector(".ax-skip");
  skip?.focus();
}
