// What is inside a box is made anew, and whoever had the focus in it keeps it.

const FOCUSABLE = "button, input, select, summary, [tabindex]";

/**
 * The focus stays at the same place of the box; in a box that becomes shorter, at its last.
 *
 * @param {Element} box
 * @param {...(Node | string)} inside
 */
export function refill(box, ...inside) {
  const places = () => [.../** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(FOCUSABLE))];
  const at = places().indexOf(/** @type {HTMLElement} */ (document.activeElement));
  box.replaceChildren(...inside);
  if (at >= 0)
    places()
      .slice(0, at + 1)
      .at(-1)
      ?.focus({ preventScroll: true });
}

/**
 * The same for what is told by a text: as long as that stays, so does what is inside.
 *
 * @param {HTMLElement} box
 * @param {string} key
 * @param {() => (Node | string)[]} make
 */
export function refillFor(box, key, make) {
  if (box.dataset.of === key) return;
  box.dataset.of = key;
  refill(box, ...make());
}
