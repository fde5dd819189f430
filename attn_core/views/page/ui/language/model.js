// A language model on a page: a text, the likeliest next words, all heads, and the arithmetic of any number.

import { free } from "../../core/free.js";
import { dataOf, Kept } from "../../core/language/heads.js";
import { LightSource } from "../../core/language/light_source.js";
import { flipped, offsIn, sinkOff, switchesIn } from "../../core/language/offs.js";
import { parts } from "../../core/parts.js";
import { Problem } from "../../core/problem.js";
import { accepted, listOf } from "../../core/state.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { setLevels } from "../headings.js";
import { ALL_CONTROLS, withParts } from "../loading.js";
import { Arithmetic } from "./arithmetic.js";
import { bringFrom } from "./bring.js";
import { Head } from "./head.js";
import { Lens } from "./lens.js";
import { Loading } from "./loading.js";
import { mapsOf } from "./maps.js";
import { Next } from "./next.js";
import { shown } from "./pieces.js";
import { settingsOf } from "./settings.js";
import { Text } from "./text.js";

/**
 * @typedef {import("../../core/state.js").State} State
 * @typedef {import("../../core/language/whole.js").Source} Source
 * @typedef {import("../../core/language/whole.js").HeadRecord} HeadRecord
 */

// What decides which numbers there are; the rest of a state is where one looks.
const READ = ["text", "more", "off"];
// Milliseconds for which what the text before has stays: mostly the new comes within them. A frame for the tokens alone
// would take the processor from the worker.
const PATIENCE = { tokens: 120, heads: 200 };

export class LanguageModel {
  /** @type {Source | null} */ source = null;
  /** @type {string[]} of the text that is shown */ tokens = [];
  /** By layer, as far as they have come. @type {HeadRecord[]} */ records = [];
  /** @type {import("../../core/language/shares.js").Likely[]} */ likeliest = [];
  /** Whether these are those of the text. */ isDone = false;
  /** How many texts were read: numbers of another one are others. */ stamp = 0;
  /** The text with what was chosen behind it. */ written = "";
  /** Draw the tokens, and what is inside, if the words have not come meanwhile. */ timers = { tokens: 0, heads: 0 };
  /** Whether that is drawn after the next frame. */ isSoon = false;
  /** Whether the small maps lack layers that have come. */ hasMore = false;
  /** The text of what is inside. */ drawn = 0;

  /**
   * @param {Element} host
   * @param {{ sizes: import("../../core/language/offs.js").Sizes, folder: string, view: Record<string, any> }} payload
   * @param {import("../model/model.js").How} how
   */
  constructor(host, payload, { start = {}, chosen = () => {}, link = null } = {}) {
    this.sizes = payload.sizes;
    this.chosen = chosen;
    this.link = link;
    this.kept = new Kept((layer) => {
      const isHidden = this.offs.includes("sink") || this.offs.includes(sinkOff(layer));
      const { shape } = /** @type {Source} */ (this.source);
      return dataOf(this.records[layer], this.tokens.map(shown), shape, isHidden);
    });
    this.settings = settingsOf(this.sizes, payload.view);
    /** @type {State} */
    this.first = Object.fromEntries(Object.entries(this.settings).map(([name, { first }]) => [name, first]));
    /** @type {State} */
    this.state = { ...this.first };
    this.build(host, payload.folder);
    this.open(start);
    this.begin(payload.folder);
  }

  /** Some texts are there without the model. @param {string} folder */
  async begin(folder) {
    try {
      const light = await LightSource.open(bringFrom(folder));
      this.text.offer(light.texts);
      if (!this.source) this.take(light);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // Where they are missing the model is, too, and that is said.
    }
  }

  /**
   * @param {Element} host
   * @param {string} folder
   */
  build(host, folder) {
    this.root = make("div", {
      class: "ax-root am-root lm-root",
      role: "group",
      lang: say("lang"),
      "aria-label": say("languageModel"),
    });
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    this.loading = new Loading(folder, (source) => this.take(source));
    this.text = new Text(this);
    this.next = new Next(this);
    this.offList = make("div", { class: "am-offs" });
    this.global = make("div", { class: "am-switches", role: "group", "aria-label": say("onOff") });
    this.boxes = ["rotary", "sink"].map((off) => {
      const input = make("input", { type: "checkbox", onchange: () => this.flip(off) });
      this.global.append(make("label", { class: "am-switch" }, input, say(`on_all_${off}`)));
      return { off, input };
    });
    this.maps = mapsOf(this);
    this.head = new Head(this);
    this.arithmetic = new Arithmetic(this);
    this.lens = new Lens(this);
    const share = make(
      "button",
      { type: "button", class: "ax-reset", hidden: !this.link, onclick: () => this.share() },
      say("share"),
    );
    const reset = make("button", { type: "button", class: "ax-reset", onclick: () => this.reset() }, say("reset"));
    this.shared = make("p", { class: "ax-shared", role: "status" });
    const beside = make("div", { class: "lm-beside" }, this.head.element, this.arithmetic.element);
    this.inside = make(
      "div",
      { class: "lm-inside" },
      this.offList,
      this.global,
      make("div", { class: "lm-body" }, this.maps.element, beside),
      this.lens.element,
    );
    this.root.append(
      this.loading.element,
      make("div", { class: "lm-top" }, make("div", {}, this.text.element, this.noticeLine), this.next.element),
      this.inside,
      make("div", { class: "ax-foot" }, reset, share, this.shared),
    );
    // A notebook would take plain keys for commands.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    host.append(this.root);
    setLevels(this.root);
  }

