// One explorer: it holds the state and draws the parts.

import { MEANINGS, STAGES } from "./words.js";
import { fixed, plain } from "./digits.js";
import { Data, Problem } from "./data.js";
import { Attention, maskJson } from "./attention.js";
import { Workings } from "./workings.js";
import { Grid, isLong, moved } from "./grid.js";
import { parts } from "./parts.js";
import { heat } from "./heat.js";
import { coloured, make, token } from "./dom.js";

let count = 0; // radio groups and labels need names of their own

export class Explorer {
  // `changed` is told what the reader changed; `start` is what differs from the payload's view.
  constructor(host, payload, { start = {}, changed = () => {} } = {}) {
    this.data = new Data(payload);
    this.id = `ax-${++count}`;
    this.changed = changed;
    this.isPrint = payload.form === "tensor";
    this.payload = payload;
    const { stage = "weights", batch = 0, head = 0, select = null } = this.data.view;
    const { scale } = this.data;
    this.isLong = isLong(this.data.L, this.data.S, this.data.Dv);
    // A long map opens at the selected number, near enough to read it.
    const at = this.isLong && select ? [...select.map((n) => Math.max(0, n - 3)), 10] : null;
    this.first = { stage, batch, head, scale, mask: "given", select, all: false, at };
    this.state = { ...this.first };
    this.point = null;
    this.notice = "";
    this.build(host);
    this.set(start);
  }

  get columns() {
    return this.state.stage === "output" ? this.data.Dv : this.data.S;
  }

  // Raises one sentence if a value can't be taken; else the value as it is kept.
  check(name, value, stage) {
    const { data } = this;
    const whole = (n, below) => Number.isInteger(n) && n >= 0 && n < below;
    const fail = (must) => {
      throw new Problem(`${name} must be ${must}, got ${value}`);
    };
    if (name === "stage" && !STAGES.includes(value)) fail(`one of ${STAGES.join(", ")}`);
    if (name === "batch" && !whole(value, data.B)) fail(`a whole number below ${data.B}`);
    if (name === "head" && !whole(value, data.H)) fail(`a whole number below ${data.H}`);
    if (name === "scale" && !Number.isFinite(value)) fail("a number");
    if (name === "mask" && !/^(given|none|causal|window:\d{1,6},\d{1,6})$/.test(value)) {
      fail("given, none, causal or window:2,0");
    }
    if (name === "at" && value !== null) {
      const fits = value.length === 3 && whole(value[0], data.L) && value.slice(1).every((n) => whole(n, 1e6));
      if (!fits) fail("a row, a column and a count of columns");
    }
    if (name === "select" && value !== null) {
      const width = stage === "output" ? data.Dv : data.S;
      const fits = value.length === 2 && whole(value[0], data.L) && whole(value[1], width);
      if (!fits) fail(`a row below ${data.L} and a column below ${width}`);
    }
    return value;
  }

  // What the outside wants (an address, Python): what can't be taken is said, the rest is shown.
  set(wanted) {
    const refused = [];
    const next = { ...this.state };
    const order = Object.keys(wanted).sort((a) => (a === "stage" ? -1 : 0));
    for (const name of order) {
      try {
        if (!Object.hasOwn(this.first, name)) throw new Problem(`there is no setting called ${name}`);
        next[name] = this.check(name, wanted[name], next.stage);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push(error.message);
      }
    }
    this.notice = refused.length ? `Not taken: ${refused.join("; ")}. The rest is shown.` : "";
    this.state = next;
    this.keepInside();
    this.render();
  }

  // What the reader does.
  change(patch) {
    this.notice = "";
    Object.assign(this.state, patch);
    this.keepInside();
    this.render();
    this.changed(this.state, this.first);
  }

  keepInside() {
    const { state, data } = this;
    const inside = ([i, j]) => [Math.min(i, data.L - 1), Math.min(j, this.columns - 1)];
    if (state.select) state.select = inside(state.select);
    if (this.point) this.point = inside(this.point);
  }

