// A model to play with: a sentence, the machine that reads and writes, and one of its stations.

import { Gradients } from "../../core/model/backward/gradients.js";
import { changesIn, isNone, isOff, switchesOf } from "../../core/model/changes.js";
import { Machine } from "../../core/model/machine.js";
import { idsOf, wordsIn } from "../../core/model/sentence.js";
import { translate } from "../../core/model/translate.js";
import { parts } from "../../core/parts.js";
import { Problem } from "../../core/problem.js";
import { accepted } from "../../core/state.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { setLevels } from "../headings.js";
import { ALL_CONTROLS, withParts } from "../loading.js";
import { Tip } from "../tip.js";
import { Arcs } from "./arcs.js";
import { Followed } from "./followed.js";
import { isOfRows, shownOf } from "./gradients.js";
import { fullName, groupName, groupsOf, labelOf } from "./places.js";
import { Plan } from "./plan.js";
import { checkView, lossIn, settingsOf, takenIn } from "./settings.js";
import { StationPanel } from "./station.js";
import { flipped, Offs } from "./switches.js";
import { Typed } from "./typed.js";
import { Written } from "./written.js";

/**
 * @typedef {import("../../core/state.js").State} State
 * @typedef {import("../../core/model/pass.js").Pass} Pass
 * @typedef {import("../../core/model/translate.js").Translation} Translation
 *
 * @typedef {object} How
 * @property {State} [start] what differs from the payload's view
 * @property {(state: State, first: State, isStep: boolean) => void} [chosen] is told what the reader does;
 *   isStep: a step that the way back undoes
 * @property {((state: State, first: State) => string) | null} [link] gives the address of what is shown
 */

// What a page can leave out, by its name in `show`.
export const PARTS = ["sentence", "translation", "likeliest", "steps", "plan", "station", "switches"];
// Something that is off may keep the end mark from coming: so many words are enough to see it.
const [LEAST_WRITTEN, MOST_A_WORD] = [32, 3];
const TOGETHER = "attention-together";

/** The number that is selected, by its name. @type {(state: State) => string} */
const selectedIn = ({ at, stage, select }) => `${at}.${stage}.${select}`;

/** @type {(gradients: Gradients, name: string, index: number[]) => boolean} */
const numbersAre = (gradients, name, index) => gradients.name === name && `${gradients.index}` === `${index}`;

export class Model {
  /** @type {Translation} what is shown */ translation;
  /** @type {Translation | null} the same sentence with everything on, if something is off or was taken */ right = null;
  /** @type {Map<string, Translation>} the last ones, by what they were made of */ made = new Map();
  /** @type {Pass | null} the same words read with everything on, if something is off */ plain = null;
  /** @type {Gradients | null} those that are shown */ gradients = null;
  /** @type {{ at: string, stage: string, select: number[] } | null} a number that these words do not have */
  waiting = null;
  /** @type {Map<string, string>} how far each number was opened */ trails = new Map();

  /**
   * @param {Element} host
   * @param {any} payload see views/model.py
   * @param {How} how
   */
  constructor(host, payload, { start = {}, chosen = () => {}, link = null } = {}) {
    this.machine = new Machine(payload);
    checkView(this.machine, payload.view);
    this.payload = payload;
    this.chosen = chosen;
    this.link = link;
    this.groups = groupsOf(this.machine.steps);
    this.settings = settingsOf(this.machine, payload.view);
    /** @type {State} */
    this.first = Object.fromEntries(Object.entries(this.settings).map(([name, { first }]) => [name, first]));
    /** @type {State} */
    this.state = { ...this.first };
    this.derivedFrom = "";
    this.build(host);
    this.open(start);
  }

  build(host) {
    this.root = make("div", { class: "ax-root am-root", role: "group", lang: say("lang"), "aria-label": say("model") });
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    // Where arcs tell of the sentence, the drawing of the whole machine is left out.
    const show = this.payload.view.show ?? PARTS;
    this.hasPlan = !this.payload.view.arcs && show.includes("plan");
    this.typed = new Typed(this);
    this.written = new Written(this);
    this.offs = new Offs(this);
    this.followed = new Followed(this);
    this.plan = new Plan(this);
    this.arcs = this.payload.view.arcs ? new Arcs(this) : null;
    this.station = new StationPanel(this);
    this.tip = new Tip(this.root);
    const reset = make("button", { type: "button", class: "ax-reset", onclick: () => this.reset() }, say("reset"));
    const share = make(
      "button",
      { type: "button", class: "ax-reset", hidden: !this.link, onclick: () => this.share() },
      say("share"),
    );
    this.shared = make("p", { class: "ax-shared", role: "status" });
    this.foot = make("div", { class: "ax-foot" }, reset, share, this.shared);
    this.root.classList.toggle("am-brief", !!this.arcs);
    for (const part of PARTS) this.root.classList.toggle(`am-no-${part}`, !show.includes(part));
    const drawn = this.arcs?.element ?? this.plan.element;
    const sentence = make("div", { class: "am-sentences" }, this.typed.element, this.written.element);
    // Heard even where a page leaves the translation out.
    this.root.append(
      sentence,
      this.written.heard,
      this.noticeLine,
      this.offs.element,
      this.followed.element,
      drawn,
      this.station.element,
      this.foot,
    );
    // A notebook would take plain keys for commands.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    host.append(this.root);
    setLevels(this.root);
    if (this.payload.view.together) document.addEventListener(TOGETHER, this.follow);
  }

