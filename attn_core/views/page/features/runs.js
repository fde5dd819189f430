// Two runs, or two models, and their difference: three matrices, one of which is the explorer's own.

import { Attention } from "../core/attention.js";
import { Data } from "../core/data.js";
import { differences } from "../core/difference.js";
import { parts } from "../core/parts.js";
import { oneOf } from "../core/state.js";
import { make } from "../ui/dom.js";
import { say } from "../words/words.js";
import { Feature } from "./feature.js";

const RUNS = ["first", "second", "difference"];
/** With which run each shares its colours: the difference has its own. @type {Record<string, string>} */
const SHARES = { first: "second", second: "first", difference: "difference" };

export class Runs extends Feature {
  static fits(explorer) {
    return Feature.fits(explorer) && !!explorer.payload.runs;
  }

  /** @type {any[]} a matrix for each run; the explorer's own is not among them */
  others = [];

  constructor(explorer) {
    super(explorer);
    const { names, other } = explorer.payload.runs;
    const own = { source: null, bias: null, softcap: null, sinks: null, overview: null, keep: null, dropout: null };
    const payload = { ...explorer.payload, ...own, ...other };
    this.other = payload.weights ? parts.given(payload) : new Data(payload);
    this.names = names;
    this.settings = { run: { ...oneOf("first", RUNS), alters: true } };
  }

  get isWide() {
    return true;
  }

  /** @param {string} run */
  nameOf(run) {
    return run === "difference"
      ? say("minus", { first: this.names[0], second: this.names[1] })
      : this.names[RUNS.indexOf(run)];
  }

  build(controls) {
    const { explorer } = this;
    controls.pick(
      "run",
      RUNS.map((run) => [run, this.nameOf(run)]),
    );
    this.sides = make("div", { class: "ax-pair" });
    explorer.view.element.before(this.sides);
    this.own = this.boxOf(explorer.view);
    for (const _ of RUNS.slice(1)) {
      const view = explorer.newView();
      view.onselect = (select) => explorer.choose({ run: view.run, select });
      view.onpoint = (place) => explorer.pointAt(place, { run: view.run }, view);
      this.others.push(this.boxOf(view));
    }
  }

  // A matrix with a line above it that says which it is.
  boxOf(view) {
    const caption = make("p", { class: "ax-caption" });
    const box = make("div", { class: "ax-one" }, caption, view.element);
    this.sides.append(box);
    return { view, caption, box };
  }

  derive(made, { run, scale, dropout }) {
    const { other, explorer } = this;
    const { first } = explorer;
    const { data, settings, formulas } = made;
    // Of the other run's own settings those that the reader did not change.
    const second = { ...settings };
    if (scale === first.scale) second.scale = other.scale;
    if (dropout === first.dropout) second.dropout = other.dropout;
    const both = [new Attention(data, settings, formulas), new Attention(other, second, formulas)];
    const runs = { both, names: this.names };
    if (run === "second") return { data: other, settings: second, formulas, runs };
    return { ...made, runs, formulas: run === "difference" ? differences(runs) : formulas };
  }

  original() {
    const { state } = this.explorer;
    return { ...state, run: SHARES[state.run] };
  }

  draw(_shown, original) {
    const { explorer, own, others } = this;
    const { state } = explorer;
    this.label(own, state.run);
    const rest = RUNS.filter((run) => run !== state.run);
    for (const [n, one] of others.entries()) {
      const run = rest[n];
      one.view.run = run;
      const there = { ...state, run };
      const shown = explorer.attention(there);
      const ends = SHARES[run];
      one.view.draw(shown, there, ends === original.run ? original : explorer.attention({ ...state, run: ends }));
      this.label(one, run);
    }
  }

  /** Its place does not change when another becomes the explorer's own. */
  label({ caption, box, view }, run) {
    caption.textContent = this.nameOf(run);
    box.style.order = RUNS.indexOf(run);
    view.element.setAttribute("data-run", run);
  }

  light(place) {
    for (const { view } of this.others) view.light(place);
  }
}
