// A model that learns, on a page: it is trained in a worker, and its losses, its maps, its text with arcs and all its
// weights are painted as they come.

import { parts } from "../../core/parts.js";
import { Problem } from "../../core/problem.js";
import { Remote } from "../../core/remote.js";
import { accepted } from "../../core/state.js";
import { hundredths } from "../../core/training/lines.js";
import { Past } from "../../core/training/past.js";
import { tokensOf } from "../../core/training/task.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { setLevels } from "../headings.js";
import { ALL_CONTROLS, isChinese, withParts } from "../loading.js";
import { onTheme } from "../pixels.js";
import { Controls } from "./controls.js";
import { Curve } from "./curve.js";
import { Film } from "./film.js";
import { Head } from "./head.js";
import { Sentence } from "./sentence.js";
import { askedIn, BEGIN, CHANGE, optimiserIn, settingsOf } from "./settings.js";
import { Weights } from "./weights.js";
import { startWorker } from "./worker.js";

/** @typedef {import("../../core/state.js").State} State */

const MOST_STEPS = 3000;
let views = 0;

export class TrainingView {
  isReady = false;
  isRunning = false;
  past = new Past();
  /** @type {string[]} */ tokens = [];
  /** @type {string[]} */ targets = [];
  /** @type {import("../../core/training/model.js").Parameter[]} */ parameters = [];
  weightCount = 0;
  possible = 0;
  /** What the worker last said of the example and of all weights. @type {any} */ numbers = null;
  /** The same of the weight that is open. @type {any} */ weight = null;
  /** The letter whose row is looked at alone. @type {number | null} */ row = null;
  /** Rises with each training. */ stamp = 0;
  /** The worker, once it has started. @type {Remote | undefined} */ remote;

  /**
   * @param {Element} host
   * @param {{ asked: any }} payload see views/training.py
   * @param {import("../model/model.js").How} how
   */
  constructor(host, { asked }, { start = {}, chosen = () => {}, link = null } = {}) {
    this.asked = asked;
    this.chosen = chosen;
    this.link = link;
    this.id = `at-${++views}`;
    this.settings = settingsOf(asked);
    /** @type {State} */
    this.first = Object.fromEntries(Object.entries(this.settings).map(([name, { first }]) => [name, first]));
    const [state, refused] = accepted(this.settings, { ...this.first }, start, () => {});
    /** @type {State} */
    this.state = state;
    this.build(host);
    this.notice(refused);
    this.begin();
  }