  // Models of a page that belong together read the same sentence.
  follow = (/** @type {any} */ { detail }) => {
    if (!this.root.isConnected) document.removeEventListener(TOGETHER, this.follow);
    else if (detail.from !== this && detail.together === this.payload.view.together) this.typed.set(detail.words);
  };

  /** @param {string} before */
  lead(before) {
    const { together } = this.payload.view;
    if (!together || this.state.say === before) return;
    const detail = { from: this, together, words: wordsIn(this.state.say) };
    document.dispatchEvent(new CustomEvent(TOGETHER, { detail }));
  }

  /**
   * What the reader does: taken, or said why not.
   *
   * @param {State} wanted
   * @param {boolean} [isStep]
   */
  choose(wanted, isStep = false) {
    if ("select" in wanted) this.waiting = null;
    const [next, [why]] = this.accept(wanted);
    if ("trail" in wanted) this.keepTrail(next);
    const { say: before } = this.state;
    this.enter(next, why ? `${why}.` : "");
    if (why) return false;
    this.chosen(this.state, this.first, isStep);
    this.lead(before);
    return true;
  }

  /**
   * Another station, perhaps with one of its numbers: a step of the reader's way.
   *
   * @param {string} at
   * @param {State} [more]
   */
  go(at, more = {}) {
    this.choose({ stage: "", select: null, ...more, at }, true);
    this.station.show();
  }

  /**
   * Switches one thing off, or on again: a step of the reader's way.
   *
   * @param {import("./switches.js").Switch} toggle
   */
  flip(toggle) {
    this.choose({ off: flipped(this.machine, this.state.off, toggle) }, true);
  }

  /**
   * What the outside wants (an address, Python): what can't be taken is said, the rest is shown.
   *
   * @param {State} wanted
   */
  apply(wanted) {
    const [next, refused] = this.accept(wanted);
    if ("trail" in wanted) this.keepTrail(next);
    this.enter(next, refused.length ? say("notTaken", { list: refused.slice(0, 4).join("; ") }) : "");
  }

  /**
   * The same, with all that isn't named as at first.
   *
   * @param {State} wanted
   */
  open(wanted) {
    this.state = { ...this.first };
    this.waiting = null;
    this.apply({ trail: "", ...wanted });
  }

  /** The number that is open, where a link leads to it: once what is above it is drawn. */
  comeIntoSight() {
    if (this.state.select) requestAnimationFrame(() => this.station.showLine());
  }

  /** @param {State} wanted */
  accept(wanted) {
    return accepted(this.settings, this.state, wanted, (state) => this.translate(state));
  }

  reset() {
    this.choose({ ...this.first }, true);
  }

  // Said beside the button: the sentence may be far above it.
  share() {
    const { link, state, first, shared } = this;
    const failed = ({ message }) => {
      shared.textContent = `${message}.`;
    };
    withParts(ALL_CONTROLS, () => parts.share({ link, state, first, shared }), failed);
  }

  /**
   * The translation that belongs to a state.
   *
   * @param {State} state
   * @returns {Translation}
   */
  translate({ say: text, off, taken, temperature, written }) {
    const { machine } = this;
    const key = JSON.stringify([text, off, taken, temperature, written]);
    if (this.made.has(key)) return this.made.get(key);
    const source = idsOf(machine, wordsIn(text));
    const mostOff = Math.max(LEAST_WRITTEN, MOST_A_WORD * source.length);
    const made = translate(machine, {
      source,
      changes: changesIn(machine, off),
      taken: takenIn(machine, taken),
      temperature,
      most: written || (off ? mostOff : undefined),
    });
    // What is checked is entered next; a few are enough, the machine keeps the rows of its last passes.
    if (this.made.size > 3) this.made.clear();
    this.made.set(key, made);
    return made;
  }

