// One Tab stop for many buttons: the arrow keys go from one to the next that lies that way.

/** @typedef {{ x: number, y: number }} Point the middle of a button */

// What a step aside counts: little on the way down, so that the next row comes before the one behind it; much
// along a row. What lies farther aside than `widest` steps ahead is another way, if there is any other.
const ACROSS = { sideways: 6, widest: 0.4 };
const DOWN = { sideways: 0.4, widest: 3 };
const OTHER_WAY = 1e6;

/**
 * The place in the list to which a key leads, -1 if it leads nowhere.
 *
 * @param {string} key
 * @param {Point[]} points
 * @param {number} from
 */
export function nextPlace(key, points, from) {
  if (key === "Home") return 0;
  if (key === "End") return points.length - 1;
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const way = ways[/** @type {keyof typeof ways} */ (key)];
  if (!way) return -1;
  const [dx, dy] = way;
  const { sideways, widest } = dx ? ACROSS : DOWN;
  let [best, least] = [-1, Infinity];
  for (const [n, { x, y }] of points.entries()) {
    const [across, down] = [x - points[from].x, y - points[from].y];
    const ahead = across * dx + down * dy;
    const aside = Math.abs(across * dy) + Math.abs(down * dx);
    const far = ahead + sideways * aside + (aside > widest * ahead ? OTHER_WAY : 0);
    if (ahead > 1 && far < least) [best, least] = [n, far];
  }
  return best;
}

/** @param {Element} element */
const middleOf = (element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
};

export class Roving {
  /**
   * @param {HTMLElement} box
   * @param {HTMLElement[]} buttons
   */
  constructor(box, buttons) {
    this.buttons = buttons;
    for (const button of buttons) button.tabIndex = -1;
    this.stopAt(buttons[0]);
    box.addEventListener("focusin", ({ target }) => {
      if (buttons.includes(/** @type {HTMLElement} */ (target))) this.stopAt(/** @type {HTMLElement} */ (target));
    });
    box.addEventListener("keydown", (event) => {
      const from = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
      if (from < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      const to = nextPlace(event.key, buttons.map(middleOf), from);
      if (to < 0 && !event.key.startsWith("Arrow")) return;
      event.preventDefault();
      buttons[to]?.focus();
    });
  }

  /** @param {HTMLElement} button where Tab leads */
  stopAt(button) {
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = button;
    button.tabIndex = 0;
  }
}
