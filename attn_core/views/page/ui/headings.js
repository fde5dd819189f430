// Titles inside what stands on a page, as headings: with a screen reader one goes from each to the next.

import { make } from "./dom.js";

const USUAL = 3; // of what is not on a page yet
const DEEPEST = 6;

/** A title that looks as its class says. @param {string} look @param {string} [text] */
export const heading = (look, text = "") => make("p", { class: look, role: "heading", "aria-level": USUAL }, text);

let count = 0;

/**
 * A part that is named by its title.
 *
 * @param {string} look
 * @param {HTMLElement} title
 * @param {(Node | string)[]} inside below it
 */
export function part(look, title, ...inside) {
  title.id = `${look}-${++count}`;
  return make("div", { class: look, role: "group", "aria-labelledby": title.id }, title, ...inside);
}

/**
 * Gives the titles in a box the level below the heading that comes before it on the page.
 *
 * @param {Element} box on the page
 */
export function setLevels(box) {
  if (!box.isConnected) return;
  const { DOCUMENT_POSITION_FOLLOWING } = Node;
  const before = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].findLast(
    (each) => each.compareDocumentPosition(box) & DOCUMENT_POSITION_FOLLOWING,
  );
  const level = before ? Math.min(DEEPEST, Number(before.tagName[1]) + 1) : USUAL;
  for (const title of box.querySelectorAll("[role=heading]")) title.setAttribute("aria-level", String(level));
}
