// The station that is chosen: its numbers, large and alive, what can be switched off in it, and its arithmetic.

import { fixed } from "../../core/digits.js";
import { changesText, isOff, switched } from "../../core/model/changes.js";
import { workings } from "../../core/model/workings.js";
import { Explorer } from "../../explorer.js";
import { say } from "../../words/words.js";
import { coloured, make } from "../dom.js";
import { Grid } from "../grid.js";

/**
 * @typedef {import("../../core/model/program.js").Step} Step
 * @typedef {import("../../core/model/workings.js").Term} Term
 */

/** What can be switched off, by the operation of a station. @type {Record<string, string[]>} */
const SWITCHES = {
  add_positions: ["positions_off"],
  add: ["residuals_off"],
  layer_norm: ["norms_off"],
  attention: ["mask_off", "scale_off"],
};

// The numbers of a station as a table: a row for each word.
class StationGrid extends Grid {
  /** @param {import("./station.js").Rows} rows */
  constructor(rows) {
    super(/** @type {any} */ (rows.data));
  }

  build(rows, columns, isOutput) {
    super.build(rows, columns, isOutput);
    const corner = this.table.querySelector(".ax-corner");
    corner.replaceChildren();
  }
}

/**
 * What the table asks of an attention, of any station.
 *
 * @typedef {{ data: { queries: string[], keys: string[], L: number, places: number, columns: () => number },
 *   cell: (stage: string, i: number, j: number) => number }} Rows
 */

