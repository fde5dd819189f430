// Which mistake is this? diagnosis.py's comparison and sentences, with arrays that Python made.

import { fixed } from "../digits.js";
import { STAGES } from "../stages.js";
import {
  BESIDE,
  bare,
  differing,
  factorOf,
  fits,
  headsOf,
  placeOf,
  rowName,
  rowsOf,
  sameShape,
  slackOf,
  transposed,
} from "./comparing.js";
import { Refused, read, shown } from "./pasted.js";

export class Answers {
  constructor(payload) {
    Object.assign(this, payload);
    this.pool = payload.arrays.map(({ shape, data }) => {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      return { shape, cells: new Float64Array(bytes.buffer) };
    });
    this.right = STAGES.map((stage) => this.made(stage, payload.right));
  }

  // One stage, and its room: an error of a score is a share of its weight.
  made(stage, stages) {
    const cellsOf = (name) => this.pool[stages[name]].cells;
    const most = (name) => cellsOf(name).reduce((max, cell) => Math.max(max, Math.abs(cell)), 0);
    let [base, share] = this.rooms[stage];
    if (share) share = Math.min(0.9, share + (this.rooms.scores[0] * most("scaled")) / (most("scores") || 1));
    const sizes = cellsOf(stage === "output" ? "size" : stage);
    return { stage, mistake: null, ...this.pool[stages[stage]], sizes, room: [base, share] };
  }

  // { text, verdict, stages, mistakes, unseen, question }; raises Refused.
  diagnose(pasted, stage = null) {
    const yours = bare(read(pasted));
    const slack = slackOf(yours.cells);
    const places = slack ? [3, 4, 5].find((n) => slack > 10 ** -(n + 1)) : 0;
    const decimals = slack ? `, to the ${places} decimals given` : "";
    const heads = stage === null || stage === "output" ? headsOf(yours, this.output) : {};
    const ways = Object.keys(heads);
    if (!ways.length) return this.ofStage(yours, stage, slack, decimals);
    const found = ways.map((way) => this.ofStage(bare(heads[way]), "output", slack, decimals));
    return this.ofMerged(ways, found, decimals);
  }

  ofStage(yours, stage, slack, decimals) {
    const same = (a, b) => sameShape(a, b) && !differing(a, b, slack).includes(1);
    const right = this.right.filter((one) => stage === null || one.stage === stage);
    fits(yours, right);
    const found = right.filter((one) => same(yours, one));
    if (found.length) {
      const seen = this.wrong(found[0].stage, same).map((one) => one.mistake);
      return this.isRight(found, seen, decimals);
    }
    const wrong = this.wrong(stage, same).filter((one) => same(yours, one));
    if (wrong.length) return this.isWrong(wrong, slack, decimals);
    const nan = yours.cells.findIndex(Number.isNaN);
    if (nan >= 0) throw new Refused(`yours must hold numbers, got nan at ${shown(placeOf(nan, yours.shape))}`);
    return this.isOther(yours, right, slack, same);
  }

  // The output with all heads in one table: heads that are right may be merged wrongly.
  ofMerged(ways, found, decimals) {
    const answer = (text, verdict, mistakes) => ({
      text,
      verdict,
      stages: ["output"],
      mistakes,
      unseen: [],
      question: null,
    });
    const beside = found[ways.indexOf(BESIDE)];
    const way = ways.find((name, n) => name !== BESIDE && found[n].verdict === "right");
    if (way && !(beside && beside.verdict === "right")) {
      return answer(`${this.names.output} with ${this.titles[way]}${decimals}. Each head is right`, "mistake", [way]);
    }
    if (!beside) {
      const wide = this.titles["heads-along-tokens"];
      return answer(`not recognised. It has the size of the output with ${wide}, but not its numbers`, "unknown", []);
    }
    const text = beside.text
      .replaceAll(this.names.output, `${this.names.output}, its heads side by side`)
      .replaceAll("Nearest: output", "Nearest: output, its heads side by side");
    return { ...beside, text };
  }