  get offs() {
    return offsIn(this.state.off, this.sizes);
  }

  get canWrite() {
    return !!this.source?.isWhole && this.isDone;
  }

  get canSwitch() {
    return !!this.source?.isWhole;
  }

  /** The heads of a layer, if they are there. @param {number} layer */
  dataOf(layer) {
    return this.records[layer]?.q ? this.kept.of(layer, this.state.layer) : undefined;
  }

  /** The number whose arithmetic is shown. */
  number() {
    const { open, layer, head, stage, select } = this.state;
    if (open) {
      const [name, index] = open.split("/");
      return { name, index: index.split(",").map(Number) };
    }
    if (!select || !this.dataOf(layer)) return null;
    return { name: `layers.${layer}.attention`, stage, index: [head, ...select] };
  }

  /** @param {string} open */
  openNumber(open) {
    this.choose({ open, trail: "" }, true);
    this.arithmetic.show();
  }

  /** A source of numbers, from now on. @param {Source} source */
  take(source) {
    this.source = source;
    this.read();
  }

  /** The numbers of a text that is not shown any more. */
  forget() {
    free(this.records.flatMap(({ q, k, v }) => [q, k, v]));
    this.records = [];
    this.kept.forget();
  }

  /** The tokens of a text that is being typed. @param {string} text */
  async cut(text) {
    if (!this.source?.isWhole) return;
    this.isDone = false;
    const { pieces } = await this.source.cut(text, []);
    if (this.text.input.value !== text) return;
    this.stamp += 1;
    this.tokens = pieces;
    this.forget();
    this.text.render();
    this.next.render();
  }

  async read() {
    const { source, state } = this;
    if (!source) {
      this.render();
      return;
    }
    this.stamp += 1;
    const { stamp } = this;
    this.isDone = false;
    const more = listOf(state.more).map(Number);
    const switches = switchesIn(this.offs, this.sizes);
    try {
      const cut = source.cut(state.text, more);
      // Asked for at once: the worker goes on with it while the page takes the tokens.
      const read = source.read({ text: state.text, more, switches }, (first, records) => {
        if (stamp === this.stamp) this.arrived(first, records);
      });
      read.catch(() => {}); // said below, if the tokens came
      const { pieces, behind } = await cut;
      if (stamp !== this.stamp) return;
      this.tokens = pieces;
      this.written = state.text + behind;
      this.forget();
      this.keepInside();
      this.patiently("tokens", () => this.renderText());
      this.patiently("heads", () => this.soon());
      const answer = await read;
      if (!answer || stamp !== this.stamp) return;
      this.likeliest = answer.likeliest;
      this.isDone = true;
      if (this.hasFailed) this.tell("");
      this.hasFailed = false;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (stamp !== this.stamp) return;
      this.hasFailed = true;
      this.tell(`${error.message}.`);
    }
    if (stamp !== this.stamp) return;
    // What may come next is painted before all heads are.
    this.renderText();
    this.soon();
  }

  /**
   * Acts if the likeliest words do not come soon.
   *
   * @param {keyof typeof PATIENCE} what
   * @param {() => void} act
   */
  patiently(what, act) {
    clearTimeout(this.timers[what]);
    this.timers[what] = window.setTimeout(act, this.source?.isComing ? 0 : PATIENCE[what]);
  }

  /**
   * @param {number} first
   * @param {HeadRecord[]} records
   */
  arrived(first, records) {
    for (const [n, record] of records.entries()) this.records[first + n] = record;
    const isShown = first <= this.state.layer && this.state.layer < first + records.length;
    if (this.drawn === this.stamp && !isShown) {
      this.maps.arrived();
      return;
    }
    this.hasMore = true;
    this.soon();
  }

  /** Draws what is inside after the next frame, and the large map after one more: one task for both would be long. */
  soon() {
    if (this.isSoon) return;
    this.isSoon = true;
    afterFrame(() => {
      if (!this.isSoon) return;
      const { stamp } = this;
      this.renderMaps();
      afterFrame(() => stamp === this.stamp && this.renderHead());
    });
  }

