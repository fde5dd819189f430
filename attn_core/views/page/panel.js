// What stands beside the matrix: a sentence, the numbers behind a cell, and its arithmetic.

import { fixed, plain } from "./digits.js";
import { coloured, make, token } from "./dom.js";
import { STAGES, say, sayParts, sentenceKey } from "./words.js";
import { Workings } from "./workings.js";

// One sentence about a number, as parts of an element.
export function sentence(attention, stage, [i, j]) {
  const { data } = attention;
  const query = token(data.queries[i], "q");
  const number = make("b", {}, fixed(attention.cell(stage, i, j), data.places));
  const to = (name, more) => sayParts(sentenceKey("say", name), { query, number, ...more });
  if (stage === "output") return to(stage, { column: make("bdi", { class: "ax-v" }, say("columnOf", { n: j })) });
  const key = { key: token(data.keys[j], "k") };
  if (stage === "masked") return to(attention.keeps(i)[j] ? "scaled" : "hidden", key);
  if (STAGES.indexOf(stage) > 2 && attention.statistics(i).isDead) return to("dead");
  return to(stage === "dropped" && attention.survives(i)?.[j] === 0 ? "taken" : stage, key);
}

export class Panel {
  constructor(owner) {
    Object.assign(this, { owner, open: {} });
    this.close = make("button", { type: "button", class: "ax-close", "aria-label": say("closeLabel"), onclick: () => owner.leave() }, say("close"));
    this.sentence = make("p", { class: "ax-sentence", role: "status", "aria-live": "polite" });
    this.hint = make("p", { class: "ax-hint" });
    this.vectors = make("div", { class: "ax-vectors", role: "group", "aria-label": say("vectors") });
    this.tree = make("div", { class: "ax-tree" });
    this.element = make("div", { class: "ax-panel" }, this.close, this.sentence, this.hint, this.vectors, this.tree);
  }

  // A selected number: its sentence and its arithmetic. With a mistake, the right arithmetic.
  render() {
    const { owner, sentence: line, tree } = this;
    const { select, stage } = owner.state;
    this.close.hidden = !select;
    owner.root.classList.toggle("ax-open", !!select);
    const key = select ? JSON.stringify(owner.state) : "";
    if (key === this.shown) return;
    this.shown = key;
    if (!select) return [line, tree].forEach((part) => part.replaceChildren());
    line.replaceChildren(...this.said(select, owner.state));
    const workings = new Workings(owner.attention(owner.lab?.right(owner.state) || owner.state), select[0]);
    tree.replaceChildren(this.branch(workings[stage](select[1]), `${[stage, select]}`, true));
  }

  said(place, where) {
    const { attention, more = [] } = this.owner.lab?.compared(place, where) || { attention: this.owner.attention(where) };
    return [...sentence(attention, where.stage, place), ...more];
  }

  // The two rows behind the number that is pointed at, or else selected.
  point() {
    const { owner, vectors } = this;
    const { state, isPrint } = owner;
    const place = owner.point || state.select;
    vectors.hidden = !(isPrint ? state.select : place) || !owner.shows("vectors");
    owner.root.classList.toggle("ax-idle", !place);
    const where = owner.point ? owner.pointed : state;
    this.hint.hidden = !!state.select;
    this.hint.replaceChildren(...(place ? this.said(place, where) : [say("hint")]));
    if (!place || vectors.hidden || vectors.querySelector("input:focus")) return;
    const attention = owner.attention(owner.lab?.right(where) || where);
    const { data } = attention;
    const [i, j] = place;
    const { batch, head, stage } = where;
    const line = (label, variable, colour, numbers, edit) => make("tr", {},
      make("th", { scope: "row", class: `ax-${colour}` }, make("bdi", {}, label), " ", make("i", {}, variable)),
      ...Array.from(numbers, (x, n) => make("td", { class: `ax-${colour}`, title: edit ? undefined : data.keys[n], "data-edit": edit?.(n) }, plain(x))));
    const row = (part, n, label) => line(label, part, part, data.vector(part, batch, head, n),
      (d) => owner.lab?.editOf(part, [batch, head, n, d]));
    const rows = stage === "output"
      ? [line(data.queries[i], say("weights"), "q", attention.row("dropped", i)), line(say("column", { n: j }), "v", "v", attention.values(j))]
      : [row("q", i, data.queries[i]), row("k", j, data.keys[j])];
    if (isPrint && stage === "weights") rows.push(line(data.queries[i], say("masked"), "q", attention.row("masked", i)));
    vectors.replaceChildren(make("table", {}, ...rows));
    owner.lab?.prepare(vectors);
    // Vectors wider than the page scroll by keyboard only if they can have the focus.
    vectors.tabIndex = vectors.scrollWidth > vectors.clientWidth ? 0 : -1;
  }

  // What is open stays so when a number changes.
  branch(term, path, isFirst) {
    const line = coloured(term.line);
    if (!term.parts) {
      const leaf = make("div", { class: "ax-leaf" }, ...line);
      this.owner.lab?.leaf(term, leaf);
      return leaf;
    }
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
    return make("details", { open, ontoggle }, make("summary", { onclick: fill }, ...line), inside);
  }
}
