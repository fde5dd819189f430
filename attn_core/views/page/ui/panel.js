// What stands beside the matrix: a sentence, the numbers behind a cell, and its arithmetic.

import { fixed, plain } from "../core/digits.js";
import { parts } from "../core/parts.js";
import { STAGES } from "../core/stages.js";
import { isShortened, Workings } from "../core/workings.js";
import { say, sayParts, sentenceKey } from "../words/words.js";
import { barsAlone, productRow, shares } from "./bars.js";
import { bdi, coloured, make, token, visible } from "./dom.js";

/**
 * One sentence about a number, as parts of an element.
 *
 * @param {import("../core/attention.js").Attention} attention
 * @param {string} stage
 * @param {number[]} place
 */
export function sentence(attention, stage, [i, j]) {
  const { data } = attention;
  if (stage in data.further) return parts.gradients.sentence(attention, stage, [i, j]);
  const query = token(data.queries[i], "q");
  const number = make("b", {}, fixed(attention.cell(stage, i, j), data.places));
  const to = (name, more) => sayParts(sentenceKey("say", name), { query, number, ...more });
  const other =
    stage === "output" ? make("bdi", { class: "ax-v" }, say("columnOf", { n: j })) : token(data.keys[j], "k");
  if (attention.isDifference) {
    const { both, names } = /** @type {import("../core/difference.js").Runs} */ (attention.runs);
    const [first, second] = both.map((one) => fixed(one.cell(stage, i, j), data.places));
    return to("difference", { other, first, second, one: names[0], two: names[1] });
  }
  if (stage === "output") return to(stage, { column: make("bdi", { class: "ax-v" }, say("columnOf", { n: j })) });
  const key = { key: token(data.keys[j], "k") };
  if (stage === "masked") return to(attention.keeps(i)[j] ? "scaled" : "hidden", key);
  if (STAGES.indexOf(stage) > 2 && attention.statistics(i).isDead) return to("dead");
  return to(stage === "dropped" && attention.survives(i)?.[j] === 0 ? "taken" : stage, key);
}

/** Whose row it is. @type {(data: import("../core/data.js").Data, stage: string, i: number) => HTMLElement} */
export const rowToken = (data, stage, i) => token(data.rowNames(stage)[i], data.axes(stage)[0] === "S" ? "k" : "q");

/**
 * A pair and its number, briefly.
 *
 * @type {typeof sentence}
 */
export function pairOf(attention, stage, [i, j]) {
  const { data } = attention;
  const [, columns, side] = data.axes(stage);
  const other = token(columns === "S" ? data.keys[j] : say("column", { n: j }), side);
  const number = make("b", {}, fixed(attention.cell(stage, i, j), data.places));
  return [rowToken(data, stage, i), " · ", other, "\u2002", number];
}

