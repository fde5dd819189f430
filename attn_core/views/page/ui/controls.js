// The controls above the matrix: each a box of fields that reads and shows a part of the state.

import { plain } from "../core/digits.js";
import { maskJson } from "../core/masks.js";
import { say } from "../words/words.js";
import { make } from "./dom.js";

/** @type {(label: string, act: () => void, more?: Record<string, any>) => HTMLInputElement} */
export const field = (label, act, more) =>
  make("input", { type: "text", class: "ax-number", "aria-label": say(label), onchange: act, ...more });

export class Controls {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    const { data } = explorer;
    this.explorer = explorer;
    this.updates = []; // functions of the state, each of which brings a field up to date
    this.element = make("div", { class: "ax-controls" });
    this.all = this.toggle("all", { class: "ax-all" });
    this.last = make("div", { class: "ax-control" }, this.all);
    this.element.append(this.last);
    this.addScale();
    this.addMask(data.keepJson ? ["given", "none", "causal", "window"] : ["given", "causal", "window"]);
    const numbered = (size) => Array.from({ length: size }, (_, n) => [n, n]);
    if (data.B > 1) this.pick("batch", numbered(data.B));
    if (data.H > 1) this.pick("head", data.headNames?.map((name, n) => [n, name]) || numbered(data.H));
  }

  /**
   * @param {string} name
   * @param {string} title
   * @param {(Node | string)[]} inside
   */
  box(name, title, ...inside) {
    const label = make("span", { class: "ax-label", "aria-hidden": "true" }, title);
    const made = make(
      "div",
      { class: "ax-control", "data-control": name, role: "group", "aria-label": say(name) },
      label,
      ...inside,
    );
    this.last.before(made);
    return made;
  }

  /**
   * @param {string} name of a setting that is true or false
   * @param {Record<string, any>} more
   */
  toggle(name, more) {
    const act = () => this.explorer.choose({ [name]: !this.explorer.state[name] });
    const made = make("button", { type: "button", onclick: act, ...more }, say(name));
    this.updates.push((state) => made.setAttribute("aria-pressed", String(state[name])));
    return made;
  }

  /**
   * @param {string} name of a setting
   * @param {any[][]} options each a value and a text
   */
  pick(name, options) {
    const select = make(
      "select",
      { "aria-label": say(name), onchange: () => this.explorer.choose({ [name]: select.value }) },
      ...options.map(([value, text]) => make("option", { value }, String(text))),
    );
    this.updates.push((state) => (select.value = state[name]));
    return this.box(name, say(name), select);
  }

  /**
   * A field keeps a text that can't be taken as long as it has the focus.
   *
   * @param {HTMLInputElement} input
   * @param {string} text
   */
  fill(input, text) {
    if (!this.explorer.notice || document.activeElement !== input) input.value = text;
  }

  addScale() {
    const { explorer } = this;
    const { D, scale: given } = explorer.data;
    const slider = make("input", {
      type: "range",
      min: 0,
      max: Math.max(2, Math.ceil(2 * Math.abs(given))),
      step: 0.01,
      "aria-label": say("scale"),
      oninput: () => explorer.choose({ scale: Number(slider.value) }),
    });
    const text = field("scaleNumber", () => explorer.choose({ scale: text.value }), { inputmode: "decimal" });
    this.updates.push(({ scale }) => {
      slider.value = scale;
      slider.setAttribute("aria-valuetext", plain(scale));
      this.fill(text, plain(scale));
    });
    const set = (words, scale, more) =>
      make("button", { type: "button", onclick: () => explorer.choose({ scale }), ...more }, words);
    this.box(
      "scale",
      say("scale"),
      slider,
      text,
      set("1/√D", 1 / Math.sqrt(D)),
      set("1", 1, { "aria-label": say("scaleOne") }),
    );
  }

  // `maskFields` has fields for the numbers of a kind of mask: an element, its text and what shows it.
  addMask(kinds) {
    const { explorer } = this;
    const { keepJson } = explorer.data;
    const named = (kind) =>
      kind === "given" && !keepJson
        ? say("noneGiven")
        : kind
            .split("+")
            .map((part) => say(part))
            .join(" + ");
    const option = (kind) => make("option", { value: kind }, named(kind));
    const select = make("select", { "aria-label": say("mask"), onchange: () => this.readMask() }, ...kinds.map(option));
    this.addMasks = (...more) => select.append(...more.map(option));
    const size = (label, value) =>
      field(label, () => this.readMask(), { type: "number", min: 0, max: 999999, value, class: "ax-number ax-short" });
    const [before, after] = [size("keysBefore", 1), size("keysAfter", 0)];
    const wholeNumber = ({ value }) => Math.max(0, Math.min(999999, Math.floor(Number(value)) || 0));
    this.maskFields = {
      window: {
        box: make("span", { class: "ax-window" }, before, ` ${say("before")} `, after, ` ${say("after")}`),
        text: () => `${wholeNumber(before)},${wholeNumber(after)}`,
        show: (json) => ([before.value, after.value] = [json.before, json.after]),
      },
    };
    const chosen = (part) => (this.maskFields[part] ? `${part}:${this.maskFields[part].text()}` : part);
    this.readMask = () => explorer.choose({ mask: select.value.split("+").map(chosen).join("+") });
    this.updates.push(({ mask }) => {
      if (explorer.notice) return; // what could not be taken stays to be mended
      const kind = mask === "none" && !keepJson ? "given" : mask.replace(/:[\d,]+/g, "");
      if (![...select.options].some(({ value }) => value === kind)) select.append(option(kind));
      select.value = kind;
      for (const [name, { box, show }] of Object.entries(this.maskFields)) {
        const part = mask.split("+").find((each) => each.startsWith(name));
        box.hidden = !part;
        if (part) show(maskJson(part));
      }
    });
    this.maskBox = this.box("mask", say("mask"), select, this.maskFields.window.box);
  }

  render() {
    const { explorer } = this;
    for (const box of this.element.querySelectorAll("[data-control]"))
      box.hidden = !explorer.shows(box.dataset.control);
    for (const show of this.updates) show(explorer.state);
    this.all.hidden = explorer.hides("all");
  }
}
