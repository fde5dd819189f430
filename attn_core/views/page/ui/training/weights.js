// All weights as colours, a small picture for each matrix. One that is pressed is shown large, and one of its numbers
// opens down to its gradient and what the optimiser remembered of those before.

import { fixed } from "../../core/digits.js";
import { digits, updateLines } from "../../core/training/lines.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { heading, part } from "../headings.js";
import { named } from "./controls.js";
import { listOfLines } from "./lines.js";
import { coloursOf, largest, picture, show } from "./maps.js";

/** How a matrix is called here. @param {string} name */
function nameOf(name) {
  const [, layer, matrix] = /^layers\.(\d+)\.attention\.(\w+)\.weight$/.exec(name) ?? [];
  return matrix ? say(`tr_matrix_${matrix}`, { layer }) : say(`tr_matrix_${name.split(".")[0]}`);
}

export class Weights {
  /** @param {import("./view.js").TrainingView} view */
  constructor(view) {
    this.view = view;
    this.title = heading("at-title");
    this.sheet = make("div", { class: "at-sheet" });
    this.heat = make(
      "select",
      { "aria-label": say("tr_heatOf"), onchange: () => view.choose({ heat: this.heat.value }) },
      ...["value", "gradient"].map((value) => make("option", { value }, say(`tr_heat_${value}`))),
    );
    this.name = make("p", { class: "at-matrix-name" });
    this.large = picture({ class: "at-map at-large", role: "img", onclick: (event) => this.press(event) });
    this.cursor = make("div", { class: "at-cursor", "aria-hidden": "true" });
    const number = (word, axis) =>
      make("input", {
        type: "number",
        class: "ax-number at-place",
        min: 0,
        "aria-label": say(word),
        oninput: () => this.move(axis),
      });
    this.inputs = [number("tr_row", 0), number("tr_column", 1)];
    this.number = make("p", { class: "at-weight" });
    this.lines = make("div");
    this.open = make(
      "div",
      { class: "at-open", hidden: true },
      make("div", { class: "at-large-box" }, this.large, this.cursor),
      make(
        "div",
        { class: "at-opened" },
        this.name,
        make("div", { class: "at-settings" }, named("tr_row", this.inputs[0]), named("tr_column", this.inputs[1])),
        this.number,
        this.lines,
      ),
    );
    this.element = part(
      "at-part",
      this.title,
      make("div", { class: "at-settings" }, make("span", { class: "at-hint" }, say("tr_weightsHint")), this.heat),
      this.sheet,
      this.open,
    );
  }

  /** Another training has other matrices. */
  build() {
    const { parameters, weightCount } = this.view;
    this.title.textContent = say("tr_weights", { count: weightCount.toLocaleString("en") });
    this.pictures = parameters.map(({ name }) => {
      const canvas = picture({ "aria-hidden": "true" });
      const button = make(
        "button",
        { type: "button", class: "at-matrix", onclick: () => this.choose(name) },
        canvas,
        make("span", {}, nameOf(name)),
      );
      return { name, canvas, button };
    });
    this.sheet.replaceChildren(...this.pictures.map(({ button }) => button));
  }

  /** The matrix and the place that are chosen, if this training has them. */
  get chosen() {
    const { state, parameters } = this.view;
    const [name, place] = state.weight.split("/");
    const parameter = parameters.find((each) => each.name === name);
    if (!parameter) return null;
    const [row, column] = place.split(",").map((text, axis) => Math.min(Number(text), parameter.shape[axis] - 1));
    return { parameter, row, column };
  }

  /** As the worker is asked for it. */
  get place() {
    const { chosen } = this;
    return chosen && { name: chosen.parameter.name, row: chosen.row, column: chosen.column };
  }

  /** @param {string} name */
  choose(name) {
    const isOpen = this.chosen?.parameter.name === name;
    this.view.choose({ weight: isOpen ? "" : `${name}/0,0` });
  }

  /** @param {number} axis */
  move(axis) {
    const { chosen, inputs } = this;
    const value = Number(inputs[axis].value);
    if (!chosen || inputs[axis].value === "" || !Number.isInteger(value) || value < 0) return;
    const place = [chosen.row, chosen.column];
    place[axis] = Math.min(value, chosen.parameter.shape[axis] - 1);
    this.view.choose({ weight: `${chosen.parameter.name}/${place}` });
  }

  /** @param {MouseEvent} event */
  press(event) {
    const { chosen, large } = this;
    if (!chosen) return;
    const { left, top, width, height } = large.getBoundingClientRect();
    const [rows, columns] = chosen.parameter.shape;
    const at = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
    const row = at((event.clientY - top) / height, rows);
    const column = at((event.clientX - left) / width, columns);
    this.view.choose({ weight: `${chosen.parameter.name}/${row},${column}` });
  }

  paint() {
    const { view, chosen } = this;
    const { numbers, state, root, parameters } = view;
    this.heat.value = state.heat;
    const all = state.heat === "gradient" ? numbers?.gradient : numbers?.weights;
    const colours = coloursOf(root);
    for (const [n, { canvas, button, name }] of this.pictures.entries()) {
      button.setAttribute("aria-pressed", String(name === chosen?.parameter.name));
      const { start, end, shape } = parameters[n];
      const part = all ? all.subarray(start, end) : new Float64Array(end - start);
      show(canvas, part, shape[1], largest(part), colours);
    }
    this.open.hidden = !chosen;
    if (!chosen) return;
    const { parameter, row, column } = chosen;
    const [rows, columns] = parameter.shape;
    const part = all ? all.subarray(parameter.start, parameter.end) : new Float64Array(rows * columns);
    const most = largest(part);
    show(this.large, part, columns, most, colours);
    this.large.style.aspectRatio = `${columns} / ${rows}`;
    Object.assign(this.cursor.style, {
      left: `${(100 * column) / columns}%`,
      top: `${(100 * row) / rows}%`,
      width: `${100 / columns}%`,
      height: `${100 / rows}%`,
    });
    this.name.textContent = parameter.name;
    for (const [axis, input] of this.inputs.entries()) {
      input.max = String(parameter.shape[axis] - 1);
      const value = String([row, column][axis]);
      if (input.value !== value && (document.activeElement !== input || input.value !== "")) input.value = value;
    }
    if (!view.isRunning) {
      const said = { name: nameOf(parameter.name), rows, columns, most: fixed(most, 2) };
      this.large.setAttribute("aria-label", say("tr_matrixAlt", said));
    }
    this.tell();
  }

  /** The opened weight. */
  tell() {
    const { chosen } = this;
    const { weight } = this.view;
    // Another one may be on its way.
    if (!weight || !chosen || JSON.stringify(weight.place) !== JSON.stringify(this.place)) return;
    const { parameter, row, column } = chosen;
    this.number.textContent = say("tr_weightNow", { name: parameter.name, row, column, number: digits(weight.value) });
    this.number.dataset.number = String(weight.value);
    if (!weight.made) {
      this.lines.replaceChildren(make("p", { class: "at-hint" }, say("tr_weightNotMade")));
      return;
    }
    this.lines.replaceChildren(
      make("p", { class: "at-hint" }, say("tr_weightMade", { step: weight.step })),
      listOfLines(updateLines(weight.made)),
    );
  }
}
