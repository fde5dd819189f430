// One explorer: it holds the state and draws the parts.

import { Attention } from "./attention.js";
import { Controls } from "./controls.js";
import { Data } from "./data.js";
import { make, token } from "./dom.js";
import { Grid, isLong } from "./grid.js";
import { heat } from "./heat.js";
import { withParts } from "./loading.js";
import { Panel } from "./panel.js";
import { parts } from "./parts.js";
import { changes, settingsOf, taken } from "./state.js";
import { STAGES, say, sayParts, sentenceKey } from "./words.js";

let count = 0; // for the names of radio groups
const MOST_REFUSED = 4; // sentences about what can't be taken
const DERIVED = ["batch", "head", "scale", "mask", "drawn", "dropout", "edits", "mistake"];

export class Explorer {
  // `start` differs from the payload's view; `changed` is told what the reader does; `link` gives
  // the address of what is shown.
  constructor(host, payload, { start = {}, changed = () => {}, link = null } = {}) {
    this.data = new Data(payload);
    Object.assign(this, { payload, changed, link, id: `ax-${++count}`, point: null, notice: "", made: new Map() });
    this.isPrint = payload.form === "tensor";
    this.isLong = !this.isPrint && isLong(this.data.L, this.data.S, this.data.Dv);
    this.settings = settingsOf(this.data, this.isLong);
    this.first = Object.fromEntries(Object.entries(this.settings).map(([name, { first }]) => [name, first]));
    this.state = { ...this.first };
    this.build(host);
    this.become(start);
  }

  get columns() {
    return this.data.columns(this.state.stage);
  }

  hides(name) {
    return this.state.hide.split(",").includes(name);
  }

  shows(name) {
    return this.state.all || !(this.hides(name) || this.lab?.hides(name));
  }

  // The state with what is wanted, as far as it can be taken, and sentences about the rest.
  with(wanted) {
    return taken(this.settings, this.state, wanted, (state) => this.attention({ ...state, mistake: "" }).check());
  }

  // What the outside wants (an address, Python): what can't be taken is said, the rest is shown.
  set(wanted) {
    const [next, refused] = this.with(wanted);
    const list = refused.slice(0, MOST_REFUSED);
    if (refused.length > MOST_REFUSED) list.push(say("andMore", { count: refused.length - MOST_REFUSED }));
    this.notice = list.length ? say("notTaken", { list: list.join("; ") }) : "";
    this.state = next;
    this.keepInside();
    this.render();
  }

  // What isn't named is as at first.
  become(wanted) {
    if (parts.lab && !this.isPrint) this.lab ??= new parts.lab(this);
    this.state = { ...this.first };
    this.set(wanted);
  }

  // What the reader does: taken, or said why not. Further controls are loaded when all are asked for.
  change(patch) {
    const [next, [why]] = this.with(patch);
    this.notice = why ? `${why}.` : "";
    this.state = next;
    this.keepInside();
    this.render();
    this.changed(this.state, this.first);
    if (patch.all && !this.lab) withParts(["lab", "heads"], () => this.become(this.state), ({ message }) => {
      this.notice = `${message}.`;
      this.render();
    });
  }

  keepInside() {
    const { state, data } = this;
    const inside = ([i, j]) => [Math.min(i, data.L - 1), Math.min(j, this.columns - 1)];
    if (state.select) state.select = inside(state.select);
    if (this.point) this.point = inside(this.point);
    if (state.stage === "output" && !data.hasValues(state.head)) {
      state.stage = "dropped";
      this.notice = say("noValues", { heads: data.v.heads.join(", ") });
    }
  }

