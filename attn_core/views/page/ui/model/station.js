// The station that is chosen: what it does, its numbers, large and alive, and the arithmetic of one of them.

import { fixed, plain } from "../../core/digits.js";
import { lastStage } from "../../core/model/place.js";
import { workings } from "../../core/model/workings.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { heading } from "../headings.js";
import { refillFor } from "../refill.js";
import { numberName, OF_OUTPUT } from "./gradients.js";
import { Heads } from "./heads.js";
import { Lines } from "./lines.js";
import { Numbers } from "./numbers.js";
import { Switches } from "./switches.js";

/** @typedef {import("../../core/model/program.js").Step} Step */

export class StationPanel {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    this.name = heading("am-name");
    this.name.tabIndex = -1;
    this.code = make("code", { class: "am-code" });
    this.does = make("p", { class: "am-does" });
    this.ways = make("div", { class: "am-ways", role: "group", "aria-label": say("ways") });
    this.switches = new Switches(model);
    this.stages = make("div", { class: "am-stages", role: "group", "aria-label": say("stage") });
    this.table = new Numbers(model);
    this.heads = new Heads(model);
    this.ids = make("p", { class: "am-ids" });
    this.numbers = make("div", { class: "am-numbers" });
    this.sentence = make("p", { class: "ax-sentence am-sentence", role: "status" });
    this.lines = new Lines(model);
    this.ask = make("button", { type: "button", class: "am-ask", onclick: () => this.follow() }, say("askGradients"));
    this.hint = make("p", { class: "am-look" }, say("hintNumber"));
    this.why = make("p", { class: "am-look am-why" });
    this.top = make(
      "div",
      {},
      make("div", { role: "status" }, this.name),
      this.code,
      this.does,
      this.ways,
      this.switches.element,
      this.stages,
    );
    this.element = make(
      "div",
      { class: "am-panel" },
      this.top,
      this.numbers,
      this.why,
      this.sentence,
      this.lines.element,
      this.ask,
      this.hint,
      this.switches.counted,
    );
  }

  get step() {
    return this.model.machine.step(this.model.state.at);
  }

  render() {
    const { step, model } = this;
    // The table of the attention that has arcs says the same as they do.
    const name = model.arcs?.within.step === step.name ? say("arcTable") : model.nameOf(step);
    if (this.name.textContent !== name) this.name.textContent = name;
    this.code.textContent = step.name;
    this.does.textContent = say(`does_${step.operation}`);
    this.renderWays(step);
    this.renderStages(step);
    this.renderNumbers(step);
    this.why.textContent = this.whyOther(step);
    this.why.hidden = !this.why.textContent;
    this.renderWorkings(step);
    this.switches.render(step);
  }

  // What it is led to by the keyboard: the arithmetic, or the name of the station.
  focus() {
    const target = this.lines.element.hidden ? this.name : this.lines.line;
    target.focus({ preventScroll: true });
  }

  // The drawing stays as far in sight as there is room for the numbers.
  show() {
    const [top, numbers] = [this.top, this.numbers].map((each) => each.getBoundingClientRect());
    const isTall = numbers.bottom - top.top > innerHeight;
    if (top.top >= 0 && (isTall ? top.top < innerHeight / 2 : numbers.bottom <= innerHeight)) return;
    if (isTall || top.top < 0) this.top.scrollIntoView({ block: "start" });
    else this.numbers.scrollIntoView({ block: "end" });
  }

  // The arithmetic of a number that was pressed comes into sight.
  showLine() {
    if (!this.lines.element.hidden) this.lines.line.scrollIntoView({ block: "nearest" });
  }

  /** @param {Step} step */
  renderWays(step) {
    const { model } = this;
    const point = (each) => () => model.plan.point(each && { name: each.name });
    const way = (word, steps) =>
      steps.length
        ? [
            make("span", { class: "ax-label" }, say(word)),
            ...steps.map((each) =>
              make(
                "button",
                {
                  type: "button",
                  class: "am-way",
                  onclick: () => model.go(each.name),
                  onpointerenter: point(each),
                  onpointerleave: point(null),
                },
                model.shortName(each, step),
              ),
            ),
          ]
        : [];
    const ways = () => [...way("madeOf", step.inputs), ...way("goesInto", model.plan.after(step))];
    refillFor(this.ways, step.name, ways);
  }

  // The arrays that a step makes, if they are several, and the gradients on the way back through it: those of an
  // attention stand in its explorer.
  renderStages(step) {
    const { model } = this;
    const { gradients } = model;
    const back = gradients && !step.kind.isOfWords ? [OF_OUTPUT, ...gradients.stagesOf(step.name)] : [];
    this.stages.hidden = step.stages.length + back.length < 2 || step.kind.isOfHeads;
    if (this.stages.hidden) return;
    const usual = gradients ? OF_OUTPUT : lastStage(step);
    const { stage: shown } = model.shown(step);
    const button = (stage) =>
      make(
        "button",
        {
          type: "button",
          "aria-pressed": String(stage === shown),
          onclick: () => model.choose({ stage: stage === usual ? "" : stage, select: null }, true),
        },
        stage === OF_OUTPUT ? say("gradient") : back.includes(stage) ? stage : say(`array_${stage}`),
      );
    refillFor(this.stages, [step.name, shown, ...back].join(), () => [...step.stages, ...back].map(button));
  }

  /** @param {Step} step */
  renderNumbers(step) {
    const { pass } = this.model;
    this.element.classList.toggle("am-of-heads", step.kind.isOfHeads);
    if (step.kind.isOfHeads) {
      this.put(this.heads.element);
      this.heads.render(step);
    } else if (step.kind.isOfWords) {
      this.put(this.ids);
      const ids = pass.labels(step.name).map((label, t) => `${label} ${pass.value(step.name, [t])}`);
      this.ids.textContent = ids.join(" · ");
    } else {
      this.put(this.table.element);
      this.table.render(step);
    }
  }

  /** @param {Element} element */
  put(element) {
    if (this.numbers.firstChild !== element) this.numbers.replaceChildren(element);
  }

  /** @param {Step} step */
  renderWorkings(step) {
    const { state } = this.model;
    const shown = this.model.shown(step);
    const written = state.select && !step.kind.isOfWords ? this.workings(step, shown) : null;
    this.sentence.hidden = this.lines.element.hidden = !written;
    this.hint.hidden = !!written || step.kind.isOfWords || step.kind.isOfHeads;
    this.ask.hidden = !written || shown.isBack || !this.model.hasPlan || !this.followedBy(step);
    if (!written) return;
    this.lines.render(written);
    this.sentence.textContent = shown.isBack
      ? this.sayGradient(shown, written.value)
      : this.sayNumber(step, written.value);
  }

  /**
   * The arithmetic of the selected number; null of a gradient that is none.
   *
   * @param {Step} step
   * @param {import("./gradients.js").Shown} shown
   */
  workings(step, { address, isBack }) {
    const { gradients, pass, state } = this.model;
    if (!isBack) return workings(pass, step.name, state.select, state.stage || undefined);
    const place = step.kind.isOfHeads ? this.heads.backPlace(step) : address && { address, index: state.select };
    return place ? gradients.workings(place.address, place.index) : null;
  }

  /** The selected number as one whose gradients can be shown: its place in what comes out. @param {Step} step */
  followedBy(step) {
    const { stage, select } = this.model.state;
    const last = lastStage(step);
    if (select.length === 2 && (!stage || stage === last)) return select;
    if (!step.kind.isOfHeads || stage !== "output") return null;
    const [head, row, column] = select;
    return [row, (head * step.width) / step.heads + column];
  }

  // The gradients of the number whose arithmetic is open.
  follow() {
    const { model, step } = this;
    const index = this.followedBy(step);
    if (!index) return;
    model.choose({ loss: `${step.name}:${index}`, stage: "", select: null }, true);
    model.followed.element.scrollIntoView({ block: "nearest" });
  }

  /** Why the chances on the words above are other numbers than this station's. @param {Step} step */
  whyOther(step) {
    const { gradients, machine, pass, state, translation } = this.model;
    if (gradients && !step.kind.isOfWords && !gradients.address(step.name)) {
      return say("noGradient", { name: numberName(gradients.name, gradients.index) });
    }
    if (gradients || step !== machine.steps.at(-1)) return "";
    if (state.temperature !== 1) return say("chancesAtOne", { t: state.temperature });
    const isOther = ({ id, probability }, n) => Math.abs(probability - pass.value(step.name, [n, id])) > 1e-9;
    return translation.words.some(isOther) ? say("chancesThen") : "";
  }

  /**
   * What a step of the selected number would do to the one that is followed.
   *
   * @param {import("./gradients.js").Shown} shown
   * @param {number} value
   */
  sayGradient({ stage }, value) {
    const { index, name } = this.model.gradients;
    const isOfNumber = stage === OF_OUTPUT || stage.startsWith("grad_");
    const key = !isOfNumber ? "partIs" : value ? "gradientIs" : "gradientIsZero";
    const change = plain(value / 100, 6);
    return say(key, { name: numberName(name, index), stage, number: fixed(value, 4), change });
  }

  // A number, and what it is with everything on, in a sentence.
  sayNumber(step, value) {
    const { model } = this;
    const { select, stage } = model.state;
    const words = model.pass.labels(step.name);
    const column = select.at(-1);
    const was = model.plain?.value(step.name, select, stage || undefined);
    const key = was === undefined || was === value ? "numberIs" : "numberWas";
    return say(key, {
      word: words[Math.min(select.at(-2) ?? 0, words.length - 1)],
      column: this.table.isOfWords(step) ? model.machine.words.target[column] : say("column", { n: column }),
      number: fixed(value, 4),
      was: was === undefined ? "" : fixed(was, 4),
    });
  }
}
