// What is pointed at, told beside it. The panel is about the selected number alone.

import { make } from "./dom.js";

const GAP = 6; // pixels between the tip and what it is about
/** @type {Tip | null} */
let shown = null;

// Wherever the focus is, and before a matrix keeps its keys to itself.
addEventListener("keydown", ({ key }) => key === "Escape" && shown?.hide(), true);

export class Tip {
  /** @param {HTMLElement} root in which it has its place */
  constructor(root) {
    this.root = root;
    // A cell says by itself what it is: nobody is read this twice.
    this.element = make("p", { class: "ax-tip", "aria-hidden": "true", hidden: true });
    root.append(this.element);
  }

  /**
   * Above a box of the page, or below it where there is no room; hidden without one.
   *
   * @param {{ left: number, right: number, top: number, bottom: number } | null | undefined} box
   * @param {(Node | string)[]} inside
   */
  show(box, inside) {
    const { element, root } = this;
    element.hidden = !box;
    if (!box) return;
    shown = this;
    element.replaceChildren(...inside);
    const [own, around] = [element, root].map((each) => each.getBoundingClientRect());
    const left = (box.left + box.right - own.width) / 2 - around.left;
    const above = box.top - around.top - own.height - GAP;
    const hasRoom = box.top - own.height > GAP && above > -own.height;
    element.style.left = `${Math.max(0, Math.min(left, around.width - own.width - 2))}px`;
    element.style.top = `${hasRoom ? above : box.bottom - around.top + GAP}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}
