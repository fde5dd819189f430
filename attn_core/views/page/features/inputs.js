// The inputs as tables: each number and each token a cell that can be changed. The same numbers at
// the ends of the arithmetic are such cells too.

import { SIDES } from "../core/data.js";
import { plain } from "../core/digits.js";
import { edited, editText, inputsOf, named, names, numberAt, placeIn, shapeOf, tokensOf } from "../core/edits.js";
import { numberIn } from "../core/numbers.js";
import { parts } from "../core/parts.js";
import { listOf, textSetting } from "../core/state.js";
import { visible } from "../core/visible.js";
import { keptTerms } from "../core/workings.js";
import { bdi, make } from "../ui/dom.js";
import { moved } from "../ui/grid.js";
import { say } from "../words/words.js";
import { Change } from "./feature.js";

const [MOST_ROWS, MOST_COLUMNS] = [16, 32];
const [STILL, STEP] = [4, 2]; // pixels: less is a click; so far apart lie two numbers of a drag
const ROLES = {
  q: "q",
  k: "k",
  v: "v",
  w_query: "q",
  w_key: "k",
  w_value: "v",
  b_query: "q",
  b_key: "k",
  b_value: "v",
};

export class Inputs extends Change {
  // Of two runs at once there is no input to change, and no other original.
  static fits(explorer) {
    return Change.fits(explorer) && !explorer.payload.runs;
  }

  /** @type {string | undefined} the changes that `data` have */
  edits;
  onRequest = ["inputs"];
  isAsked = false; // by the button *Change a number*
  /** @type {{ edit: string, x: number, from: number, at: number, isMoved: boolean } | null} */
  dragged = null;

  constructor(explorer) {
    super(explorer);
    this.data = explorer.data;
    const fits = (text) => edited(explorer.data, text);
    this.settings = { edits: { ...textSetting("", fits, "editForm"), listed: true, alters: true } };
  }