  build(host) {
    const live = { role: "status", "aria-live": "polite" };
    this.strip = make("div", { class: "ax-strip", role: "radiogroup", "aria-label": "Stage" });
    this.formula = make("p", { class: "ax-formula" });
    this.controls = make("div", { class: "ax-controls" });
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    this.grid = this.isPrint ? null : this.buildGrid();
    this.print = this.isPrint && this.buildPrint();
    const drawn = this.isPrint ? make("div", { class: "ax-scroll" }, this.print) : this.grid.element;
    this.legend = make("div", { class: "ax-legend" });
    this.sentence = make("p", { class: "ax-sentence", ...live });
    this.hint = make("p", { class: "ax-hint" });
    this.vectors = make("div", { class: "ax-vectors", role: "group", "aria-label": "vectors" });
    this.tree = make("div", { class: "ax-tree" });
    this.close = make("button", { type: "button", class: "ax-close", onclick: () => this.leave() }, "close");
    this.close.setAttribute("aria-label", "Close the arithmetic");
    const panel = make("div", { class: "ax-panel" }, this.close, this.sentence, this.hint, this.vectors, this.tree);
    const map = make("div", { class: "ax-map" }, drawn);
    if (!this.isPrint) map.append(this.legend);
    const body = make("div", { class: "ax-body" }, map, panel);
    const label = this.isPrint ? `${this.state.stage}, a printed tensor` : "Attention explorer";
    const kind = this.isPrint ? "ax-root ax-tensor" : "ax-root";
    this.root = make("div", { class: kind, role: "group", "aria-label": label, lang: "en" });
    if (this.isPrint) this.root.append(body);
    else {
      this.buildStrip();
      this.buildControls();
      this.root.append(make("div", { class: "ax-top" }, this.strip, this.formula, this.controls), this.noticeLine, body);
    }
    this.listen();
    host.append(this.root);
    this.root.addEventListener("scroll", this.fade, true);
    new ResizeObserver(this.fade).observe(this.root);
  }

  buildGrid() {
    const grid = this.isLong ? new parts.map(this.data) : new Grid(this.data);
    grid.onpoint = (place) => this.pointAt(place);
    grid.onselect = (select) => this.change({ select });
    grid.onview = (at) => this.change({ at });
    return grid;
  }

  buildStrip() {
    this.stageInputs = STAGES.map((stage) => {
      const input = make("input", {
        type: "radio", name: `${this.id}-stage`, value: stage, onchange: () => this.change({ stage }),
      });
      const today = stage === this.first.stage ? " ax-today" : "";
      this.strip.append(make("label", { class: `ax-stage${today}` }, input, make("span", {}, stage)));
      return input;
    });
  }

