// The numbers as a plain table, for a screen reader or a spreadsheet. They open as in the matrix.

import { fixed } from "./digits.js";
import { make } from "./dom.js";
import { say } from "./words.js";

const MOST_IN_TABLE = 32;

// Of a long axis the part around the selected number.
function range(size, at = 0) {
  const from = Math.max(0, Math.min(at - MOST_IN_TABLE / 2, size - MOST_IN_TABLE));
  return Array.from({ length: Math.min(size, MOST_IN_TABLE) }, (_, n) => from + n);
}

export function twin(attention, { stage, select }) {
  const { data } = attention;
  const isOutput = stage === "output";
  const [rows, columns] = [range(data.L, select?.[0]), range(isOutput ? data.Dv : data.S, select?.[1])];
  const head = (scope, text) => make("th", { scope }, make("bdi", {}, String(text)));
  const about = say("tableOf", { stage: say(stage), columns: say(isOutput ? "columns" : "keys") });
  return make("div", { class: "ax-scroll", tabindex: 0, role: "group", "aria-label": say("table") },
    make("table", { class: "ax-twin" }, make("caption", {}, about),
      make("thead", {}, make("tr", {}, make("td"), ...columns.map((j) => head("col", isOutput ? j : data.keys[j])))),
      make("tbody", {}, ...rows.map((i) => make("tr", {}, head("row", data.queries[i]),
        ...columns.map((j) => make("td", { "data-place": [i, j], class: `${select}` === `${[i, j]}` && "ax-chosen" },
          fixed(attention.cell(stage, i, j), data.places))))))));
}

// Shows the table in a box, or nothing; a reader who has scrolled it stays there.
export function showTwin(box, made) {
  const { scrollLeft = 0, scrollTop = 0 } = box.firstChild || {};
  box.replaceChildren(...made);
  box.firstChild?.scrollTo(scrollLeft, scrollTop);
}

export function listenTwin(box, owner) {
  const placeOf = ({ target }) => target.closest("[data-place]")?.dataset.place.split(",").map(Number) || null;
  box.addEventListener("pointerover", (event) => owner.pointAt(placeOf(event)));
  box.addEventListener("pointerleave", () => owner.pointAt(null));
  box.addEventListener("click", (event) => placeOf(event) && owner.view.onselect(placeOf(event)));
}
