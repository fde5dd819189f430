// The losses over the steps as curves, and the least that is possible for letters that nobody can know.

import { hundredths } from "../../core/training/lines.js";
import { say } from "../../words/words.js";
import { make, svg } from "../dom.js";
import { heading, part } from "../headings.js";

const [WIDE, HIGH] = [1000, 160]; // of the drawing, which is stretched to the room that it has
const [LEAST_STEPS, POINTS] = [100, 400];
const [LEAST_TOP, MOST_TOP] = [2.5, 6]; // nats: a larger loss leaves the drawing

export class Curve {
  /** @param {import("./view.js").TrainingView} view */
  constructor(view) {
    this.view = view;
    const line = (name) => svg("path", { class: `at-line at-${name}` });
    this.lines = { first: line("first"), repeats: line("repeats") };
    this.possible = svg("path", { class: "at-line at-possible" });
    this.marker = svg("path", { class: "at-marker" });
    this.grid = svg("path", { class: "at-grid" });
    this.svg = svg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img" },
      this.grid,
      this.possible,
      this.lines.first,
      this.lines.repeats,
      this.marker,
    );
    this.ticks = make("div", { class: "at-ticks", "aria-hidden": "true" });
    this.end = make("span", { class: "at-end", "aria-hidden": "true" });
    this.legend = make("p", { class: "at-legend" });
    this.values = Object.fromEntries(["first", "repeats", "possible"].map((name) => [name, make("b")]));
    for (const [name, word] of [
      ["repeats", "tr_curveRepeats"],
      ["first", "tr_curveFirst"],
      ["possible", "tr_curvePossible"],
    ])
      this.legend.append(
        make(
          "span",
          { class: "at-key" },
          make("i", { class: `at-swatch at-${name}` }),
          say(word),
          " ",
          this.values[name],
        ),
      );
    const { texts } = view.asked;
    this.element = part(
      "at-part",
      heading("at-title", say(texts === 1 ? "tr_curveOne" : "tr_curve", { texts })),
      this.legend,
      make("div", { class: "at-curve" }, this.ticks, this.svg, this.end),
    );
  }

  /** The highest loss that is drawn, and the last step. */
  range() {
    const { past } = this.view;
    let top = LEAST_TOP;
    for (const { first, repeats } of past.entries) top = Math.max(top, Math.min(MOST_TOP, Math.max(first, repeats)));
    return [Math.ceil(top * 2) / 2, Math.max(LEAST_STEPS, past.furthest)];
  }

  paint() {
    const { past, possible } = this.view;
    const [top, last] = this.range();
    const x = (step) => ((WIDE * step) / last).toFixed(1);
    const y = (loss) => (HIGH * (1 - Math.min(loss, top * 1.1) / top)).toFixed(1);
    for (const [name, path] of Object.entries(this.lines)) {
      const points = past.curve(/** @type {any} */ (name), POINTS).filter(([, loss]) => Number.isFinite(loss));
      path.setAttribute("d", points.map(([step, loss], n) => `${n ? "L" : "M"}${x(step)} ${y(loss)}`).join(""));
    }
    const across = (loss) => `M0 ${y(loss)}H${WIDE}`;
    this.possible.setAttribute("d", across(possible));
    this.marker.setAttribute("d", `M${x(past.count)} 0V${HIGH}`);
    if (top !== this.top) {
      this.top = top;
      const whole = [...Array(Math.floor(top) + 1).keys()];
      this.grid.setAttribute("d", whole.map(across).join(""));
      const tick = (n) => make("span", { style: `top: ${100 * (1 - n / top)}%` }, String(n));
      this.ticks.replaceChildren(...whole.map(tick));
    }
    this.end.textContent = say("tr_stepOf", { step: last });
    const { last: entry } = past;
    for (const name of ["first", "repeats"]) this.values[name].textContent = entry ? hundredths(entry[name]) : "";
    this.values.possible.textContent = hundredths(possible);
  }

  /** In words, when nothing moves. */
  describe() {
    const { past, possible } = this.view;
    const { last, count } = past;
    const said = last
      ? say("tr_curveAlt", {
          count,
          first: hundredths(last.first),
          repeats: hundredths(last.repeats),
          possible: hundredths(possible),
        })
      : say("tr_curveNone");
    this.svg.setAttribute("aria-label", said);
  }
}
