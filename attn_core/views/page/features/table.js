// The numbers as a plain table, for a screen reader or a spreadsheet. They open as in the matrix.

import { fixed } from "../core/digits.js";
import { flag } from "../core/state.js";
import { bdi, make } from "../ui/dom.js";
import { about } from "../ui/grid.js";
import { say } from "../words/words.js";
import { Feature } from "./feature.js";

const MOST_IN_TABLE = 32;

// Of a long axis the part around the selected number.
function range(size, at = 0) {
  const from = Math.max(0, Math.min(at - MOST_IN_TABLE / 2, size - MOST_IN_TABLE));
  return Array.from({ length: Math.min(size, MOST_IN_TABLE) }, (_, n) => from + n);
}

/**
 * @param {import("../core/attention.js").Attention} attention
 * @param {import("../core/state.js").State} state
 */
function tableOf(attention, { stage, select }) {
  const { data } = attention;
  const [rows, columns] = [range(data.rowsIn(stage), select?.[0]), range(data.columns(stage), select?.[1])];
  const head = (scope, text) => make("th", { scope }, bdi(text));
  const cell = (i, j) => {
    const isChosen = `${select}` === `${[i, j]}`;
    const number = fixed(attention.cell(stage, i, j), data.places);
    return make("td", { "data-place": [i, j], class: isChosen && "ax-chosen" }, number);
  };
  const [downNames, acrossNames] = [data.rowNames(stage), data.columnNames(stage)];
  const top = make("tr", {}, make("td"), ...columns.map((j) => head("col", acrossNames[j])));
  const lines = rows.map((i) => make("tr", {}, head("row", downNames[i]), ...columns.map((j) => cell(i, j))));
  return make(
    "div",
    { class: "ax-scroll", tabindex: 0, role: "group", "aria-label": say("table") },
    make(
      "table",
      { class: "ax-twin" },
      make("caption", {}, about(data, stage)),
      make("thead", {}, top),
      make("tbody", {}, ...lines),
    ),
  );
}

export class Table extends Feature {
  settings = { table: flag };
  onRequest = ["table"];

  build(controls) {
    const { explorer } = this;
    controls.box("table", "", controls.toggle("table"));
    this.box = make("div");
    explorer.map.append(this.box);
    const placeOf = ({ target }) => target.closest("[data-place]")?.dataset.place.split(",").map(Number) || null;
    const boxOf = (place) => this.box.querySelector(`[data-place="${place}"]`)?.getBoundingClientRect();
    this.box.addEventListener("pointerover", (event) => explorer.pointAt(placeOf(event), undefined, { boxOf }));
    this.box.addEventListener("pointerleave", () => explorer.pointAt(null));
    this.box.addEventListener("click", (event) => placeOf(event) && explorer.view.onselect(placeOf(event)));
  }

  // A reader who has scrolled the table stays there.
  draw(shown) {
    const { state } = this.explorer;
    const { scrollLeft = 0, scrollTop = 0 } = this.box.firstChild || {};
    this.box.replaceChildren(...(state.table ? [tableOf(shown, state)] : []));
    this.box.firstChild?.scrollTo(scrollLeft, scrollTop);
  }
}