export class StationPanel {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Record<string, boolean>} what is open in the arithmetic, by its path */
    this.open = {};
    this.name = make("p", { class: "am-name", role: "status", "aria-live": "polite" });
    this.does = make("p", { class: "am-does" });
    this.ways = make("div", { class: "am-ways" });
    this.switches = make("div", { class: "am-switches" });
    this.stages = make("div", { class: "am-stages", role: "radiogroup", "aria-label": say("stage") });
    this.numbers = make("div", { class: "am-numbers" });
    this.sentence = make("p", { class: "ax-sentence", role: "status", "aria-live": "polite" });
    this.tree = make("div", { class: "ax-tree" });
    this.element = make(
      "div",
      { class: "am-panel" },
      make("div", {}, this.name, this.does, this.ways, this.switches, this.stages),
      this.numbers,
      this.sentence,
      this.tree,
    );
  }

  get step() {
    return this.model.machine.step(this.model.state.at);
  }

  render() {
    const { step, model } = this;
    this.name.textContent = model.nameOf(step);
    this.does.textContent = say(`does_${step.operation}`);
    this.renderWays(step);
    this.renderSwitches(step);
    this.renderStages(step);
    this.renderNumbers(step);
    this.renderWorkings();
  }

  /** @param {Step} step */
  renderWays(step) {
    const { model } = this;
    const way = (word, steps) =>
      steps.length
        ? [
            make("span", { class: "ax-label" }, say(word)),
            ...steps.map((each) =>
              make(
                "button",
                { type: "button", title: model.nameOf(each), onclick: () => model.go(each.name) },
                model.shortName(each, step),
              ),
            ),
          ]
        : [];
    this.ways.replaceChildren(...way("madeOf", step.inputs), ...way("goesInto", model.plan.after(step)));
  }

  /** @param {Step} step */
  renderSwitches(step) {
    const { model } = this;
    const { changes } = model.pass;
    const flip = (kind, head) => {
      const next = switched(model.machine, changes, kind, step.name, head);
      model.choose({ off: changesText(next) });
    };
    const box = (kind, words, head) => {
      const input = make("input", { type: "checkbox", onchange: () => flip(kind, head) });
      input.checked = !isOff(changes, kind, step.name, head);
      return make("label", { class: "am-switch" }, input, words);
    };
    const boxes = [];
    if (step.operation === "attention")
      for (let head = 0; head < step.settings.num_heads; head++)
        boxes.push(box("heads_off", say("headOn", { head }), head));
    for (const kind of SWITCHES[step.operation] ?? []) {
      if (kind === "mask_off" && !step.settings.keep) continue;
      boxes.push(box(kind, say(`on_${kind}`)));
    }
    // The focus stays in the box that was switched.
    const at = [...this.switches.querySelectorAll("input")].indexOf(/** @type {any} */ (document.activeElement));
    const look = boxes.length ? make("p", { class: "am-look" }, say(`look_${step.operation}`)) : "";
    this.switches.replaceChildren(...boxes, look);
    if (at >= 0) this.switches.querySelectorAll("input")[at]?.focus();
  }

  // The arrays that a step makes, if they are several: those of an attention stand in its explorer.
  renderStages(step) {
    const { model } = this;
    this.stages.hidden = step.stages.length < 2 || step.operation === "attention";
    if (this.stages.hidden) return;
    const chosen = model.state.stage || step.stages.at(-1);
    this.stages.replaceChildren(
      ...step.stages.map((stage) =>
        make(
          "button",
          {
            type: "button",
            role: "radio",
            "aria-checked": String(stage === chosen),
            onclick: () => model.choose({ stage: stage === step.stages.at(-1) ? "" : stage, select: null }, true),
          },
          say(`array_${stage}`),
        ),
      ),
    );
  }

  /** @param {Step} step */
  renderNumbers(step) {
    if (step.operation === "attention") return this.renderAttention(step);
    this.attention = null;
    if (step.operation === "words") {
      this.grid = null;
      const { pass } = this.model;
      const ids = pass.labels(step.name).map((label, t) => `${label} ${pass.value(step.name, [t])}`);
      return this.numbers.replaceChildren(make("p", { class: "am-ids" }, ids.join(" · ")));
    }
    const { pass, state } = this.model;
    const stage = state.stage || step.stages.at(-1);
    const rows = pass.rows(step.name, stage);
    const width = rows[0]?.length ?? 0;
    const labels = pass.labels(step.name);
    const { target } = this.model.machine.words;
    // Of the scores of words, and of their probabilities, a word heads each column.
    const isOfWords =
      width === target.length && !this.model.plan.after(step).some(({ operation }) => operation !== "softmax");
    const keys = Array.from({ length: width }, (_, n) => (isOfWords ? target[n] : String(n)));
    const key = [step.name, stage, labels, width].join("|");
    const data = { queries: labels, keys, L: rows.length, places: 4, columns: () => width };
    const of = { data, cell: (_stage, i, j) => rows[i][j] };
    if (!this.grid || this.gridOf !== key) {
      this.grid = new StationGrid(of);
      this.grid.onselect = (select) => this.model.choose({ select }, true);
      this.grid.onpoint = (place) => this.tell(place);
      this.numbers.replaceChildren(this.grid.element);
      this.gridOf = key;
    }
    this.grid.draw(
      /** @type {any} */ (of),
      { stage: isOfWords ? "weights" : "output", select: state.select },
      /** @type {any} */ (of),
    );
    this.grid.table.setAttribute("aria-label", this.model.nameOf(step));
    this.grid.light(state.select);
    return undefined;
  }

  tell(place) {
    const { grid, model } = this;
    if (!place || String(place) === String(model.state.select)) return model.tip.hide();
    const { data } = grid;
    const number = fixed(this.value(place), 4);
    return model.tip.show(grid.boxOf(place), [
      `${data.queries[place[0]]} · ${data.keys[place[1]]}\u2002`,
      make("b", {}, number),
    ]);
  }

  value(place) {
    const { state, pass } = this.model;
    return pass.value(state.at, place, state.stage || undefined);
  }

  // An attention station is an explorer of its own.
  renderAttention(step) {
    const { model } = this;
    const { pass, state } = model;
    this.grid = null;
    const data = pass.data(step.name);
    data.view = model.payload.view.explorer ?? {};
    const key = [step.name, pass.source, pass.target, changesText(pass.changes)].join("|");
    const [head, ...place] = state.select ?? [0];
    const start = {
      stage: state.stage && state.stage !== "merged" ? state.stage : "weights",
      head,
      select: place.length === 2 ? place : null,
    };
    if (this.attention?.key !== key) {
      const host = make("div", {});
      const payload = { data, name: step.name };
      /** @param {import("../../core/state.js").State} state */
      const chosen = ({ stage, head, select }) =>
        model.choose({ stage, select: select ? [head, ...select] : null }, true);
      const explorer = new Explorer(host, payload, { start, chosen });
      this.attention = { key, explorer };
      this.numbers.replaceChildren(host);
    } else if (String([start.stage, start.head, start.select]) !== String(this.shownIn)) {
      this.attention.explorer.apply(start);
    }
    const { explorer } = this.attention;
    this.shownIn = [explorer.state.stage, explorer.state.head, explorer.state.select];
  }

  renderWorkings() {
    const { model, step } = this;
    const { state, pass } = model;
    const isShown = state.select && step.operation !== "words";
    this.sentence.hidden = this.tree.hidden = !isShown;
    if (!isShown) return;
    const stage = state.stage || undefined;
    const term = workings(pass, step.name, state.select, stage);
    const words = pass.labels(step.name);
    const row = state.select.at(-2);
    this.sentence.textContent = say("number", {
      word: words[Math.min(row, words.length - 1)],
      column: state.select.at(-1),
      number: fixed(term.value, 4),
    });
    this.tree.replaceChildren(this.branch(term, `${state.at}.${state.stage}.${state.select}`, true));
  }

  /**
   * A number's line, the numbers that it is made of inside, and the way to where each was made.
   *
   * @param {Term} term
   * @param {string} path
   * @param {boolean} [isFirst]
   */
  branch(term, path, isFirst) {
    const { model } = this;
    const line = coloured(term.line);
    const lead = isFirst
      ? []
      : [
          " ",
          make(
            "button",
            {
              type: "button",
              class: "am-lead",
              "aria-label": say("goThere", { name: term.name }),
              onclick: (event) => {
                event.preventDefault();
                const { stages } = model.machine.step(term.step);
                const stage = term.stage === stages.at(-1) ? "" : term.stage;
                model.go(term.step, { stage, select: term.index });
              },
            },
            "→",
          ),
        ];
    if (!term.parts) return make("div", { class: "ax-leaf" }, ...line, ...lead);
    const inside = make("div", { class: "ax-parts" });
    const fill = () => {
      if (!inside.firstChild) inside.append(...term.parts().map((part, n) => this.branch(part, `${path}.${n}`)));
    };
    const open = this.open[path] ?? isFirst;
    if (open) fill();
    const ontoggle = ({ target }) => {
      fill();
      this.open[path] = target.open;
    };
    return make("details", { open, ontoggle }, make("summary", { onclick: fill }, ...line, ...lead), inside);
  }
}