  build(host) {
    const { isPrint } = this;
    this.root = make("div", {
      class: isPrint ? "ax-root ax-tensor" : "ax-root", role: "group", lang: say("lang"),
      "aria-label": isPrint ? say("printed", { stage: say(this.state.stage) }) : say("explorer"),
    });
    this.panel = new Panel(this);
    this.view = this.newView();
    this.map = make("div", { class: "ax-map" }, this.view.element);
    this.body = make("div", { class: "ax-body" }, this.map, this.panel.element);
    if (isPrint) this.root.append(this.body);
    else this.buildTop();
    // A notebook would take plain keys for commands.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
      if (event.key === "Escape" && this.state.select) this.leave();
    });
    this.root.addEventListener("scroll", this.fade, true);
    host.append(this.root);
    new ResizeObserver(this.fade).observe(this.root);
  }

  buildTop() {
    this.strip = make("div", { class: "ax-strip", role: "radiogroup", "aria-label": say("stage") });
    this.stages = STAGES.map((stage) => {
      const input = make("input", {
        type: "radio", name: `${this.id}-stage`, value: stage, onchange: () => this.change({ stage }),
      });
      const today = stage === this.first.stage ? " ax-today" : "";
      this.strip.append(make("label", { class: `ax-stage${today}` }, input, make("span", {}, say(stage))));
      return input;
    });
    this.formula = make("p", { class: "ax-formula" });
    this.controls = new Controls(this);
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    this.legend = make("div", { class: "ax-legend", role: "img" });
    this.changes = make("span");
    const reset = make("button", { type: "button", class: "ax-reset", onclick: () => this.reset() }, say("reset"));
    this.map.append(this.legend);
    this.root.append(make("div", { class: "ax-top" }, this.strip, this.formula, this.controls.element), this.noticeLine,
      this.body, make("p", { class: "ax-changes" }, this.changes, " ", reset));
  }

  newView() {
    const View = this.isPrint ? parts.print : this.isLong ? parts.map : Grid;
    const view = new View(this.data, this.payload);
    view.onpoint = (place, where) => this.pointAt(place, where);
    view.onselect = (select, where) => this.lab?.draws(select) || this.change({ select, ...where });
    view.onview = (at) => this.change({ at });
    return view;
  }

  reset() {
    this.leave({ ...this.first, all: this.state.all });
  }

  leave(patch = { select: null }) {
    this.change(patch);
    this.view.focus();
  }

  pointAt(place, where) {
    if (String(place) === String(this.point) && !this.isPrint) return;
    this.point = place;
    this.pointed = { ...this.state, ...where };
    this.light();
    this.panel.point();
    parts.print?.light(this, place);
  }

  // Whose cells give the colours their end.
  base() {
    return { ...this.state, scale: this.first.scale, mask: this.first.mask };
  }

  attention(settings) {
    const key = DERIVED.map((name) => settings[name]).join("|");
    if (!this.made.has(key)) {
      if (this.made.size > 5) this.made.clear();
      this.made.set(key, this.derive(settings));
    }
    return this.made.get(key);
  }

  derive(settings) {
    return this.lab ? this.lab.derive(settings) : new Attention(this.data, settings);
  }

  render() {
    if (!this.isPrint) {
      const { state, lab } = this;
      const shown = this.attention(state);
      const given = this.attention(lab ? lab.base() : this.base());
      this.renderTop(shown);
      this.renderLegend(this.view.draw(shown, state, given));
      lab?.render(shown, given);
      this.root.classList.toggle("ax-wide", this.isLong || this.columns > 8 || !!lab?.isCompared);
      this.changes.textContent = changes(this.first, state, lab?.changes());
      this.changes.parentNode.hidden = !this.changes.textContent;
    }
    this.light();
    this.panel.render();
    this.panel.point();
    this.fade();
  }

  // A box that goes on to the right says so by its edge.
  fade = () => {
    for (const box of this.root.querySelectorAll(".ax-scroll, .ax-vectors")) {
      box.classList.toggle("ax-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
    }
  };

  renderTop(shown) {
    const { state, data } = this;
    const stages = (!state.all && data.view.stages) || STAGES;
    for (const input of this.stages) {
      input.checked = input.value === state.stage;
      input.parentNode.hidden = !stages.includes(input.value) && !input.checked;
    }
    this.strip.hidden = !this.shows("strip");
    // A hidden stage is named if it changes something.
    const before = shown.masks.length || state.drawn || stages.includes("masked") ? "masked"
      : state.scale !== 1 || stages.includes("scaled") ? "scaled" : "scores";
    const places = { query: token(say("query"), "q"), key: token(say("key"), "k"), values: token(say("values"), "v"), before: say(before) };
    this.formula.replaceChildren(make("b", {}, say(state.stage)), " = ", ...sayParts(sentenceKey("means", state.stage), places));
    this.formula.hidden = !this.shows("formula");
    this.controls.render();
    this.noticeLine.textContent = this.notice;
  }

  renderLegend({ high, low, end, hasMasked, isClipped, write }) {
    const bar = make("span", { class: "ax-bar" });
    const [from, to] = [Math.min(low, 0) / end, Math.max(high, 0) / end];
    const stops = Array.from({ length: 9 }, (_, n) => heat(from + ((to - from) * n) / 8)[0]);
    bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
    this.legend.replaceChildren(write(low), bar, `${isClipped ? "≥ " : ""}${write(high)}`);
    if (hasMasked) this.legend.append(make("span", { class: "ax-swatch ax-masked" }), say("masked"));
    const places = { low: write(low), high: `${isClipped ? say("orMore") : ""}${write(high)}` };
    this.legend.setAttribute("aria-label", say("legendOf", places) + (hasMasked ? say("legendMasked") : ""));
    this.legend.hidden = !this.shows("legend");
  }

  // The row and the column of the cell in question.
  light() {
    const place = this.point || this.state.select;
    this.view.light(place, this.point ? this.pointed : this.state, this.state);
    this.lab?.light(place);
  }
}
