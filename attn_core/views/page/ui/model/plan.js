// The drawing of the machine: what reads beside what writes, each station with its numbers as a strip of ink.

import { say } from "../../words/words.js";
import { make, token } from "../dom.js";
import { isDark, onTheme, paint, shades } from "../pixels.js";
import { fullName, labelOf, titleOf } from "./places.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 * @typedef {import("./places.js").Group} Group
 * @typedef {{ step: Step, group: Group, button: HTMLElement, canvas: HTMLCanvasElement | null, words: HTMLElement | null }} Station
 */

const SVG = "http://www.w3.org/2000/svg";
const MOST_TALL = 104; // pixels of a strip: of more words each gets less
const [LEAST_BAND, MOST_BAND] = [2, 9]; // pixels of a word in a strip

export class Plan {
  /** @type {Map<string, Station>} */
  stations = new Map();

  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {string | null} the station that is pointed at */
    this.pointed = null;
    this.frame = 0;
    this.wires = document.createElementNS(SVG, "svg");
    this.wires.classList.add("am-wires");
    this.wires.setAttribute("aria-hidden", "true");
    const sides = ["read", "write"].map((side) => this.buildSide(side));
    this.element = make("div", { class: "am-plan", role: "group", "aria-label": say("plan") }, ...sides, this.wires);
    this.listen();
    onTheme(this.element, () => this.render());
    new ResizeObserver(() => this.drawWiresSoon()).observe(this.element);
  }

  /** @param {string} side */
  buildSide(side) {
    const own = this.model.groups.filter((group) => group.side === side);
    const head = make("p", { class: "am-head" }, say(side));
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
    const isWords = step.operation === "words";
    const canvas = isWords ? null : make("canvas", { class: "am-ink" });
    const words = isWords ? make("span", { class: "am-bands" }) : null;
    const label = make("span", { class: "am-label" }, labelOf(step));
    const button = make(
      "button",
      { type: "button", class: `am-station am-${step.operation}`, "data-step": step.name },
      label,
      canvas ?? words,
    );
    this.stations.set(step.name, { step, group, button, canvas, words });
    return button;
  }

  listen() {
    const nameAt = ({ target }) => target.closest?.("[data-step]")?.dataset.step ?? null;
    const point = (event) => this.pointAt(nameAt(event), event);
    for (const name of ["pointerover", "focusin"]) this.element.addEventListener(name, point);
    for (const name of ["pointerleave", "focusout"]) this.element.addEventListener(name, () => this.pointAt(null));
    this.element.addEventListener("click", (event) => {
      const name = nameAt(event);
      if (name) this.model.go(name);
    });
  }

  /** @param {string | null} name @param {Event} [event] */
  pointAt(name, event) {
    if (name === this.pointed) return;
    this.pointed = name;
    this.light();
    const station = name && this.stations.get(name);
    const box = station ? station.button.getBoundingClientRect() : null;
    // Who comes by keyboard hears the button's own name.
    const isSeen = station && event?.type === "pointerover";
    this.model.tip.show(isSeen ? box : null, isSeen ? [fullName(station.step, station.group)] : []);
  }

  /** @param {Step} step */
  after(step) {
    return this.model.machine.steps.filter(({ inputs }) => inputs.includes(step));
  }

  // What flows into a station, and where it goes.
  light() {
    const name = this.pointed ?? this.model.state.at;
    const step = this.model.machine.step(name);
    const after = this.after(step);
    for (const { step: each, button } of this.stations.values()) {
      button.classList.toggle("am-from", step.inputs.includes(each));
      button.classList.toggle("am-to", after.includes(each));
      button.classList.toggle("am-chosen", each.name === this.model.state.at);
    }
    this.drawWiresSoon();
  }

  // Once a frame, when all has its place.
  drawWiresSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.drawWires());
  }

  drawWires() {
    if (!this.element.isConnected) return;
    const around = this.element.getBoundingClientRect();
    const step = this.model.machine.step(this.pointed ?? this.model.state.at);
    /** @type {[Step, Step, string][]} */
    const ends = [
      ...step.inputs.map((input) => /** @type {[Step, Step, string]} */ ([input, step, "am-wire-in"])),
      ...this.after(step).map((next) => /** @type {[Step, Step, string]} */ ([step, next, "am-wire-out"])),
    ];
    const paths = ends.map(([from, to, kind]) => {
      const boxes = [from, to].map(({ name }) => this.stations.get(name)?.button.getBoundingClientRect());
      const [[x0, y0], [x1, y1]] = boxes.map((box) => [
        box.left + box.width / 2 - around.left,
        box.top + box.height / 2 - around.top,
      ]);
      const path = document.createElementNS(SVG, "path");
      const bend = Math.abs(y1 - y0) < 12 ? -24 : 0; // in a row it goes above what stands between
      path.setAttribute("d", `M${x0} ${y0} Q${(x0 + x1) / 2} ${(y0 + y1) / 2 + bend} ${x1} ${y1}`);
      path.setAttribute("class", kind);
      return path;
    });
    this.wires.setAttribute("viewBox", `0 0 ${around.width} ${around.height}`);
    this.wires.replaceChildren(...paths);
  }

  render() {
    const { pass, state, machine } = this.model;
    const colours = shades(isDark(this.element) ? "dark" : "light");
    for (const station of this.stations.values()) this.draw(station, colours);
    const row = state.select?.at(-2);
    const { axis } = machine.step(state.at);
    for (const side of this.element.querySelectorAll(".am-side")) {
      const isOwn = side.dataset.side === (axis === "source" ? "read" : "write");
      side.classList.toggle("am-marked", isOwn && row !== undefined && axis !== "one");
      side.style.setProperty("--am-row", String(row ?? 0));
      side.style.setProperty("--am-rows", String(pass.length(state.at)));
    }
    this.light();
  }

  /** @param {Station} station @param {import("../pixels.js").Shades} colours */
  draw({ step, group, button, canvas, words }, colours) {
    const { pass, state } = this.model;
    const rows = pass.length(step.name);
    const isOff = this.model.isOff(step);
    button.classList.toggle("am-off", isOff);
    button.setAttribute("aria-pressed", String(step.name === state.at));
    button.setAttribute("aria-label", `${fullName(step, group)}${isOff ? `, ${say("isOff")}` : ""}`);
    if (words) {
      words.replaceChildren(...pass.labels(step.name).map((label) => token(label, "q")));
      return;
    }
    const numbers = step.operation === "attention" ? this.maps(step, rows) : this.strip(step, rows);
    const { columns, cells, end } = numbers;
    if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
    const band = Math.max(LEAST_BAND, Math.min(MOST_BAND, MOST_TALL / rows));
    canvas.style.height = `${Math.round(rows * band)}px`;
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, columns, rows);
    paint(context, cells, columns, end, colours);
  }

  /** @param {Step} step @param {number} rows */
  strip(step, rows) {
    const { pass } = this.model;
    const columns = step.width;
    const cells = new Float64Array(rows * columns);
    let end = 0;
    for (let t = 0; t < rows; t++) {
      const row = pass.row(step.name, step.stages.at(-1), t);
      cells.set(row, t * columns);
      for (const x of row) if (Math.abs(x) > end) end = Math.abs(x);
    }
    return { columns, cells, end: end || 1 };
  }

  // The weights of all heads side by side, a clear column between two.
  maps(step, rows) {
    const { pass } = this.model;
    const heads = step.settings.num_heads;
    const keys = pass.shape(step.name, "weights")[2];
    const columns = heads * (keys + 1) - 1;
    const cells = new Float64Array(rows * columns).fill(-Infinity);
    for (let head = 0; head < heads; head++) {
      for (let t = 0; t < rows; t++)
        cells.set(pass.row(step.name, "weights", t, head), t * columns + head * (keys + 1));
    }
    return { columns, cells, end: 1 };
  }
}