  // Each stage of each mistake that differs from the right one on this input.
  wrong(only, same) {
    const found = [];
    for (const { name, stages } of this.mistakes) {
      const masked = this.pool[stages.masked];
      for (const stage of STAGES) {
        if (only !== null && stage !== only) continue;
        const isLate = STAGES.indexOf(stage) >= STAGES.indexOf("weights");
        const one = { ...this.made(stage, stages), mistake: name, empty: isLate ? masked : null };
        if (!same(this.right[STAGES.indexOf(stage)], one)) found.push(one);
      }
    }
    return found;
  }

  isRight(found, seen, decimals) {
    const stages = found.map((one) => one.stage);
    let text = `right: ${this.names[stages[0]]}${decimals}`;
    if (stages.length > 1) text += ` (here ${stages.join(" and ")} are the same)`;
    const reaches = (one) => STAGES.indexOf(stages[0]) >= STAGES.indexOf(one.first);
    const unseen = this.mistakes.filter((one) => !seen.includes(one.name) && reaches(one)).map((one) => one.name);
    let question = null;
    if (unseen.length) {
      const counts = this.questions.map(({ classes }) => unseen.filter((name) => classes[stages[0]][name]).length);
      question = this.questions[counts.indexOf(Math.max(...counts))];
      const many = unseen.length === 1 ? "known mistake gives" : "known mistakes give";
      text += `. ${unseen.length} ${many} the same on this input`;
    }
    return { text, verdict: "right", stages, mistakes: [], unseen, question };
  }

  isWrong(wrong, slack, decimals) {
    const first = new Map();
    for (const one of wrong) if (!first.has(one.mistake)) first.set(one.mistake, one);
    const mistakes = [...first.keys()];
    const stages = [...new Set([...first.values()].map((one) => one.stage))];
    const known = (name) => this.mistakes.find((one) => one.name === name);
    let text =
      [...first.values()].map((one) => `${this.names[one.stage]} with ${this.titles[one.mistake]}`).join(", or ") +
      decimals;
    let question = null;
    if (mistakes.length === 1) {
      const right = this.right[STAGES.indexOf(stages[0])];
      const { shape } = wrong[0];
      const row = rowsOf(differing(wrong[0], right, slack), shape).indexOf(true);
      text += `. Equal until ${known(mistakes[0]).first}; the first row that differs is ${rowName(row, shape)}`;
    } else {
      question =
        this.questions.find(
          ({ classes }) => new Set(mistakes.map((name) => classes[stages[0]][name])).size === mistakes.length,
        ) || null;
      text += ". On this input they are the same";
    }
    return { text, verdict: "mistake", stages, mistakes, unseen: [], question };
  }

  // Transposed, times a factor, or not recognised.
  isOther(yours, right, slack, same) {
    const answer = (text, verdict, stage) => ({
      text,
      verdict,
      stages: [stage],
      mistakes: [],
      unseen: [],
      question: null,
    });
    const turned = transposed(yours);
    for (const one of right) {
      if (!same(turned, one)) continue;
      return answer(`${this.names[one.stage]}, transposed: rows and columns are exchanged`, "transposed", one.stage);
    }
    const fitting = right.filter((one) => sameShape(one, yours));
    if (!fitting.length) {
      const { stage } = right.find((one) => sameShape(one, turned));
      return answer(`not recognised. It has the shape of ${stage} transposed, but not its numbers`, "unknown", stage);
    }
    for (const one of fitting) {
      const factor = factorOf(yours, one, slack);
      if (factor === null) continue;
      return answer(`right up to a factor of ${fixed(factor)}: ${this.names[one.stage]} times it`, "factor", one.stage);
    }
    const far = fitting.map((one) =>
      yours.cells.reduce((most, cell, n) => {
        const off = Math.abs(cell - one.cells[n]);
        return Number.isNaN(off) ? most : Math.max(most, off);
      }, 0),
    );
    const nearest = fitting[far.indexOf(Math.min(...far))];
    const rows = rowsOf(differing(yours, nearest, slack), yours.shape);
    return answer(
      `not recognised. Nearest: ${nearest.stage}, off by at most ${fixed(Math.min(...far))}` +
        `; ${rows.filter((differs) => !differs).length} of ${rows.length} rows are equal` +
        `, the first row that differs is ${rowName(rows.indexOf(true), yours.shape)}`,
      "unknown",
      nearest.stage,
    );
  }
}