  buildControls() {
    const { data, first } = this;
    const control = (name, title, ...inside) => {
      const box = make("div", { class: "ax-control", "data-control": name, role: "group", "aria-label": title });
      box.append(make("span", { class: "ax-label", "aria-hidden": "true" }, title), ...inside);
      this.controls.append(box);
    };
    const button = (text, act, more = {}) => make("button", { type: "button", onclick: act, ...more }, text);
    const most = Math.max(2, Math.ceil(2 * Math.abs(first.scale)));
    this.scaleSlider = make("input", {
      type: "range", min: 0, max: most, step: 0.01, "aria-label": "scale",
      oninput: () => this.change({ scale: Number(this.scaleSlider.value) }),
    });
    this.scaleNumber = make("input", {
      type: "text", inputmode: "decimal", class: "ax-number", "aria-label": "scale as a number",
      onchange: () => this.readScale(),
    });
    control("scale", "scale", this.scaleSlider, this.scaleNumber,
      button("1/√D", () => this.change({ scale: 1 / Math.sqrt(data.D) }), { title: `1/√${data.D}` }),
      button("1", () => this.change({ scale: 1 }), { "aria-label": "scale 1" }));
    const choices = [["given", data.keepJson ? "as given" : "none (as given)"], ["none", "none"]];
    choices.push(["causal", "causal"], ["window", "window"]);
    if (!data.keepJson) choices.splice(1, 1);
    this.maskSelect = make("select", { "aria-label": "mask", onchange: () => this.readMask() },
      ...choices.map(([value, text]) => make("option", { value }, text)));
    const place = (label) => make("input", {
      type: "number", min: 0, max: 999, value: label === "before" ? 1 : 0, class: "ax-number ax-short",
      "aria-label": `keys ${label}`, onchange: () => this.readMask(),
    });
    [this.before, this.after] = [place("before"), place("after")];
    this.windowBox = make("span", { class: "ax-window" }, this.before, " before ", this.after, " after");
    control("mask", "mask", this.maskSelect, this.windowBox);
    const pick = (name, size) => {
      const options = Array.from({ length: size }, (_, n) => make("option", { value: n }, String(n)));
      const select = make("select", { "aria-label": name }, ...options);
      select.addEventListener("change", () => this.change({ [name]: Number(select.value) }));
      if (size > 1) control(name, name, select);
      return select;
    };
    this.batchSelect = pick("batch", data.B);
    this.headSelect = pick("head", data.H);
    this.reset = button("reset", () => this.change({ ...first, all: this.state.all }), { class: "ax-reset" });
    this.all = button("all controls", () => this.change({ all: !this.state.all }), { class: "ax-all" });
    this.controls.append(make("div", { class: "ax-control" }, this.reset, this.all));
  }

  readScale() {
    const text = this.scaleNumber.value.trim();
    const value = Number(text);
    if (text !== "" && Number.isFinite(value)) return this.change({ scale: value });
    this.notice = `The scale must be a number, got ${text || "nothing"}.`;
    this.render();
  }

  readMask() {
    const kind = this.maskSelect.value;
    const size = (input) => Math.max(0, Math.min(999999, Math.floor(Number(input.value)) || 0));
    this.change({ mask: kind === "window" ? `window:${size(this.before)},${size(this.after)}` : kind });
  }

