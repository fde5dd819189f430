// Elements, made in one line. Text from the data reaches the page through textContent alone.

import { parts } from "../core/parts.js";

/**
 * @param {string} tag
 * @param {Record<string, any>} attributes one that begins with "on" is a listener; undefined and false are left out
 * @param {(Node | string)[]} children
 * @returns {any} the element
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/**
 * The same for a picture in lines.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {Node[]} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * A function that acts once for all its calls, when everything that changes now has changed: then the layout is asked
 * for once.
 *
 * @param {() => void} act
 */
export function once(act) {
  let isDue = false;
  return () => {
    if (!isDue)
      queueMicrotask(() => {
        isDue = false;
        act();
      });
    isDue = true;
  };
}

/**
 * What a box holds, which stays if it is the same: then nothing around it needs its place again.
 *
 * @param {Element} box
 * @param {(Node | string)[]} inside
 */
export function fill(box, ...inside) {
  const made = make("p", {}, ...inside);
  if (made.innerHTML !== box.innerHTML) box.replaceChildren(...made.childNodes);
}

/**
 * A token as a reader sees it. The script that writes out blanks is there if a token needs it.
 *
 * @type {(token: string | number) => string}
 */
export const visible = (token) => parts.blanks?.(token) ?? String(token);

/** @type {(text: string, colour: string) => HTMLElement} */
export const token = (text, colour) => make("bdi", { class: `ax-token ax-${colour}` }, visible(text));

/** @type {(text: string | number) => HTMLElement} */
export const bdi = (text) => make("bdi", {}, visible(text));

/**
 * @param {import("../core/workings.js").Line} line
 * @param {() => void} [onclick] of what stands for the terms that the line leaves out
 */
export const coloured = (line, onclick) =>
  line.map(([text, colour]) => {
    if (!colour) return text;
    const isButton = onclick && colour === "rest";
    return make(
      isButton ? "button" : "span",
      { class: `ax-${colour}`, ...(isButton && { type: "button", onclick }) },
      text,
    );
  });
