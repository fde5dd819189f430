// Many small pictures on one canvas over their places: for each canvas that a page has, a browser takes time in every
// frame, for 270 of them more than the model takes for a token.

import { make } from "../dom.js";
import { paint, surface } from "../pixels.js";

/** @typedef {{ x: number, y: number, width: number, height: number }} Box in pixels of the canvas */

/**
 * Numbers for so many pixels: each as often as there is place.
 *
 * @param {ArrayLike<number>} numbers
 * @param {number} columns
 * @param {Box} box
 */
function enlarged(numbers, columns, { width, height }) {
  const cells = new Float64Array(width * height);
  const [across, down] = [columns / width, numbers.length / columns / height];
  for (let row = 0, n = 0; row < height; row++) {
    const first = Math.floor((row + 0.5) * down) * columns;
    for (let column = 0; column < width; column++, n++) cells[n] = numbers[first + Math.floor((column + 0.5) * across)];
  }
  return cells;
}

export class Painter {
  /**
   * @param {HTMLElement} sheet holds the places, and the canvas
   * @param {HTMLElement[]} places
   * @param {() => void} onlost all pictures must be painted again
   */
  constructor(sheet, places, onlost) {
    this.sheet = sheet;
    this.places = places;
    this.onlost = onlost;
    this.canvas = make("canvas", { class: "lm-pictures", "aria-hidden": "true" });
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    /** @type {Box[] | null} */
    this.boxes = null;
    const observer = new ResizeObserver(() => this.move());
    for (const element of [sheet, places[0]]) observer.observe(element);
    this.move();
    this.followRatio();
    addEventListener("beforeprint", () => this.part());
    addEventListener("afterprint", () => {
      for (const place of places) place.replaceChildren();
    });
  }

  /** The places are others now. Until they are measured, the canvas must not make the sheet any larger. */
  move() {
    this.boxes = null;
    this.canvas.hidden = true;
    this.onlost();
  }

  /** A page that is zoomed, or on another screen, has other pixels. */
  followRatio() {
    const changed = () => {
      this.move();
      this.followRatio();
    };
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", changed, { once: true });
  }

  /** For paper, where a page may end between two places, each picture goes into its own. */
  part() {
    for (const [n, place] of this.places.entries()) {
      const box = this.boxes?.[n];
      if (!box?.width) continue;
      const { x, y, width, height } = box;
      const context = surface(width, height);
      context.drawImage(this.canvas, x, y, width, height, 0, 0, width, height);
      place.replaceChildren(context.canvas);
    }
  }

  /** @returns {Box[]} */
  measured() {
    const { sheet, canvas, places } = this;
    const { scrollWidth, scrollHeight, scrollLeft, scrollTop, clientLeft, clientTop } = sheet;
    const { left, top } = sheet.getBoundingClientRect();
    const boxes = places.map((place) => place.getBoundingClientRect());
    const ratio = devicePixelRatio;
    const [inX, inY] = [scrollLeft - left - clientLeft, scrollTop - top - clientTop];
    const [width, height] = [scrollWidth, scrollHeight].map((length) => Math.round(length * ratio));
    Object.assign(canvas, { width, height, hidden: false });
    Object.assign(canvas.style, { width: `${scrollWidth}px`, height: `${scrollHeight}px` });
    return boxes.map((box) => {
      const [x, y] = [box.left + inX, box.top + inY].map((length) => Math.floor(length * ratio));
      const [right, bottom] = [box.right + inX, box.bottom + inY].map((length) => Math.ceil(length * ratio));
      return { x, y, width: right - x, height: bottom - y };
    });
  }

  /**
   * @param {number} n which place
   * @param {ArrayLike<number>} numbers from 0 to 1
   * @param {number} columns
   * @param {import("../pixels.js").Shades} colours
   */
  paint(n, numbers, columns, colours) {
    this.boxes ??= this.measured();
    const box = this.boxes[n];
    if (!box.width || !box.height) return;
    paint(this.context, enlarged(numbers, columns, box), box.width, 1, colours, box);
  }

  /** @param {number} n */
  clear(n) {
    if (!this.boxes) return;
    const { x, y, width, height } = this.boxes[n];
    this.context.clearRect(x, y, width, height);
  }
}
