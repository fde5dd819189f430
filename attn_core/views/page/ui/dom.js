// Elements, made in one line. Text from the data reaches the page through textContent alone.

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

/** @type {(text: string, colour: string) => HTMLElement} */
export const token = (text, colour) => make("bdi", { class: `ax-token ax-${colour}` }, text);

/** @param {import("../core/workings.js").Line} line */
export function coloured(line) {
  return line.map(([text, colour]) => (colour ? make("span", { class: `ax-${colour}` }, text) : text));
}
