// The drawing of the machine: what reads beside what writes, each station with its numbers as a strip of ink.

import { say } from "../../words/words.js";
import { make, token } from "../dom.js";
import { heading } from "../headings.js";
import { GRADIENT_HEAT } from "../heat.js";
import { isDark, onTheme, shades } from "../pixels.js";
import { distance, ink } from "./ink.js";
import { fullName, labelOf, titleOf } from "./places.js";
import { Roving } from "./roving.js";
import { Wires } from "./wires.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 * @typedef {import("./places.js").Group} Group
 *
 * @typedef {object} Station
 * @property {Step} step
 * @property {Group} group
 * @property {HTMLElement} button
 * @property {HTMLElement} strip with the canvas and the rows that are marked; of words with the words
 * @property {HTMLCanvasElement | null} canvas
 * @property {{ rows: unknown, colours: unknown } | null} inked whose rows the strip shows, and in which colours
 * @property {HTMLElement} change how far its numbers are from those with everything on
 *
 * @typedef {{ name: string, row?: number, head?: number }} Pointed a station that is pointed at, and which row of it
 */

const LEAST_CHANGE = 1e-9; // of a share: below it two strips hold the same numbers

/** Only what differs: a page has many stations. @type {(element: Element, name: string, text: string) => void} */
function set(element, name, text) {
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Rows that follow each other, as the first and how many. @type {(rows: number[]) => [number, number][]} */
function runs(rows) {
  /** @type {[number, number][]} */
  const pairs = [];
  for (const row of rows) {
    const last = pairs.at(-1);
    if (last && last[0] + last[1] === row) last[1]++;
    else pairs.push([row, 1]);
  }
  return pairs;
}

export class Plan {
  /** @type {Map<string, Station>} */
  stations = new Map();

  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Pointed | null} */
    this.pointed = null;
    this.element = make("div", {
      class: "am-plan",
      role: "toolbar",
      "aria-label": say("plan"),
      hidden: !model.hasPlan,
    });
    if (!model.hasPlan) return;
    this.element.append(...["read", "write"].map((side) => this.buildSide(side)));
    this.wires = new Wires(this.element);
    this.roving = new Roving(
      this.element,
      [...this.stations.values()].map(({ button }) => button),
    );
    this.listen();
    /** @type {string} light or dark, once it is asked for */
    this.mode = "";
    onTheme(this.element, () => {
      this.mode = "";
      this.render();
    });
  }

  /** @param {string} side */
  buildSide(side) {
    const own = this.model.groups.filter((group) => group.side === side);
    const head = heading("am-head", say(side));
    return make("div", { class: "am-side", "data-side": side }, head, ...own.map((group) => this.buildGroup(group)));
  }

  /** @param {Group} group */
  buildGroup(group) {
    const title = titleOf(group);
    const inside = make("div", { class: "am-stations" }, ...group.steps.map((step) => this.buildStation(step, group)));
    if (!title) return make("div", { class: "am-group" }, inside);
    return make(
      "div",
      { class: "am-group am-layer", role: "group", "aria-label": title },
      make("p", { class: "am-title", "aria-hidden": "true" }, title),
      inside,
    );
  }

  /** @param {Step} step @param {Group} group */
  buildStation(step, group) {
    const { isOfWords } = step.kind;
    const canvas = isOfWords ? null : make("canvas", { class: "am-ink" });
    const shown = canvas && make("span", { class: "am-shown" }, canvas);
    const strip = make("span", { class: isOfWords ? "am-bands" : "am-strip" }, shown ?? "");
    const change = make("i", { class: "am-change" });
    const button = make(
      "button",
      { type: "button", class: `am-station am-${step.operation}`, "data-step": step.name },
      make("span", { class: "am-label" }, labelOf(step)),
      " ",
      strip,
      isOfWords ? "" : change,
    );
    this.stations.set(step.name, { step, group, button, canvas, strip, change, inked: null });
    return button;
  }

  listen() {
    const nameAt = ({ target }) => target.closest?.("[data-step]")?.dataset.step ?? null;
    const point = (event) => {
      const name = nameAt(event);
      this.point(name && { name, row: this.rowAt(name, event) }, event);
    };
    for (const name of ["pointerover", "pointermove", "focusin"]) this.element.addEventListener(name, point);
    for (const name of ["pointerleave", "focusout"]) this.element.addEventListener(name, () => this.point(null));
    this.element.addEventListener("click", (event) => {
      const name = nameAt(event);
      if (name) this.model.go(name);
    });
  }

  /** The row of a strip that a pointer is at. @param {string} name @param {any} event */
  rowAt(name, { clientY }) {
    const { canvas } = this.stations.get(name);
    const box = canvas?.parentElement.getBoundingClientRect();
    if (clientY === undefined || !box || clientY < box.top || clientY >= box.bottom) return undefined;
    return Math.floor((this.model.pass.length(name) * (clientY - box.top)) / box.height);
  }

  /**
   * A station that is pointed at, in the drawing or anywhere else; null for none.
   *
   * @param {Pointed | null} pointed
   * @param {Event} [event] of the drawing itself
   */
  point(pointed, event) {
    const said = JSON.stringify(pointed);
    if (said === JSON.stringify(this.pointed)) return;
    this.pointed = pointed;
    this.light();
    const station = pointed && this.stations.get(pointed.name);
    // Who comes by keyboard hears the button's own name.
    const isSeen = station && event && event.type !== "focusin";
    if (!isSeen) return this.model.tip.hide();
    const word = pointed.row === undefined ? "" : this.model.pass.labels(pointed.name)[pointed.row];
    const name = fullName(station.step, station.group);
    const told = word ? [make("b", {}, word), `\u2002${name}`] : [name];
    return this.model.tip.show(station.button.getBoundingClientRect(), told);
  }

  /** @param {Step} step */
  after(step) {
    return this.model.machine.steps.filter(({ inputs }) => inputs.includes(step));
  }

  // What flows into a station, and where it goes; of a row, the rows that it is made of.
  light() {
    const { model } = this;
    if (!model.hasPlan) return;
    const { at } = model.state;
    const { name, row: wanted, head } = this.pointed ?? { name: at, ...model.selectedRow() };
    const step = model.machine.step(name);
    // The words may have become fewer under a pointer that rests.
    const row = wanted < model.pass.length(name) ? wanted : undefined;
    const after = this.after(step);
    const fed = new Map(row === undefined ? [] : step.kind.madeOf(model.pass, step, row, head));
    for (const { step: each, button, strip } of this.stations.values()) {
      button.classList.toggle("am-from", step.inputs.includes(each));
      button.classList.toggle("am-to", after.includes(each));
      const isOfRow = row !== undefined && each.axis === step.axis && each.axis !== "one";
      this.mark(each, strip, isOfRow ? [row] : [], fed.get(each) ?? []);
    }
    const of = (each) => this.stations.get(each.name).button;
    this.wires.join([
      ...step.inputs.map((input) => /** @type {[Element, Element, string]} */ ([of(input), of(step), "am-wire-in"])),
      ...after.map((next) => /** @type {[Element, Element, string]} */ ([of(step), of(next), "am-wire-out"])),
    ]);
  }

  /**
   * The word that is pointed at in a strip, and the rows that its number is made of.
   *
   * @param {Step} step
   * @param {HTMLElement} strip
   * @param {number[]} own
   * @param {number[]} fed
   */
  mark({ name, kind }, strip, own, fed) {
    const marks = [...runs(fed).map((run) => [run, "am-fed"]), ...runs(own).map((run) => [run, "am-own"])];
    const rows = this.model.pass.length(name);
    const key = `${marks}/${rows}`;
    if (strip.dataset.marks === key) return;
    strip.dataset.marks = key;
    if (kind.isOfWords) {
      for (const [n, word] of [...strip.children].entries()) word.classList.toggle("am-own", own.includes(n));
      return;
    }
    for (const mark of strip.querySelectorAll(".am-mark")) mark.remove();
    for (const [[first, count], kind] of /** @type {[number[], string][]} */ (marks)) {
      const mark = make("i", { class: `am-mark ${kind}` });
      mark.style.top = `${(100 * first) / rows}%`;
      mark.style.height = `${(100 * count) / rows}%`;
      strip.append(mark);
    }
  }

  render() {
    const { state, gradients } = this.model;
    this.mode ||= isDark(this.element) ? "dark" : "light";
    const colours = gradients ? shades(this.mode, GRADIENT_HEAT) : shades(this.mode);
    for (const station of this.stations.values()) this.draw(station, colours);
    this.roving.stopAt(this.stations.get(state.at).button);
    this.light();
  }

  /** @param {Station} station @param {import("../pixels.js").Shades} colours */
  draw(station, colours) {
    const { step, group, button, canvas, strip, change } = station;
    const { gradients, pass, plain, state } = this.model;
    const isOff = this.model.isOff(step);
    const far = plain ? distance(pass, plain, step) : 0;
    const isOther = far > LEAST_CHANGE;
    button.classList.toggle("am-off", isOff);
    // What is seen on a station is heard of it: its words, where it shows words.
    const words = canvas ? "" : pass.labels(step.name).join(" ");
    const more = [words, isOff && say("isOff"), isOther && say("isOther")].filter(Boolean);
    set(button, "aria-pressed", String(step.name === state.at));
    set(button, "aria-label", [fullName(step, group), ...more].join(", "));
    change.hidden = !plain;
    change.style.width = `${Math.min(100, 100 * far)}%`;
    // Rows that a pass took over from one before are painted already.
    const rows = gradients ?? pass.kept[step.at];
    if (station.inked?.rows === rows && station.inked.colours === colours) return;
    station.inked = { rows, colours };
    if (canvas) return ink(canvas, pass, step, colours, gradients);
    strip.dataset.marks = "anew";
    return strip.replaceChildren(...pass.labels(step.name).flatMap((label) => [token(label, "q"), " "]));
  }
}
