// One explorer: it holds the state and draws the parts.

import { Attention } from "./core/attention.js";
import { Data } from "./core/data.js";
import { features, parts, views } from "./core/parts.js";
import { accepted, changes, settingsOf } from "./core/state.js";
import { Controls } from "./ui/controls.js";
import { fill, make, once, token } from "./ui/dom.js";
import { Grid } from "./ui/grid.js";
import { heat } from "./ui/heat.js";
import { ALL_CONTROLS, withParts } from "./ui/loading.js";
import { Panel, pairOf } from "./ui/panel.js";
import { Strip } from "./ui/strip.js";
import { Tip } from "./ui/tip.js";
import { say, sayParts, sentenceKey } from "./words/words.js";

let count = 0; // for the names of radio groups
const [LABEL_WIDTH, CELL_WIDTH] = [80, 55]; // of a matrix, in pixels: the least
const MOST_REFUSED = 4; // sentences about what can't be taken

/**
 * @typedef {import("./core/state.js").State} State
 *
 * @typedef {object} How
 * @property {State} [start] what differs from the payload's view
 * @property {(state: State, first: State) => void} [chosen] is told what the reader does
 * @property {((state: State, first: State) => string) | null} [link] gives the address of what is shown
 */

/** @param {any} payload */
function dataOf(payload) {
  if (payload.weights) return parts.given(payload);
  return payload.grad_output ? parts.gradients.dataOf(payload) : new Data(payload);
}

export class Explorer {
  /** @type {HTMLElement} */ root;
  /** @type {HTMLElement} */ body;
  /** @type {HTMLElement} the matrix and what stands around it */ map;
  /** @type {any} the matrix: a Grid, or one of `views` */ view;
  /** @type {Controls} */ controls;
  /** @type {HTMLInputElement[]} */ stages;
  /** @type {Strip} */ strip;
  /** @type {HTMLElement} */ formula;
  /** @type {HTMLElement} */ noticeLine;
  /** @type {HTMLElement} */ legend;
  /** @type {HTMLElement} */ changes;
  /** @type {HTMLElement | undefined} sentences of features above the matrix */ said;

  /**
   * @param {Element} host
   * @param {any} payload
   * @param {How} how
   */
  constructor(host, payload, { start = {}, chosen = () => {}, link = null } = {}) {
    this.data = payload.data ?? dataOf(payload);
    this.payload = payload;
    this.chosen = chosen;
    this.link = link;
    this.id = `ax-${++count}`;
    /** @type {number[] | null} the place that is pointed at, in the state `pointed` and the matrix `pointedIn` */
    this.point = null;
    /** @type {any} */
    this.pointedIn = null;
    this.notice = "";
    this.width = 0; // the most that the matrix had
    /** @type {Map<string, Attention>} */
    this.attentions = new Map();
    this.View = views.find((each) => each.fits(this.data, payload)) || Grid;
    this.settings = settingsOf(this.data, this.View.settings?.(this.data));
    /** @type {import("./features/feature.js").Feature[]} */
    this.features = [];
    /** @type {State} */
    this.first = {};
    this.addSettings(this.settings);
    /** @type {State} */
    this.state = { ...this.first };
    this.build(host);
    this.open(start);
  }

  /**
   * Shows other data as a new explorer of them would, in the same elements: the focus and what is open stay. Its
   * controls are those of the data before, which must be alike: ui/model/heads.js looks.
   *
   * @param {Data} data
   * @param {State} start what differs from the data's view
   */
  take(data, start) {
    this.data = data;
    this.attentions.clear();
    Object.assign(this.settings, settingsOf(data));
    for (const feature of this.features) feature.take();
    this.panel.shown = undefined;
    this.width = 0;
    this.open(start);
  }

  // A printed tensor stands in a text: it has no controls.
  get isPrint() {
    return this.View.isPrint;
  }

  get columns() {
    return this.data.columns(this.state.stage);
  }

  // The stages that the reader can choose.
  get offered() {
    return (!this.state.all && this.data.view.stages) || this.data.stages;
  }

  // The most columns that a stage has: the layout is for all stages, so that none moves what stands around it.
  get mostColumns() {
    return Math.max(this.columns, ...this.offered.map((stage) => this.data.columns(stage)));
  }

  /** @param {string} name of a control */
  hides(name) {
    return this.state.hide.split(",").includes(name);
  }

  /** @param {string} name */
  shows(name) {
    const isLeftOut =
      this.features.some(({ onRequest }) => onRequest.includes(name)) && !this.data.view.show?.includes(name);
    return this.state.all || !(this.hides(name) || isLeftOut);
  }

  /**
   * The state with what is wanted, as far as it can be taken, and sentences about the rest.
   *
   * @param {State} wanted
   */
  accept(wanted) {
    return accepted(this.settings, this.state, wanted, (state) => this.attention(this.unspoiled(state)).check());
  }