  /** @param {Element} host */
  build(host) {
    this.root = make("div", {
      class: "ax-root at-root",
      role: "group",
      lang: say("lang"),
      "aria-label": say("tr_trainingView"),
    });
    this.controls = new Controls(this);
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    this.said = make("p", { class: "at-said", role: "status" }, say("tr_trainingStarts"));
    this.curve = new Curve(this);
    this.film = new Film(this);
    this.sentence = new Sentence(this);
    this.head = new Head(this);
    this.weights = new Weights(this);
    const small = (word, act, more = {}) =>
      make("button", { type: "button", class: "ax-reset", onclick: act, ...more }, say(word));
    this.shared = make("p", { class: "ax-shared", role: "status" });
    const foot = make(
      "div",
      { class: "ax-foot" },
      small("reset", () => this.open({})),
      small("share", () => this.share(), { hidden: !this.link }),
      this.shared,
    );
    this.shown = make(
      "div",
      { class: "at-shown", hidden: true },
      this.curve.element,
      this.film.element,
      this.sentence.element,
      this.head.element,
      this.weights.element,
    );
    this.root.append(this.controls.element, this.said, this.noticeLine, this.shown, foot);
    // A notebook would take plain keys for commands.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    /** The parts that are in view. @type {Set<Element>} */
    this.seen = new Set();
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) this.seen[isIntersecting ? "add" : "delete"](target);
      this.paintSoon();
    });
    for (const part of this.shown.children) observer.observe(part);
    onTheme(this.root, () => {
      this.film.forget();
      this.paintSoon();
    });
    host.append(this.root);
    setLevels(this.root);
    this.controls.render(false);
  }

  /** The layer that is shown: a single one has the number 0. */
  get layer() {
    return Math.min(this.state.layer, this.state.layers - 1);
  }

  /** Whether the weights are so large that a pass over the example has no numbers. */
  get isBroken() {
    return !!this.numbers && !Number.isFinite(this.numbers.loss.mean);
  }

  get isFull() {
    return this.past.count >= MOST_STEPS;
  }

  /** A training from its first step. */
  async begin() {
    const stamp = ++this.stamp;
    this.isReady = this.isRunning = false;
    delete this.root.dataset.step;
    this.controls.render(false);
    try {
      this.remote ??= await this.started();
      if (stamp !== this.stamp) return;
      const begun = await this.remote.ask("init", askedIn(this.asked, this.state));
      if (stamp !== this.stamp) return;
      this.past = new Past();
      this.past.take(begun);
      this.past.change(0); // the optimiser that it begins with
      const { task } = begun.settings;
      this.tokens = tokensOf(task, begun.example.ids);
      this.targets = tokensOf(task, begun.example.targets);
      this.parameters = begun.parameters;
      this.weightCount = begun.weights;
      this.possible = begun.possible;
      this.numbers = this.weight = null; // of the training before, whose matrices may be others
      this.keepInside();
      this.film.build();
      this.film.forget();
      this.sentence.build();
      this.weights.build();
      this.head.forget();
      this.isReady = true;
      await this.refresh();
      this.shown.hidden = false;
      this.tell(say(stamp > 1 ? "tr_saidBegan" : "tr_saidReady"));
    } catch (error) {
      this.fail(error);
    }
  }

  async started() {
    const worker = await startWorker();
    worker.postMessage({ what: "speak", asked: { isChinese: isChinese(say("lang")) } });
    return new Remote(worker, (news) => this.hear(news), "trainingFailed");
  }

  /** The end: a widget is taken away. */
  close() {
    this.isReady = false;
    this.remote?.end(say("trainingFailed"));
    this.root.remove();
  }

  /** What the worker tells while it runs. @param {import("../../core/training/session.js").News} news */
  hear(news) {
    if (!this.isReady) return; // of a training that has ended
    this.past.take(news);
    this.paintSoon();
    this.renew();
  }

  /** New numbers, asked for one after the other: what comes meanwhile needs them once more. */
  async renew() {
    this.isOld = true;
    if (this.isRenewing) return;
    this.isRenewing = true;
    try {
      while (this.isOld) {
        this.isOld = false;
        await this.take();
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.isRenewing = false;
    }
  }

  /** The numbers of the example, and of the weight that is open. */
  async take() {
    const { stamp } = this;
    const { place } = this.weights;
    const [numbers, weight] = await Promise.all([
      this.remote.ask("numbers"),
      place && this.remote.ask("weight", place),
    ]);
    if (stamp !== this.stamp) return;
    this.numbers = { ...numbers, stamp: `${stamp}.${numbers.count}` };
    this.weight = weight && { ...weight, place };
    this.paintSoon();
  }

  /** The numbers of where it is, when it stands still. */
  async refresh() {
    await this.take();
    this.settle();
  }

  /** @param {() => Promise<void>} act what one asks for: its problem is said, and what was done before it is shown */
  async act(act) {
    const { stamp } = this;
    try {
      await act();
    } catch (error) {
      if (stamp !== this.stamp) return;
      this.isRunning = false;
      this.fail(error);
      if (error instanceof Problem && this.isReady) await this.refresh().catch((again) => this.fail(again));
    }
  }

  stepOnce() {
    this.act(async () => {
      this.past.take(await this.remote.ask("step"));
      await this.refresh();
      this.tellLosses("tr_saidStep");
    });
  }

  toggle() {
    // A pause ends the run that is under way.
    if (this.isRunning) this.act(() => this.remote.ask("pause"));
    else this.runTo(MOST_STEPS);
  }

  /** @param {number} until */
  runTo(until) {
    const { stamp } = this;
    this.isRunning = true;
    this.root.classList.add("at-runs"); // until what its end left is painted
    this.notice([]);
    this.tell(say("tr_saidRunning"));
    this.controls.render(false);
    this.act(async () => {
      await this.remote.ask("run", { until });
      if (stamp !== this.stamp) return;
      this.isRunning = false;
      await this.refresh();
      if (this.isFull) this.tell(say("tr_saidMost", { most: MOST_STEPS }));
      else this.tellLosses("tr_saidPaused");
    });
  }

  /** Back to an earlier step, or on to one that was known. @param {number} step */
  goTo(step) {
    if (!this.isReady || step === this.past.count) return this.paintSoon();
    if (step > this.past.count) return this.runTo(step);
    return this.act(async () => {
      const news = await this.remote.ask("rewind", { step });
      this.past.rewind(news);
      const { kind, lr } = news.optimiser;
      this.state = { ...this.state, optimiser: kind, rate: lr };
      this.notice([]);
      await this.refresh();
      this.tellLosses("tr_saidStep");
    });
  }

  /**
   * What the reader does: taken, or said why not.
   *
   * @param {State} wanted
   * @param {boolean} [isStep]
   */
  choose(wanted, isStep = false) {
    const [next, refused] = accepted(this.settings, this.state, wanted, () => {});
    this.enter(next, refused);
    if (!refused.length) this.chosen(this.state, this.first, isStep);
  }

  /** What an address wants, with all that it does not name as at first. @param {State} wanted */
  open(wanted) {
    this.enter(...accepted(this.settings, { ...this.first }, wanted, () => {}));
  }

  /**
   * @param {State} next
   * @param {string[]} refused
   */
  enter(next, refused) {
    const before = this.state;
    const differs = (names) => names.some((name) => String(next[name]) !== String(before[name]));
    this.state = next;
    this.notice(refused);
    if (differs(BEGIN)) return this.begin();
    if (!this.isReady) return undefined;
    if (differs(CHANGE)) {
      this.act(async () => {
        const { count } = await this.remote.ask("change", { optimiser: optimiserIn(this.asked, next) });
        this.past.change(count);
        this.tell(say("tr_saidChanged"));
      });
    }
    this.controls.render(refused.length > 0);
    if (differs(["weight"])) this.renew();
    if (!this.isRunning) this.settle();
    return this.paintSoon();
  }

  // A shorter text has fewer places.
  keepInside() {
    const most = this.tokens.length;
    if (this.row !== null && this.row >= most) this.row = null;
    if (this.state.select?.some((n) => n >= most)) this.state = { ...this.state, select: null };
  }

  /** @param {string[]} refused */
  notice(refused) {
    this.noticeLine.textContent = refused.length ? `${refused.slice(0, 3).join("; ")}.` : "";
    this.shared.textContent = "";
  }

  /** @param {any} error */
  fail(error) {
    if (!(error instanceof Problem)) throw error;
    this.noticeLine.textContent = `${error.message}.`;
    this.tell(this.isReady ? say("tr_saidAt", { step: this.past.count }) : "");
    this.controls.render(true);
    // A worker that has ended answers nobody.
    if (error.message === say("trainingFailed")) Object.assign(this, { isReady: false, remote: undefined });
  }

  /** Read out once for a step, a pause, a way back. @param {string} text */
  tell(text) {
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  /** @param {string} word */
  tellLosses(word) {
    const { last, count } = this.past;
    if (!last) return this.tell(say("tr_saidReady"));
    const [loss, first, repeats] = [last.loss, last.first, last.repeats].map(hundredths);
    return this.tell(say(word, { step: count, loss, first, repeats }));
  }

  /** The number that is open, where a link leads to it. */
  comeIntoSight() {
    if (this.state.select) this.head.show();
  }

  // Said beside the button: what has changed may be far above it.
  share() {
    const { link, state, first, shared } = this;
    const failed = ({ message }) => {
      shared.textContent = `${message}.`;
    };
    withParts(ALL_CONTROLS, () => parts.share({ link, state, first, shared }), failed);
  }

  /** With the next frame of the screen, once for all that has changed. */
  paintSoon() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.paint();
    });
  }

  /** While it runs, only what is in view and what is quick: the table of numbers waits. */
  paint() {
    if (!this.numbers || !this.isReady) return;
    this.controls.render(document.activeElement === this.controls.rate || !!this.noticeLine.textContent);
    this.root.classList.toggle("at-runs", this.isRunning);
    for (const part of [this.curve, this.film, this.sentence, this.weights])
      if (!this.isRunning || this.seen.has(part.element)) part.paint();
    if (this.isRunning) return;
    this.head.paint();
    this.root.dataset.step = String(this.numbers.count); // what all of it shows now
  }

  /** What is only said when nothing moves. */
  settle() {
    this.curve.describe();
    this.sentence.tell();
    this.paintSoon();
  }
}