  build() {
    const { explorer } = this;
    this.tables = make("div", { class: "ax-inputs-tables" });
    this.element = make(
      "details",
      { class: "ax-inputs", ontoggle: () => this.draw() },
      make("summary", {}, say("inputs")),
      make("p", { class: "ax-hint" }, say("inputsHint")),
      this.tables,
    );
    this.element.open = (explorer.data.view.show || []).includes("inputs");
    explorer.root.append(this.element);
    const cellOf = ({ target }) => target.closest?.("[data-edit]");
    const listen = (name, act) => explorer.root.addEventListener(name, act);
    listen("click", (event) => {
      const isDrag = this.dragged?.isMoved;
      this.dragged = null;
      if (cellOf(event) && !isDrag) this.open(cellOf(event));
    });
    listen("pointerdown", (event) => this.grab(event, cellOf(event)));
    listen("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) listen(name, () => this.drop());
    listen("keydown", (event) => cellOf(event) === event.target && this.key(event));
  }

  take() {
    this.edits = this.of = undefined;
  }

  derive(made, { edits }) {
    const { data } = made; // of one sequence, if each has its own tokens
    if (this.edits !== edits || this.of !== data) {
      [this.edits, this.of, this.data] = [edits, data, edits ? edited(data, edits) : data];
    }
    return { ...made, data: this.data };
  }

  changes(list) {
    const { data, state } = this.explorer;
    const own = names(data, state.edits);
    if (own.length > 4) own.splice(3, own.length, say("more", { count: own.length - 3 }));
    return [...own, ...list];
  }

  get isShown() {
    return this.isAsked || this.explorer.shows("inputs");
  }

  // The reader wants to change a number: the tables open, at the token that is looked at.
  begin() {
    const { explorer, tables } = this;
    this.isAsked = this.element.open = true;
    explorer.render();
    const [i = 0] = explorer.state.select ?? [];
    const row = tables.querySelectorAll("tr")[i] ?? tables.querySelector("tr");
    const cell = row?.querySelector("td[data-edit]");
    cell?.scrollIntoView({ block: "nearest" });
    cell?.focus({ preventScroll: true });
  }

  // A number that is dragged to the right grows, by hundredths, or by tenths if it is whole.
  grab(event, cell) {
    this.dragged = null;
    const { edit } = cell?.dataset ?? {};
    if (!edit || event.button || !this.isNumber(edit) || event.target.matches("input")) return;
    const [name, ...place] = placeIn(edit);
    const from = numberAt(this.current, name, place);
    this.dragged = { edit, x: event.clientX, from, at: from, isMoved: false };
  }

  drag(event) {
    const { dragged, explorer } = this;
    if (!dragged || !event.buttons) return;
    const far = event.clientX - dragged.x;
    if (!dragged.isMoved) {
      if (Math.abs(far) < STILL) return;
      dragged.isMoved = true;
      // The cell is drawn anew with each number; the explorer stays.
      explorer.root.setPointerCapture(event.pointerId);
      explorer.root.classList.add("ax-drags");
    }
    const step = Number.isInteger(dragged.from) ? 0.1 : 0.01;
    const at = Number((dragged.from + Math.round(far / STEP) * step).toFixed(6));
    if (at === dragged.at) return;
    const [next, [why]] = explorer.accept({ edits: this.changed(dragged.edit, String(at)) });
    if (why) return;
    dragged.at = at;
    explorer.enter(next);
  }

  // The address is written once, at the end.
  drop() {
    const { explorer, dragged } = this;
    explorer.root.classList.remove("ax-drags");
    if (dragged?.isMoved) explorer.choose({});
  }

  // The numbers as they are, without a mistake.
  get current() {
    const { explorer } = this;
    return explorer.attention(explorer.unspoiled(explorer.state)).data;
  }

  inputAt(part, [b, h, i, d]) {
    const { data } = this.explorer;
    const [first] = inputsOf(data);
    if (data.source || !this.isShown) return undefined;
    return first === "x" ? `x.${b}.${i}.${d}` : `${part}.${b}.${data.placeOf(part, h)}.${i}.${d}`;
  }

  // The inputs that a line at the end of the arithmetic is written with, in their order there.
  inputsIn({ name, index: [i, d], most, head = this.explorer.state.head }) {
    const {
      data,
      state: { batch },
    } = this.explorer;
    const { source } = data;
    if (!source) {
      const columns = d === undefined ? keptTerms(data[name].shape[3], most) : [d];
      return columns.map((n) => this.inputAt(name, [batch, head, i, n]) ?? "");
    }
    const [side, column] = [SIDES[name], data.headOf(name, head) * data[name].shape[3] + d];
    const terms = keptTerms(source.x.shape[2], most);
    const pairs = terms.flatMap((e) => [`x.${batch}.${i}.${e}`, `w_${side}.${e}.${column}`]);
    return source[`b_${side}`] ? [...pairs, `b_${side}.${column}`] : pairs;
  }

  // Makes the inputs in such a line cells: one stop for the Tab key, arrows move along it.
  leafDrawn(term, line) {
    const { explorer } = this;
    const side = term.name.replace("projected_", "");
    if (!(side in SIDES) || !this.isShown) return;
    const data = this.current;
    // After its name and the sign: numbers, and what stands between them.
    const numbers = [...line.childNodes].slice(2).filter(({ textContent }) => /^\(?-?\d/.test(textContent));
    this.inputsIn({ ...term, name: side }).forEach((edit, n) => {
      const [name, ...place] = placeIn(edit);
      const [x, was] = [data, explorer.data].map((each) => numberAt(each, name, place));
      const cell = make("span", {
        class: x === was ? "ax-edit" : "ax-edit ax-changed",
        title: x === was ? undefined : say("was", { value: plain(was) }),
        role: "button",
        tabindex: n ? -1 : 0,
        "data-edit": edit,
        "aria-label": `${named(data, name, place)} = ${plain(x)}`,
      });
      numbers[n].replaceWith(cell);
      cell.append(numbers[n]);
    });
  }

  draw() {
    const { explorer, tables } = this;
    this.element.hidden = !this.isShown;
    if (this.element.hidden || !this.element.open || tables.querySelector("input:focus")) return;
    const { activeElement } = document;
    const { edit } =
      activeElement instanceof HTMLElement && tables.contains(activeElement) ? activeElement.dataset : {};
    const nth = edit ? this.cellsOf(edit).indexOf(activeElement) : 0;
    const [data, given] = [this.current, explorer.data];
    const isHeld = (name) => !(name in SIDES) || given.placeOf(name, explorer.state.head) >= 0;
    const held = inputsOf(given).filter(isHeld);
    tables.replaceChildren(...held.map((name) => this.table(name, data, given)));
    this.prepare(tables);
    if (edit) this.focus(edit, nth);
  }

  /**
   * An input may stand in several places: in the tables, beside the matrix, in the arithmetic.
   *
   * @returns {any[]}
   */
  cellsOf(edit) {
    return [...this.explorer.root.querySelectorAll(`[data-edit="${edit}"]`)];
  }

  focus(edit, nth) {
    const cells = this.cellsOf(edit);
    const cell = cells[nth] || cells[0];
    if (!cell) return;
    cell.tabIndex = 0;
    cell.focus();
  }

  table(name, data, given) {
    const { batch, head, select } = this.explorer.state;
    const shape = shapeOf(given, name);
    const isBias = shape.length === 1;
    const isMatrix = name.startsWith("w_");
    const lead = isMatrix || isBias ? [] : name === "x" ? [batch] : [batch, given.placeOf(name, head)];
    const [rows, columns] = isBias ? [1, shape[0]] : shape.slice(-2);
    // Of a projection the columns of the head that is shown.
    const role = ROLES[name] ?? "q";
    const width = isMatrix || isBias ? columns / data.headsOf(role) : columns;
    const left = isMatrix || isBias ? data.headOf(role, head) * width : 0;
    const at = select ? select[name === "k" || name === "v" ? 1 : 0] : 0;
    const top = isMatrix ? 0 : Math.max(0, Math.min(at - MOST_ROWS / 2, rows - MOST_ROWS));
    const count = Math.min(rows, MOST_ROWS);
    const side = name === "k" || name === "v" ? "keys" : "queries";
    const lines = Array.from({ length: count }, (_, n) => top + n).map((i) => {
      const cells = Array.from({ length: Math.min(width, MOST_COLUMNS) }, (_, d) => {
        const place = [...lead, ...(isBias ? [] : [i]), left + d];
        const [x, was] = [data, given].map((each) => numberAt(each, name, place));
        const more = x === was ? {} : { class: "ax-changed", title: say("was", { value: plain(was) }) };
        return make("td", { "data-edit": [name, ...place].join("."), ...more }, plain(x));
      });
      const label = isMatrix ? i : data[side][i];
      const token = isMatrix || isBias ? {} : { "data-edit": `${tokensOf(given).length > 1 ? side : "tokens"}.${i}` };
      const head = isBias ? make("td") : make("th", { scope: "row", ...token }, bdi(label));
      return make("tr", {}, head, ...cells);
    });
    const isPart = count < rows || width > MOST_COLUMNS;
    const caption = make("caption", { class: `ax-${ROLES[name] || "name"}` }, name);
    if (isPart) caption.append(` · ${say("part", { size: `${rows} × ${width}` })}`);
    return make(
      "div",
      { class: "ax-scroll" },
      make("table", { class: "ax-input" }, caption, make("tbody", {}, ...lines)),
    );
  }

  vectorsDrawn(element) {
    this.prepare(element);
  }

  // One stop for the Tab key in each table; arrows move in it.
  prepare(where) {
    for (const table of where.querySelectorAll("table")) {
      const cells = [...table.querySelectorAll("[data-edit]")];
      if (!cells.length) continue;
      table.setAttribute("role", "grid");
      for (const cell of cells) {
        cell.tabIndex = -1;
        cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "gridcell");
      }
      cells[0].tabIndex = 0;
    }
  }

  key(event) {
    const cell = event.target;
    const table = cell.closest("table");
    const rows = table
      ? Array.from(table.rows, ({ cells }) => [...cells])
      : [[...cell.parentNode.querySelectorAll("[data-edit]")]];
    const row = rows.findIndex((cells) => cells.includes(cell));
    const next = moved(event, [row, rows[row].indexOf(cell)], [rows.length, rows[row].length]);
    const isText = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!next && !isText) return;
    event.preventDefault();
    if (isText || event.key === "Enter" || event.key === " ") return this.open(cell, isText ? event.key : null);
    const to = rows[next[0]][next[1]];
    if (!to?.dataset.edit) return;
    cell.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  open(cell, text = null) {
    if (cell.querySelector("input")) return;
    const { edit } = cell.dataset;
    const before = [...cell.childNodes];
    const isInLine = cell.matches(".ax-edit"); // a button, which may hold no field: the field replaces it
    const input = make("input", {
      type: "text",
      class: "ax-number",
      value: text ?? cell.textContent.replace(isInLine ? /[()]/g : "", ""),
      "aria-label": edit,
      onkeydown: (event) => {
        event.stopPropagation();
        if (event.key === "Escape") leave();
        else if (event.key === "Enter") apply();
      },
      onblur: () => input.isConnected && apply(),
    });
    const note = make("p", { class: "ax-notice", role: "alert", hidden: true });
    const where = cell.closest("table")?.parentNode || cell.parentNode;
    const nth = this.cellsOf(edit).indexOf(cell);
    let isOpen = true;
    const leave = () => {
      isOpen = false;
      const hasFocus = document.activeElement === input;
      if (isInLine) input.replaceWith(cell);
      else cell.replaceChildren(...before);
      note.remove();
      if (hasFocus) cell.focus();
    };
    const apply = () => {
      if (!isOpen) return;
      if (input.value === input.defaultValue && !this.isNumber(edit)) return leave();
      const text = input.value.trim();
      const [, [why]] = this.explorer.accept({ edits: this.changed(edit, text) });
      note.hidden = !why;
      note.textContent = why ? `${why}.` : "";
      input.setAttribute("aria-invalid", String(!!why));
      if (why) return;
      const isHere = document.activeElement === input;
      leave();
      this.explorer.choose({ edits: this.changed(edit, this.isNumber(edit) ? String(numberIn(text)) : text) });
      if (isHere) this.focus(edit, nth);
    };
    if (isInLine) cell.replaceWith(input);
    else cell.replaceChildren(input);
    where.append(note);
    input.focus();
    if (text === null) input.select();
    else input.setSelectionRange(1, 1); // after the first character typed
  }

  isNumber(edit) {
    return inputsOf(this.explorer.data).includes(placeIn(edit)[0]);
  }

  // The changes with one more. A number that is set to what it was is a change no more.
  changed(edit, text) {
    const { data, state } = this.explorer;
    const [name, ...place] = placeIn(edit);
    const others = listOf(state.edits).filter((item) => !item.startsWith(`${edit}:`));
    const was = this.isNumber(edit)
      ? numberAt(data, name, place)
      : (name === "keys" ? data.keys : data.queries)[place[0]];
    const isWas = this.isNumber(edit)
      ? numberIn(text) === was || plain(Number(was)) === text
      : text === was || text === visible(was);
    return [...others, ...(isWas ? [] : [editText(name, place, text)])].join(",");
  }
}

/** @param {import("../explorer.js").Explorer} explorer */
parts.change = (explorer) => {
  if (!explorer.features.length) explorer.open(explorer.state);
  const inputs = explorer.features.find((feature) => feature instanceof Inputs);
  if (inputs instanceof Inputs) inputs.begin();
};