  /**
   * What the reader does: taken, or said why not. Further controls are loaded when all are asked for.
   *
   * @param {State} wanted
   * @param {boolean} [isLookedAt] whether the page goes to what is said about a number
   */
  choose(wanted, isLookedAt = true) {
    const [next, [why]] = this.accept(wanted);
    this.notice = why ? `${why}.` : "";
    this.enter(next);
    this.chosen(this.state, this.first);
    if (wanted.select && !why && isLookedAt) this.panel.comeIntoSight();
    const failed = ({ message }) => {
      this.notice = `${message}.`;
      this.render();
    };
    if (wanted.all && !this.features.length) withParts(ALL_CONTROLS, () => this.open(this.state), failed);
  }

  /**
   * What the outside wants (an address, Python): what can't be taken is said, the rest is shown.
   *
   * @param {State} wanted
   */
  apply(wanted) {
    const [next, refused] = this.accept(wanted);
    const list = refused.slice(0, MOST_REFUSED);
    if (refused.length > MOST_REFUSED) list.push(say("andMore", { count: refused.length - MOST_REFUSED }));
    this.notice = list.length ? say("notTaken", { list: list.join("; ") }) : "";
    this.enter(next);
  }

  /**
   * The same, with all that isn't named as at first.
   *
   * @param {State} wanted
   */
  open(wanted) {
    if (!this.features.length) this.addFeatures();
    this.state = { ...this.first };
    this.apply(wanted);
  }

  /** @param {State} state */
  enter(state) {
    this.state = state;
    this.keepInside();
    this.render();
  }

  addFeatures() {
    this.features = features.filter((each) => each.fits(this)).map((Each) => new Each(this));
    if (!this.features.length) return;
    this.said = make("p", { class: "ax-said", role: "status" });
    this.body.before(this.said);
    for (const feature of this.features) {
      this.addSettings(feature.settings);
      feature.build(this.controls);
    }
  }

  /** @param {import("./core/state.js").Settings} settings */
  addSettings(settings) {
    Object.assign(this.settings, settings);
    for (const [name, { first }] of Object.entries(settings)) this.first[name] = first;
  }

  keepInside() {
    const { state, data } = this;
    const inside = (/** @type {number[]} */ [i, j]) => [
      Math.min(i, data.rowsIn(state.stage) - 1),
      Math.min(j, this.columns - 1),
    ];
    if (state.select) state.select = inside(state.select);
    if (this.point) this.point = inside(this.point);
    if (state.stage === "output" && !data.hasValues(state.head)) {
      state.stage = "dropped";
      this.notice = say("noValues", { heads: data.headsWithValues.join(", ") });
    }
  }

  build(host) {
    const { isPrint } = this;
    this.root = make("div", {
      class: isPrint ? "ax-root ax-tensor" : "ax-root",
      role: "group",
      lang: say("lang"),
      "aria-label": isPrint ? say("printed", { stage: say(this.state.stage) }) : say("explorer"),
    });
    this.panel = new Panel(this);
    this.view = this.newView();
    this.map = make("div", { class: "ax-map" }, this.view.element);
    this.body = make("div", { class: "ax-body" }, this.map, this.panel.element);
    if (isPrint) this.root.append(this.body);
    else this.buildTop();
    this.tip = new Tip(this.root);
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
    this.strip = new Strip(this);
    this.stages = this.strip.inputs;
    this.formula = make("p", { class: "ax-formula" });
    this.controls = new Controls(this);
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    this.legend = make("div", { class: "ax-legend", role: "img" });
    this.changes = make("span");
    const reset = make("button", { type: "button", class: "ax-reset", onclick: () => this.reset() }, say("reset"));
    this.share = this.asking("share", !this.link);
    this.shared = make("p", { class: "ax-shared", role: "status" });
    this.change = this.asking("change");
    this.map.append(this.legend);
    this.root.append(
      make("div", { class: "ax-top" }, this.strip.element, this.formula, this.controls.element),
      this.noticeLine,
      this.body,
      make(
        "div",
        { class: "ax-foot" },
        make("p", { class: "ax-changes" }, this.changes, " ", reset),
        this.change,
        this.share,
        this.shared,
      ),
    );
  }

  /**
   * A button for what comes with the further controls.
   *
   * @param {string} name of the part, and of its word
   * @param {boolean} [hidden]
   */
  asking(name, hidden) {
    const failed = ({ message }) => {
      this.noticeLine.textContent = `${message}.`;
    };
    const act = () => withParts(ALL_CONTROLS, () => parts[name](this), failed);
    return make("button", { type: "button", class: "ax-reset", onclick: act, hidden }, say(name));
  }

