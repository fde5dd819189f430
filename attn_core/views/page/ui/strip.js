// The stages in a row, each the radio button of its stage and a small picture of it.

import { MOST_KEPT } from "../core/data.js";
import { say } from "../words/words.js";
import { make } from "./dom.js";
import { cellsRamp, endsOf } from "./grid.js";
import { heat } from "./heat.js";

const MOST_A_SIDE = 12; // cells of a picture: of more some are drawn
const [LEAST_WIDTH, HEIGHT, MOST_WIDTH] = [0.5, 1, 1.8]; // of a picture, by its height

/** @type {(size: number) => number[]} */
const some = (size) => {
  const count = Math.min(size, MOST_A_SIDE);
  return Array.from({ length: count }, (_, n) => Math.floor(((n + 0.5) * size) / count));
};

/**
 * Cells as a background: a gradient with hard stops for each row, in colours that are light or dark by CSS.
 *
 * @param {HTMLElement} picture
 * @param {number[][]} rows
 * @param {number} end where the colours end
 * @param {number} ratio of width and height
 * @param {import("./heat.js").Ramp} [ramp]
 */
function paint(picture, rows, end, ratio, ramp) {
  const line = (row) =>
    row.map((x, n) => `${Number.isFinite(x) ? heat(x / end, ramp) : "#0000"} 0 ${(100 * (n + 1)) / row.length}%`);
  const last = rows.length - 1 || 1;
  Object.assign(picture.style, {
    backgroundImage: rows.map((row) => `linear-gradient(90deg, ${line(row)})`).join(),
    backgroundPosition: rows.map((_, i) => `0 ${(100 * i) / last}%`).join(),
    // A little higher than its share, so that nothing shines through between two rows.
    backgroundSize: `100% ${100 / rows.length + 0.5}%`,
  });
  picture.style.setProperty("--ax-ratio", `${Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, ratio * HEIGHT))}`);
}

export class Strip {
  /** @type {Record<string, HTMLElement>} */
  pictures = {};

  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.element = make("div", { class: "ax-strip", role: "radiogroup", "aria-label": say("stage") });
    const picture = (name) => (this.pictures[name] = make("i", { class: "ax-mini", hidden: true }));
    this.x = make("span", { class: "ax-given", "aria-hidden": "true", hidden: true }, make("i", {}, "x"), picture("x"));
    this.element.append(this.x);
    const { stages, further } = explorer.data;
    this.turn = make("i", { class: "ax-turn", "aria-hidden": "true" });
    this.inputs = stages.map((stage) => {
      if (stage in further && !this.turn.textContent) {
        this.turn.textContent = say("back");
        this.element.append(this.turn);
      }
      const input = make("input", {
        type: "radio",
        name: `${explorer.id}-stage`,
        value: stage,
        onchange: () => explorer.choose({ stage }),
      });
      const today = stage === explorer.first.stage ? " ax-today" : "";
      const [rows, columns] = explorer.data.axes(stage);
      const kind = columns === "D" || rows === "S" ? ` ax-of-input ax-rows-${rows}` : "";
      const label = make(
        "label",
        { class: `ax-stage${today}${kind}` },
        input,
        make("span", {}, say(stage)),
        picture(stage),
      );
      this.element.append(label);
      return input;
    });
  }

  /**
   * @param {import("../core/attention.js").Attention} shown
   * @param {import("../core/attention.js").Attention} given whose cells give the colours their end, too
   */
  draw(shown, given) {
    const { explorer, pictures } = this;
    const { data, batch, head } = shown;
    const { state, offered } = explorer;
    this.element.hidden = !explorer.shows("strip");
    for (const input of this.inputs) {
      input.checked = input.value === state.stage;
      input.parentElement.hidden = !offered.includes(input.value) && !input.checked;
    }
    const { source, L, S } = data;
    const hasRoom = !this.element.hidden && L * S <= MOST_KEPT;
    const draw = (name, columns, cellsOf, height = L) => {
      const [rows, cols] = [some(height), some(columns)];
      const cells = [shown, given].map((each) => rows.map((i) => cols.map((j) => cellsOf(each, i, j))));
      const { end } = endsOf(cells[0].flat(), cells[1].flat(), 0);
      paint(pictures[name], cells[0], end, columns / height, cellsRamp(data, name));
    };
    for (const { value: stage, parentElement: label } of this.inputs) {
      const isDrawn = hasRoom && !label.hidden && (stage !== "output" || data.hasValues(head));
      pictures[stage].hidden = !isDrawn;
      if (isDrawn) draw(stage, data.columns(stage), (each, i, j) => each.cell(stage, i, j), data.rowsIn(stage));
    }
    this.x.hidden = pictures.x.hidden = !hasRoom || !source;
    if (this.x.hidden || !source) return;
    const width = source.x.shape[2];
    draw("x", width, ({ data: { source: { x } = source } }, i, e) => x.numbers[(batch * L + i) * width + e]);
  }

  /**
   * The row in question, in all pictures of queries.
   *
   * @param {number | null} row
   */
  light(row) {
    this.element.classList.toggle("ax-marked", row !== null);
    if (row === null) return;
    this.element.style.setProperty("--ax-row", String(row));
    this.element.style.setProperty("--ax-rows", String(this.explorer.data.L));
  }
}