  /**
   * @param {State} state
   * @param {string} notice
   */
  enter(state, notice) {
    this.state = state;
    this.translation = this.translate(state);
    const isSpoiled = state.off !== "" || state.taken !== "";
    this.right = isSpoiled ? this.translate({ ...state, off: "", taken: "", written: 0 }) : null;
    const { source, target, changes } = this.pass;
    this.plain = isNone(changes) ? null : this.machine.read({ source, target });
    this.gradients = this.gradientsOf(state.loss);
    if (state.loss && !this.gradients) notice ||= say("gradientsWait", { name: state.loss.replace(":", " ") });
    // The explorer of an attention has its gradients in a script that few pages need.
    if (this.gradients && !parts.gradients) {
      withParts(
        ["gradients"],
        () => this.render(),
        ({ message }) => {
          this.noticeLine.textContent = `${message}.`;
        },
      );
    }
    this.keepInside();
    state.trail = this.trails.get(selectedIn(state)) ?? "";
    this.noticeLine.textContent = notice;
    this.shared.textContent = "";
    this.tip.hide(); // it may tell of other words
    this.render();
  }

  /**
   * The gradients of a number; null where there is none, or these words do not have it.
   *
   * @param {string} text
   */
  gradientsOf(text) {
    if (!text) return null;
    const { name, index } = lossIn(this.machine, text);
    if (index[0] >= this.pass.length(name)) return null;
    if (this.gradients?.pass === this.pass && numbersAre(this.gradients, name, index)) return this.gradients;
    try {
      return new Gradients(this.pass, name, index).whole();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return null;
    }
  }

  /**
   * What a station shows of the numbers, or of their gradients.
   *
   * @param {import("./places.js").Step} step
   */
  shown(step) {
    return shownOf(step, this.state.at === step.name ? this.state.stage : "", this.gradients);
  }

  /** The pass that is shown. */
  get pass() {
    return this.translation.pass;
  }

  /**
   * A station's name in a sentence.
   *
   * @param {import("./places.js").Step} step
   */
  nameOf(step) {
    return fullName(step, this.groupOf(step));
  }

  /**
   * Its name beside another station: short within a row.
   *
   * @param {import("./places.js").Step} step
   * @param {import("./places.js").Step} beside
   */
  shortName(step, beside) {
    return this.groupOf(step) === this.groupOf(beside) ? labelOf(step) : this.nameOf(step);
  }

  /** @param {import("./places.js").Step} step */
  groupOf(step) {
    return this.groups.find(({ steps }) => steps.includes(step));
  }

  /**
   * Where a station stands: "decoder, layer 1, cross-attention".
   *
   * @param {import("./places.js").Step} step
   */
  placeOf(step) {
    return groupName(this.groupOf(step));
  }

  /**
   * Whether something of a station is switched off.
   *
   * @param {import("./places.js").Step} step
   */
  isOff(step) {
    const { changes } = this.pass;
    return !isNone(changes) && switchesOf(step).some(({ kind, head }) => isOff(changes, kind, step.name, head));
  }

  /** The row of the number that is selected, and its head. */
  selectedRow() {
    const { select } = this.state;
    const step = this.machine.step(this.state.at);
    if (!select || !isOfRows(step, this.shown(step).stage)) return {};
    return { row: select.at(-2) ?? select[0], head: select.length === 3 ? select[0] : undefined };
  }

  /** @param {State} state */
  keepTrail(state) {
    if (state.select) this.trails.set(selectedIn(state), state.trail);
  }

  // A selection outside the station's numbers waits until a longer sentence has them again.
  keepInside() {
    const { state, machine } = this;
    const step = machine.step(state.at);
    state.head = Math.min(state.head, (step.settings.num_heads ?? 1) - 1);
    const back = this.gradients?.stagesOf(state.at) ?? [];
    if (![...step.stages, ...back].includes(state.stage)) state.stage = "";
    const { at, stage } = state;
    const select =
      state.select ?? (this.waiting?.at === at && this.waiting.stage === stage ? this.waiting.select : null);
    if (!select) return;
    const shape = this.shapeOf(step);
    const fits = select.length === shape.length && select.every((n, axis) => n < shape[axis]);
    state.select = fits ? select : null;
    this.waiting = fits ? null : { at, stage, select };
  }

  /** The sizes of what a station shows; of heads as their explorer has them. @param {import("./places.js").Step} step */
  shapeOf(step) {
    const { stage, isBack, address } = this.shown(step);
    if (!isBack) return this.pass.shape(step.name, this.state.stage || undefined);
    if (step.kind.isOfHeads) {
      const data = this.station.heads.dataOf(step);
      const known = stage in data.further ? stage : "weights";
      return [step.heads, data.rowsIn(known), data.columns(known)];
    }
    return address ? this.gradients.tensor(address).shape : this.pass.shape(step.name);
  }

  render() {
    this.typed.render();
    this.written.render();
    this.offs.render();
    this.followed.render();
    if (this.arcs) this.arcs.render();
    else if (this.hasPlan) this.plan.render();
    this.station.render();
  }
}