  newView() {
    const view = new this.View(this.data, this.payload);
    view.onpoint = (place, where) => this.pointAt(place, where, view);
    view.onselect = (select, where) => {
      if (!this.features.some((feature) => feature.takes(select))) this.choose({ select, ...where });
    };
    view.onview = (at) => this.choose({ at });
    return view;
  }

  reset() {
    this.leave({ ...this.first, all: this.state.all });
  }

  /**
   * The focus goes back to the numbers if what had it is gone.
   *
   * @param {State} wanted
   */
  leave(wanted = { select: null }) {
    const { activeElement } = /** @type {Document} */ (this.root.getRootNode());
    this.choose(wanted);
    if (!this.root.contains(activeElement) || !activeElement.getClientRects().length) this.view.focus();
  }

  /**
   * @param {number[] | null} place
   * @param {State} [where] of a printed tensor: batch and head; of one of two runs: which
   * @param {{ boxOf: (place: number[], where: State) => DOMRect | undefined }} [view] where the place is seen
   */
  pointAt(place, where, view = this.view) {
    if (String(place) === String(this.point) && !this.isPrint) return;
    this.point = place;
    this.pointed = { ...this.state, ...where };
    this.pointedWhere = where;
    this.pointedIn = view;
    this.light();
    this.tell();
    this.root.dispatchEvent(new CustomEvent("ax-point", { bubbles: true, composed: true, detail: this }));
  }

  // Beside what is pointed at: its pair and its number, unless the panel is about it.
  tell() {
    const { point, state, pointed, pointedWhere, pointedIn } = this;
    if (!point) return this.tip.hide();
    const where = this.isPrint ? pointed : { ...state, ...pointedWhere };
    const isSelected =
      ["batch", "head", "run"].every((name) => where[name] === state[name]) && `${point}` === `${state.select}`;
    if (isSelected) return this.tip.hide();
    const { attention, more } = this.compared(point, where);
    return this.tip.show(pointedIn.boxOf(point, where), [...pairOf(attention, where.stage, point), ...more]);
  }

  /**
   * The numbers of a state, derived once.
   *
   * @param {State} state
   * @returns {Attention}
   */
  attention(state) {
    const key = [state.batch, state.head, ...this.altering.map((name) => state[name])].join("|");
    const made = this.attentions.get(key) ?? this.derive(state);
    if (this.attentions.size > 5 && !this.attentions.has(key)) this.attentions.clear();
    this.attentions.set(key, made);
    return made;
  }

  /** @param {State} state */
  derive(state) {
    const { batch, head, scale, mask } = state;
    const given = { data: this.data.ofSequence(batch), settings: { batch, head, scale, mask } };
    const { data, settings, formulas, runs } = this.features.reduce(
      (made, feature) => feature.derive(made, state),
      given,
    );
    return new Attention(data, settings, formulas, runs);
  }

  // The settings that give the same cells other numbers.
  get altering() {
    return Object.keys(this.settings).filter((name) => this.settings[name].alters);
  }

  /**
   * @param {State} state
   * @returns {State}
   */
  unspoiled(state) {
    return this.features.reduce((result, feature) => feature.unspoiled(result), state);
  }

  /**
   * The state that this one is compared with, and whose cells give the colours their end: all as given, if no
   * feature has another.
   *
   * @returns {State}
   */
  original() {
    for (const feature of this.features) {
      const state = feature.original();
      if (state) return state;
    }
    return { ...this.state, ...Object.fromEntries(this.altering.map((name) => [name, this.first[name]])) };
  }

  /**
   * @param {State} state
   * @returns {State}
   */
  explained(state) {
    return this.features.reduce((result, feature) => feature.explained(result), state);
  }

  /**
   * @param {string} part
   * @param {number[]} place
   */
  inputAt(part, place) {
    for (const feature of this.features) {
      const input = feature.inputAt(part, place);
      if (input) return input;
    }
    return undefined;
  }

  /**
   * What the sentence about a number tells.
   *
   * @param {number[]} place
   * @param {State} state
   */
  compared(place, state) {
    for (const feature of this.features) {
      const compared = feature.compared(place, state);
      if (compared) return compared;
    }
    return { attention: this.attention(state), more: [] };
  }

  render() {
    if (!this.isPrint) this.renderMatrix();
    this.light();
    this.panel.render();
    this.settle();
  }

  /** The number that is open, where a link leads to it. */
  comeIntoSight() {
    const { select } = this.state;
    if (!select) return;
    this.view.reveal?.(select);
    this.panel.comeIntoSight();
  }

  // What depends on the layout.
  settle = once(() => {
    this.keepWidth();
    this.fade();
    this.tell();
  });