  // torch's own text, each of its numbers a target. Long axes are printed by their ends.
  buildPrint() {
    const { data, payload } = this;
    const text = payload.text;
    const width = this.data.view.stage === "output" ? data.Dv : data.S;
    const shape = [...(payload.lead || []), data.L, width];
    const isCut = shape.reduce((a, b) => a * b, 1) > 1000;
    let places = [[]];
    for (const size of shape) {
      const ends = isCut && size > 6;
      const axis = ends ? [0, 1, 2, size - 3, size - 2, size - 1] : [...Array(size).keys()];
      places = places.flatMap((place) => axis.map((index) => [...place, index]));
    }
    const end = text.lastIndexOf("]") + 1;
    const parts = text.slice(0, end).split(/(-?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]\d+)?))/);
    const print = make("pre", { class: "ax-print", role: "group", "aria-label": "The tensor's numbers" });
    this.prints = [];
    if (parts.length !== 2 * places.length + 1) places = null;
    parts.forEach((part, n) => {
      if (n % 2 === 0 || !places) return print.append(part);
      const place = places[(n - 1) / 2];
      const [i, j] = place.slice(-2);
      const flat = place.slice(0, -2).reduce((at, index, axis) => at * shape[axis] + index, 0);
      const cell = make("span", {
        class: "ax-cell", role: "button", tabindex: -1, "data-row": i, "data-col": j,
        "data-batch": Math.floor(flat / data.H), "data-head": flat % data.H,
      }, part);
      this.prints.push(cell);
      print.append(cell);
    });
    print.append(text.slice(end));
    if (this.prints.length) this.prints[0].tabIndex = 0;
    return print;
  }
  listen() {
    // A notebook would take plain keys for its own commands.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
      if (event.key === "Escape" && this.state.select) this.leave();
    });
    if (!this.isPrint) return;
    const cellOf = (event) => event.target.closest && event.target.closest("[data-col]");
    const listen = (name, act) => this.print.addEventListener(name, act);
    for (const name of ["pointerover", "focusin"]) listen(name, (event) => this.pointPrint(cellOf(event)));
    for (const name of ["pointerleave", "focusout"]) listen(name, () => this.pointPrint(null));
    listen("click", (event) => cellOf(event) && this.selectPrint(cellOf(event)));
    listen("keydown", (event) => {
      const cell = cellOf(event);
      const place = cell && this.placeOf(cell);
      const next = place && moved(event, place, [this.data.L, this.columns]);
      if (!next) return;
      event.preventDefault();
      if (next === place) this.selectPrint(cell);
      else this.stepPrint(cell, event.key, next);
    });
  }

  placeOf(cell) {
    return [Number(cell.dataset.row), Number(cell.dataset.col)];
  }

  // In a printed tensor: the neighbour in the row, or the number above or below.
  stepPrint(cell, key, [i, j]) {
    const { batch, head } = cell.dataset;
    const at = this.prints.indexOf(cell);
    const isAt = (c) => c.dataset.batch === batch && c.dataset.head === head;
    const next = key === "ArrowLeft" ? this.prints[at - 1]
      : key === "ArrowRight" ? this.prints[at + 1]
      : this.prints.find((c) => isAt(c) && c.dataset.row === String(i) && c.dataset.col === String(j));
    if (!next) return;
    this.setPrintStop(next);
    next.focus();
  }

  setPrintStop(cell) {
    for (const other of this.prints) other.tabIndex = other === cell ? 0 : -1;
    this.focused = cell;
  }

  pointPrint(cell) {
    if (cell) this.pointed = { batch: Number(cell.dataset.batch), head: Number(cell.dataset.head) };
    this.pointAt(cell && this.placeOf(cell));
  }

  selectPrint(cell) {
    this.setPrintStop(cell);
    this.change({ select: this.placeOf(cell), batch: Number(cell.dataset.batch), head: Number(cell.dataset.head) });
  }

  pointAt(place) {
    if (String(place) === String(this.point) && !this.isPrint) return;
    this.point = place;
    this.light();
    this.renderVectors();
  }

  leave() {
    this.deselect();
    if (this.isPrint ? this.focused : this.grid) (this.isPrint ? this.focused : this.grid).focus();
  }

  deselect() {
    this.change({ select: null });
  }

  attention(settings) {
    const { batch, head, scale, mask } = settings;
    const name = [batch, head, scale, mask].join();
    if (!this.made) this.made = new Map();
    if (!this.made.has(name)) {
      if (this.made.size > 3) this.made.clear();
      this.made.set(name, new Attention(this.data, settings));
    }
    return this.made.get(name);
  }

  render() {
    if (!this.isPrint) {
      this.renderControls();
      const { state, first } = this;
      const given = this.attention({ ...first, batch: state.batch, head: state.head });
      const ends = this.grid.draw(this.attention(state), state, given);
      this.root.classList.toggle("ax-wide", this.isLong || this.columns > 8);
      this.renderLegend(ends);
    }
    this.light();
    this.renderPanel();
    this.renderVectors();
  }

  // A box that goes on to the right says so by its edge.
  fade = () => {
    for (const box of this.root.querySelectorAll(".ax-scroll, .ax-vectors")) {
      box.classList.toggle("ax-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
    }
  };

  renderControls() {
    const { state, first, data } = this;
    const hide = state.all ? [] : data.view.hide || [];
    const stages = (!state.all && data.view.stages) || STAGES;
    this.stageInputs.forEach((input) => {
      input.checked = input.value === state.stage;
      input.parentNode.hidden = !stages.includes(input.value) && input.value !== state.stage;
    });
    this.strip.hidden = hide.includes("strip");
    // A hidden stage is named only if it changes something.
    const does = { scaled: state.scale !== 1, masked: state.mask === "given" ? data.keepJson : state.mask !== "none" };
    const last = ["masked", "scaled"].find((name) => does[name] || stages.includes(name)) || "scores";
    const words = MEANINGS[state.stage].replace("masked", last).split(/[{}]/);
    const colours = { query: "q", key: "k", values: "v" };
    const line = words.map((word, n) => (n % 2 ? token(word, colours[word]) : word));
    this.formula.replaceChildren(make("b", {}, state.stage), " = ", ...line);
    this.formula.hidden = hide.includes("formula");
    for (const box of this.controls.querySelectorAll("[data-control]")) {
      box.hidden = hide.includes(box.dataset.control);
    }
    this.scaleSlider.value = state.scale;
    this.scaleSlider.setAttribute("aria-valuetext", plain(state.scale));
    if (this.notice === "" || document.activeElement !== this.scaleNumber) {
      this.scaleNumber.value = plain(state.scale);
    }
    const isWindow = state.mask.startsWith("window");
    const kind = isWindow ? "window" : state.mask;
    this.maskSelect.value = kind === "none" && !data.keepJson ? "given" : kind;
    this.windowBox.hidden = !isWindow;
    if (isWindow) ({ before: this.before.value, after: this.after.value } = maskJson(state.mask));
    this.batchSelect.value = state.batch;
    this.headSelect.value = state.head;
    const differs = Object.keys(first).some((n) => n !== "all" && String(first[n]) !== String(state[n]));
    this.reset.hidden = !differs;
    const hasMore = data.view.stages || (data.view.hide || []).some((name) => name !== "all");
    this.all.hidden = !hasMore || (data.view.hide || []).includes("all");
    this.all.setAttribute("aria-pressed", String(state.all));
    this.noticeLine.textContent = this.notice;
    this.noticeLine.hidden = !this.notice;
  }

  renderLegend({ high, low, end, hasMasked, isClipped, write }) {
    const bar = make("span", { class: "ax-bar" });
    const stops = [];
    const from = low < 0 ? low / end : 0;
    const to = high > 0 ? high / end : 0;
    for (let n = 0; n <= 8; n++) stops.push(heat(from + ((to - from) * n) / 8)[0]);
    bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
    this.legend.replaceChildren(write(low), bar, `${isClipped ? "≥ " : ""}${write(high)}`);
    if (hasMasked) this.legend.append(make("span", { class: "ax-swatch ax-masked" }), "masked");
    this.legend.hidden = !this.state.all && (this.data.view.hide || []).includes("legend");
  }

  // The row and the column of the cell in question.
  light() {
    const place = this.point || this.state.select;
    if (this.isPrint) this.lightPrint(place);
    else this.grid.light(place);
  }

  lightPrint(place) {
    const { select, batch, head } = this.state;
    const where = this.point ? this.pointed : this.state;
    for (const cell of this.prints) {
      const [i, j] = this.placeOf(cell);
      const isIn = (w) => Number(cell.dataset.batch) === w.batch && Number(cell.dataset.head) === w.head;
      cell.classList.toggle("ax-mate", !!place && isIn(where) && place[0] === i);
      const isSelected = !!select && isIn({ batch, head }) && select[0] === i && select[1] === j;
      cell.setAttribute("aria-pressed", String(isSelected));
    }
  }

  // The two rows behind a number: q and k, or the weights and the values.
  renderVectors() {
    const place = this.point || this.state.select;
    const hide = this.state.all ? [] : this.data.view.hide || [];
    const isIn = this.isPrint ? this.state.select : place;
    this.vectors.hidden = !isIn || hide.includes("vectors");
    this.root.classList.toggle("ax-idle", !place);
    const where = this.isPrint && this.point ? { ...this.state, ...this.pointed } : this.state;
    this.hint.hidden = !!this.state.select;
    const hint = ["Point at a number to see what it is made from. Select it to read its arithmetic."];
    this.hint.replaceChildren(...(place ? this.say(place, where) : hint));
    if (!place || this.vectors.hidden) return this.fade();
    const attention = this.attention(where);
    const { data } = this;
    const [i, j] = place;
    const line = (label, colour, numbers, names) => make("tr", {},
      make("th", { scope: "row", class: `ax-${colour}` }, ...label),
      ...Array.from(numbers, (x, n) => make("td", { class: `ax-${colour}`, title: names ? names[n] : undefined }, plain(x))));
    const name = (text, variable) => [make("bdi", {}, text), " ", make("i", {}, variable)];
    const table = make("table");
    if (where.stage === "output") {
      table.append(line(name(data.queries[i], "weights"), "q", attention.row("dropped", i), data.keys));
      table.append(line(name(`column ${j}`, "v"), "v", attention.values(j), data.keys));
    } else {
      table.append(line(name(data.queries[i], "q"), "q", data.vector("q", where.batch, where.head, i)));
      table.append(line(name(data.keys[j], "k"), "k", data.vector("k", where.batch, where.head, j)));
    }
    this.vectors.replaceChildren(table);
    // Vectors wider than the page scroll by keyboard only if they can have the focus.
    this.vectors.tabIndex = this.vectors.scrollWidth > this.vectors.clientWidth ? 0 : -1;
    this.fade();
  }

  renderPanel() {
    const { select, stage } = this.state;
    this.close.hidden = !select;
    this.root.classList.toggle("ax-open", !!select);
    if (!select) {
      this.sentence.replaceChildren();
      this.tree.replaceChildren();
      this.shown = "";
      return;
    }
    const said = this.say(select, this.state);
    const key = said.map((part) => part.textContent || part).join("") + JSON.stringify(this.state);
    if (key === this.shown) return;
    this.shown = key;
    this.sentence.replaceChildren(...said);
    const workings = new Workings(this.attention(this.state), select[0]);
    this.tree.replaceChildren(this.branch(workings[stage](select[1]), true));
  }

  // One sentence about a number.
  say([i, j], state) {
    const { data } = this;
    const attention = this.attention(state);
    const x = attention.cell(state.stage, i, j);
    const number = make("b", {}, fixed(x, data.places));
    const query = token(data.queries[i], "q");
    if (state.stage === "output") {
      const values = make("bdi", { class: "ax-v" }, `column ${j} of the values`);
      return ["For query ", query, ", ", values, " averages to ", number, "."];
    }
    const key = token(data.keys[j], "k");
    if (attention.statistics(i).isDead) return ["The mask keeps nothing for query ", query, ": its weights are 0."];
    if (state.stage === "masked" && !attention.keeps(i)[j]) {
      return ["The mask keeps query ", query, " from seeing key ", key, "."];
    }
    if (state.stage === "weights") return ["Query ", query, " gives ", number, " to key ", key, "."];
    if (state.stage === "dropped") {
      if (attention.survives(i)?.[j] === 0) {
        return ["Dropout takes away what query ", query, " gives to key ", key, "."];
      }
      return ["After dropout query ", query, " gives ", number, " to key ", key, "."];
    }
    const kind = state.stage === "scores" ? "score" : "scaled score";
    return ["Query ", query, " and key ", key, ` have the ${kind} `, number, "."];
  }

  branch(term, isOpen) {
    const line = coloured(term.line);
    if (!term.parts) return make("div", { class: "ax-leaf" }, ...line);
    const inside = make("div", { class: "ax-parts" });
    const fill = () => {
      if (!inside.firstChild) inside.append(...term.parts().map((part) => this.branch(part, false)));
    };
    if (isOpen) fill();
    const summary = make("summary", { onclick: fill }, ...line);
    const details = make("details", { open: isOpen, ontoggle: fill }, summary, inside);
    return details;
  }
}