  /** The layer of the large map, of a source that tells none by itself. */
  async bring() {
    const { source, stamp, state } = this;
    const { layer } = state;
    if (!source?.layer || !this.isDone || this.records[layer]) return;
    try {
      const record = await source.layer(layer);
      if (stamp !== this.stamp || this.records[layer]) return;
      this.arrived(layer, [record]);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.tell(`${error.message}.`);
    }
  }

  /** Writes a token behind the text, if the words that are shown are those of the text. @param {number} id */
  write(id) {
    if (!this.canWrite) return;
    this.choose({ more: [...listOf(this.state.more), id].join(",") }, true);
  }

  takeBack() {
    this.choose({ more: listOf(this.state.more).slice(0, -1).join(",") }, true);
  }

  /** @param {string} off */
  flip(off) {
    this.choose({ off: flipped(this.offs, off) }, true);
  }

  /**
   * What the reader does: taken, or said why not.
   *
   * @param {State} wanted
   * @param {boolean} [isStep]
   */
  choose(wanted, isStep = false) {
    this.arithmetic.isWanted = false;
    const [next, [why]] = accepted(this.settings, this.state, wanted, () => {});
    this.enter(next, why ? `${why}.` : "");
    if (!why) this.chosen(this.state, this.first, isStep);
  }

  /**
   * What an address wants, with all that it does not name as at first.
   *
   * @param {State} wanted
   */
  open(wanted) {
    const [next, refused] = accepted(this.settings, { ...this.first }, wanted, () => {});
    this.enter(next, refused.length ? say("notTaken", { list: refused.slice(0, 4).join("; ") }) : "");
  }

  /** The number that is open, where a link leads to it: once the model has read the text. */
  comeIntoSight() {
    const { open, select } = this.state;
    if (open || select) this.arithmetic.show();
  }

  reset() {
    this.choose({ ...this.first }, true);
  }

  /**
   * @param {State} next
   * @param {string} notice
   */
  enter(next, notice) {
    const isSame = READ.every((name) => next[name] === this.state[name]);
    this.state = next;
    this.tell(notice);
    if (isSame && this.stamp) return this.render();
    this.written = next.text;
    return this.read();
  }

  /** @param {string} notice */
  tell(notice) {
    this.noticeLine.textContent = notice;
    this.shared.textContent = "";
  }

  // A shorter text has fewer rows and columns.
  keepInside() {
    const { state, tokens } = this;
    if (state.select && Math.max(state.select[0], state.stage === "output" ? 0 : state.select[1]) >= tokens.length) {
      state.select = null;
      state.trail = "";
    }
  }

  // Said beside the button: the text may be far above it.
  share() {
    const { link, state, first, shared } = this;
    const failed = ({ message }) => {
      shared.textContent = `${message}.`;
    };
    withParts(ALL_CONTROLS, () => parts.share({ link, state, first, shared }), failed);
  }

  renderOffs() {
    const { offs } = this;
    for (const { off, input } of this.boxes) input.checked = !offs.includes(off);
    this.global.hidden = !this.canSwitch;
    this.offList.hidden = !offs.length;
    if (!offs.length) return;
    const on = (off) =>
      make("button", { type: "button", class: "ax-reset", onclick: () => this.flip(off) }, say("onAgain"));
    const items = offs.map((off) => make("li", {}, nameOfOff(off), " ", on(off)));
    this.offList.replaceChildren(make("span", { class: "ax-label" }, say("offs")), make("ul", {}, ...items));
  }

  render() {
    this.renderText();
    this.renderInside();
  }

  renderText() {
    clearTimeout(this.timers.tokens);
    this.text.render();
    this.next.render();
  }

  renderInside() {
    this.renderMaps();
    this.renderHead();
  }

  renderMaps() {
    clearTimeout(this.timers.heads);
    this.isSoon = false;
    this.drawn = this.stamp;
    this.inside.hidden = !this.tokens.length;
    this.bring();
    this.renderOffs();
    this.maps.render();
    if (this.hasMore) this.maps.arrived();
    this.hasMore = false;
  }

  renderHead() {
    this.head.render();
    this.arithmetic.render();
    this.lens.render();
  }
}

/** @param {() => void} act */
const afterFrame = (act) => requestAnimationFrame(() => setTimeout(act));

/** @param {import("../../core/language/offs.js").Off} off */
function nameOfOff(off) {
  if (off === "rotary" || off === "sink") return say(`off_${off}`);
  if (!off.includes(".")) return say(off[0] === "a" ? "off_a" : "off_s", { layer: off.slice(1) });
  const [layer, head] = off.split(".");
  return say("layerHead", { layer, head });
}