  renderMatrix() {
    const { settings, first, state, features: all } = this;
    const [shown, original] = [state, this.original()].map((each) => this.attention(each));
    // Before anything is drawn: a map is as large as its place.
    const isWide = this.View.isWide || this.mostColumns > 8 || all.some((feature) => feature.isWide);
    this.root.classList.toggle("ax-wide", isWide);
    this.strip.draw(shown, original);
    this.share.hidden = !this.link || !this.shows("link");
    this.change.hidden = this.hides("inputs");
    this.renderTop(shown);
    this.renderLegend(this.view.draw(shown, state, original));
    for (const feature of all) feature.draw(shown, original);
    if (this.said) {
      this.said.textContent = all.reduce((list, feature) => feature.says(list), /** @type {string[]} */ ([])).join(" ");
      this.said.hidden = !this.said.textContent;
    }
    const changed = all.reduce((list, feature) => feature.changes(list), /** @type {string[]} */ ([]));
    this.changes.textContent = changes(settings, first, state, changed);
    this.changes.parentElement.classList.toggle("ax-none", !this.changes.textContent);
  }

  /**
   * A matrix with fewer columns leaves the panel where it was.
   *
   * @param {number} [width] of the matrix now
   */
  keepWidth(width = Math.ceil(this.view.table?.getBoundingClientRect().width ?? 0)) {
    if (this.root.classList.contains("ax-wide")) width = 0;
    this.width = width && Math.max(width, this.width, LABEL_WIDTH + CELL_WIDTH * this.mostColumns);
    this.map.style.minWidth = width ? `min(100%, ${this.width}px)` : "";
  }

  // What has room where; a box that goes on to the right says so by its edge.
  fade = () => {
    this.panel.fit();
    const boxes = [...this.root.querySelectorAll(".ax-scroll, .ax-vectors")];
    const goOn = boxes.map((box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
    for (const [n, box] of boxes.entries()) box.classList.toggle("ax-more", goOn[n]);
  };

  /** @param {Attention} shown */
  renderTop(shown) {
    const { state, offered: stages } = this;
    // A hidden stage is named if it changes something.
    const before =
      shown.masks.length || state.drawn || stages.includes("masked")
        ? "masked"
        : state.scale !== 1 || shown.data.softcap || shown.data.bias || stages.includes("scaled")
          ? "scaled"
          : "scores";
    const places = {
      query: token(say("query"), "q"),
      key: token(say("key"), "k"),
      values: token(say("values"), "v"),
      before: say(before),
      // A row that a mask leaves no key has only zeros.
      sums: say(shown.data.sinks ? "sumsSink" : shown.masks.length ? "sumsKept" : "sumsAll"),
    };
    const { softcap, bias } = shown.data;
    const isGiven = !!shown.data.given;
    const more = isGiven
      ? "Given"
      : state.stage === "scaled"
        ? `${softcap ? "Capped" : ""}${bias ? "Biased" : ""}`
        : state.stage === "grad_scores" && softcap
          ? "Capped"
          : "";
    const phrase = sentenceKey("means", state.stage) + more;
    const [first, second] = shown.runs?.names ?? [];
    const said = shown.isDifference ? sayParts("meansDifference", { first, second }) : sayParts(phrase, places);
    fill(this.formula, make("b", {}, say(state.stage)), " = ", ...said);
    this.formula.hidden = !this.shows("formula");
    this.controls.render();
    this.noticeLine.textContent = this.notice;
    this.shared.textContent = "";
  }

  renderLegend({ high, low, end, hasMasked, isClipped, ramp, write }) {
    const bar = make("span", { class: "ax-bar" });
    const [from, to] = [Math.min(low, 0) / end, Math.max(high, 0) / end];
    const stops = Array.from({ length: 9 }, (_, n) => heat(from + ((to - from) * n) / 8, ramp));
    bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
    const masked = hasMasked ? [make("span", { class: "ax-swatch ax-masked" }), say("masked")] : [];
    const signs = this.state.stage in this.data.further ? say("legendSigns") : "";
    const said = signs && make("span", { class: "ax-signs" }, signs);
    fill(this.legend, write(low), bar, `${isClipped ? "≥ " : ""}${write(high)}`, ...masked, said);
    const places = { low: write(low), high: `${isClipped ? say("orMore") : ""}${write(high)}` };
    this.legend.setAttribute(
      "aria-label",
      say("legendOf", places) + (hasMasked ? say("legendMasked") : "") + (signs && `. ${signs}`),
    );
    this.legend.hidden = !this.shows("legend");
  }

  // The row and the column of the cell in question.
  light() {
    const place = this.point || this.state.select;
    this.view.light(place, this.point ? this.pointed : this.state, this.state);
    this.strip?.light(this.data.queryAt((this.point ? this.pointed : this.state).stage, place));
    for (const feature of this.features) feature.light(place);
  }
}
