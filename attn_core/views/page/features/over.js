// Several heads over one another, each in a colour: which ones, and the buttons that choose them.

import { headsBeside } from "../core/layers.js";
import { listOf, textSetting } from "../core/state.js";
import { make } from "../ui/dom.js";
import { say } from "../words/words.js";

const MOST = 16; // heads: eight colours, and the same dashed

const COLOURS = 8; // those after them are dashed

/** The class of a colour. @type {(n: number) => string} */
export const lookOf = (n) => `ax-over-${n % COLOURS}${n < COLOURS ? "" : " ax-dashed"}`;

const numbersIn = (text) => listOf(text).map(Number);

export class Over {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    const { H } = explorer.data;
    const fits = (text) => listOf(text).every((item) => /^\d{1,6}$/.test(item) && Number(item) < H);
    this.settings = H > 1 ? { over: { ...textSetting("", fits, "below", { n: H }), listed: true } } : {};
    this.element = make("div", { class: "ax-over", role: "group", "aria-label": say("over") });
    this.hint = make("p", { class: "ax-hint" }, say("overHint"));
    this.element.addEventListener("click", (event) => this.press(event, event.shiftKey));
    this.element.addEventListener("dblclick", (event) => this.press(event, true));
  }

  /** The heads beside the one that is shown, itself among them. */
  get beside() {
    const { data, state } = this.explorer;
    return headsBeside(data, state.head).slice(0, MOST);
  }

  /**
   * The heads whose lines are drawn, each with the number of its colour; one alone has none.
   *
   * @returns {{ head: number, colour: number }[]}
   */
  get heads() {
    const { state } = this.explorer;
    const wanted = numbersIn(state.over ?? "");
    const found = this.beside.map(({ h }, colour) => ({ head: h, colour })).filter(({ head }) => wanted.includes(head));
    return found.length > 1 && wanted.includes(state.head) ? found : [{ head: state.head, colour: -1 }];
  }

  /**
   * One more or one less; or one alone.
   *
   * @param {MouseEvent} event
   * @param {boolean} isAlone
   */
  press({ target }, isAlone) {
    const button = /** @type {HTMLElement} */ (target).closest("button");
    if (!button) return;
    const { explorer, beside, heads } = this;
    const shown = heads.map(({ head }) => head);
    if (button.dataset.all) {
      const isEvery = shown.length === beside.length;
      explorer.choose({ over: isEvery ? "" : beside.map(({ h }) => h).join(",") });
      return;
    }
    const head = Number(button.dataset.head);
    const left = shown.filter((other) => other !== head);
    const next = isAlone || !left.length ? [head] : left.length < shown.length ? left : [...left, head];
    const chosen = next.includes(explorer.state.head) ? explorer.state.head : next[0];
    explorer.choose({ head: chosen, over: next.length > 1 ? next.join(",") : "" });
  }

  draw() {
    const { beside, element, heads } = this;
    const names = beside.map(({ h }) => h).join();
    if (names !== this.names) {
      this.names = names;
      this.buttons = beside.map(({ h, head }, n) =>
        make(
          "button",
          { type: "button", "data-head": h, title: this.explorer.data.headNames?.[h] },
          make("i", { class: `ax-swatch ${lookOf(n)}` }),
          head,
        ),
      );
      this.all = make("button", { type: "button", "data-all": 1 }, say("overAll"));
      const focused = element.contains(document.activeElement);
      element.replaceChildren(make("span", { class: "ax-label" }, say("over")), ...this.buttons, this.all);
      if (focused) this.buttons[0].focus();
    }
    for (const button of this.buttons) {
      const isShown = heads.some(({ head }) => head === Number(button.dataset.head));
      button.setAttribute("aria-pressed", String(isShown));
      button.classList.toggle("ax-coloured", isShown && heads.length > 1);
    }
    this.all.setAttribute("aria-pressed", String(heads.length === beside.length));
  }
}