export class Panel {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    /** @type {Record<string, boolean>} what is open, by its path in the tree */
    this.open = {};
    /** @type {number | undefined} how many terms of a sum are written, where the reader asked for all */
    this.most = undefined;
    /** @type {string | undefined} the state that is drawn; none, where all is to be drawn anew */
    this.shown = undefined;
    this.close = make(
      "button",
      { type: "button", class: "ax-close", "aria-label": say("closeLabel"), onclick: () => explorer.leave() },
      say("close"),
    );
    this.sentence = make("p", { class: "ax-sentence", role: "status", "aria-live": "polite" });
    this.hint = make("p", { class: "ax-hint" }, say(explorer.data.given ? "hintGiven" : "hint"));
    this.vectors = make("div", { class: "ax-vectors", role: "group", "aria-label": say("vectors") });
    this.bars = make("div", { class: "ax-bars", "aria-hidden": "true" });
    this.tree = make("div", { class: "ax-tree" });
    const parts = [this.close, this.sentence, this.hint, this.vectors, this.bars];
    const inside = make("div", { class: "ax-inside" }, make("div", {}, ...parts), this.tree);
    this.element = make("div", { class: "ax-panel" }, inside);
  }

  // A selected number: its sentence and its arithmetic. With a mistake, the right arithmetic.
  render() {
    const { explorer, sentence: line, tree } = this;
    const { select, stage } = explorer.state;
    this.close.hidden = !select;
    explorer.root.classList.toggle("ax-open", !!select);
    const key = select ? JSON.stringify(explorer.state) : "";
    if (key === this.shown) return;
    this.shown = key;
    explorer.root.classList.toggle("ax-idle", !select);
    this.hint.hidden = !!select;
    if (!select) {
      this.vectors.hidden = this.bars.hidden = true;
      for (const part of [line, tree]) part.replaceChildren();
      return;
    }
    const { attention, more } = explorer.compared(select, explorer.state);
    const hasVectors = explorer.shows("vectors") && !attention.isDifference;
    this.vectors.hidden = this.bars.hidden = !hasVectors;
    line.replaceChildren(...sentence(attention, stage, select), ...more);
    if (hasVectors) this.drawVectors();
    if (!explorer.shows("arithmetic")) return;
    const explained = explorer.attention(explorer.explained(explorer.state));
    const workings = new (explained.data.Lines ?? Workings)(explained, select[0], this.most);
    tree.replaceChildren(this.branch(workings.of(stage, select[1]), `${[stage, select]}`, true));
  }

  // Where the sentence about what was pressed is below the screen, the page goes no farther than it takes.
  comeIntoSight() {
    if (this.sentence.getBoundingClientRect().bottom > innerHeight) this.element.scrollIntoView({ block: "nearest" });
  }

  // Every sum of the arithmetic with all of its terms, from now on.
  writeOut() {
    this.most = Infinity;
    this.shown = undefined;
    this.render();
    this.tree.querySelector("summary").focus();
  }

  // The two rows behind the selected number.
  drawVectors() {
    const { explorer, vectors } = this;
    const { state, isPrint } = explorer;
    const { select: place, batch, head, stage } = state;
    const attention = explorer.attention(explorer.explained(state));
    const { data } = attention;
    const [i, j] = place;
    if (stage in data.further) return this.drawFurther(parts.gradients.factors(attention, stage, place));
    const line = (label, variable, colour, numbers, edit) =>
      make(
        "tr",
        {},
        make("th", { scope: "row", class: `ax-${colour}` }, bdi(label), " ", make("i", {}, variable)),
        ...Array.from(numbers, (x, n) =>
          make(
            "td",
            { class: `ax-${colour}`, title: edit ? undefined : visible(data.keys[n]), "data-edit": edit?.(n) },
            plain(x),
          ),
        ),
      );
    const row = (part, n, label) =>
      line(label, part, part, data.vector(part, batch, head, n), (d) => explorer.inputAt(part, [batch, head, n, d]));
    const isOutput = stage === "output";
    const rows = isOutput
      ? [
          line(data.queries[i], say("weights"), "q", attention.row("dropped", i)),
          line(say("column", { n: j }), "v", "v", attention.values(j)),
        ]
      : [row("q", i, data.queries[i]), row("k", j, data.keys[j])];
    if (isPrint && stage === "weights")
      rows.push(line(data.queries[i], say("masked"), "q", attention.row("masked", i)));
    this.drawSum(attention, state, place, rows);
    vectors.replaceChildren(make("table", {}, ...rows));
    for (const feature of explorer.features) feature.vectorsDrawn(vectors);
    return undefined;
  }

  /**
   * Two rows whose products add up to a number of a stage beside the six, if there are any.
   *
   * @param {{ rows: HTMLElement[], bars: HTMLElement[] } | null} drawn
   */
  drawFurther(drawn) {
    const { vectors, bars } = this;
    vectors.hidden = bars.hidden = !drawn;
    vectors.replaceChildren(make("table", {}, ...(drawn?.rows ?? [])));
    bars.replaceChildren(...(drawn?.bars ?? []));
  }

  /**
   * How the number comes about, as bars: a last row of the table, and what stands below where that is too wide.
   *
   * @param {import("../core/attention.js").Attention} attention
   * @param {import("../core/state.js").State} where
   * @param {number[]} place
   * @param {HTMLElement[]} rows of the table
   */
  drawSum(attention, { stage, batch, head }, [i, j], rows) {
    const { data } = attention;
    const isWeight = stage === "weights" || stage === "dropped";
    if (isWeight) return this.bars.replaceChildren(...shares(attention, [i, j], stage === "dropped"));
    /** @type {[string, number][]} */
    const ends = STAGES.slice(0, STAGES.indexOf(stage) + 1)
      .filter((name) => name !== "scaled" || stage === "scaled")
      .map((name) => [say(name), attention.cell(name, i, j)]);
    const sum =
      stage === "output"
        ? { a: attention.row("dropped", i), b: attention.values(j), colours: ["q", "v"], ends: ends.slice(-1) }
        : { a: data.vector("q", batch, head, i), b: data.vector("k", batch, head, j), colours: ["q", "k"], ends };
    const named = { ...sum, names: stage === "output" ? [say("weights"), "v"] : ["q", "k"] };
    const products = productRow(named);
    if (products) rows.push(products);
    this.bars.replaceChildren(...barsAlone(named));
    return undefined;
  }

  // The bars below the table stand there only if they have no room in it.
  fit() {
    const { vectors, bars } = this;
    const products = vectors.querySelector(".ax-products");
    if (products) products.hidden = false;
    const over = vectors.scrollWidth - vectors.clientWidth;
    // Vectors wider than the page scroll by keyboard only if they can have the focus.
    vectors.tabIndex = over > 0 ? 0 : -1;
    const isWide = !products || over > 1;
    if (products) products.hidden = isWide;
    bars.classList.toggle("ax-spare", !isWide);
  }

  /**
   * What is open stays so when a number changes.
   *
   * @param {import("../core/workings.js").Term} term
   * @param {string} path
   * @param {boolean} [isFirst]
   */
  branch(term, path, isFirst) {
    const line = coloured(term.line);
    const rest = isShortened(term.line)
      ? [make("button", { type: "button", class: "ax-rest", onclick: () => this.writeOut() }, say("allTerms"))]
      : [];
    if (!term.parts) {
      const leaf = make("div", { class: "ax-leaf" }, ...line, ...rest);
      for (const feature of this.explorer.features) feature.leafDrawn(term, leaf);
      return leaf;
    }
    const inside = make("div", { class: "ax-parts" });
    const fill = () => {
      if (inside.firstChild) return;
      inside.append(...rest, ...term.parts().map((part, n) => this.branch(part, `${path}.${n}`)));
    };
    const open = this.open[path] ?? isFirst;
    if (open) fill();
    const ontoggle = ({ target }) => {
      fill();
      this.open[path] = target.open;
    };
    return make("details", { open, ontoggle }, make("summary", { onclick: fill }, ...line), inside);
  }
}
