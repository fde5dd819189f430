// Which mistake is this? diagnosis.py's comparison and sentences, with arrays that Python made.

import { tell } from "../../words/box.js";
import { bytesOf } from "../arrays.js";
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
import { droppedAnew, inOne, isVague } from "./partly.js";
import { must, read, shown } from "./pasted.js";

/**
 * @typedef {import("../arrays.js").SentArray} SentArray
 * @typedef {import("./pasted.js").Table} Table
 * @typedef {import("./comparing.js").Candidate} Candidate
 * @typedef {Record<string, number>} Stages where the numbers of each stage stand in the pool
 * @typedef {(a: Table, b: Candidate) => boolean} Same
 *
 * An input that tells mistakes apart: those of one class give the same numbers.
 * @typedef {{ text: string, classes: Record<string, Record<string, number>> }} Question
 *
 * @typedef {object} Answer
 * @property {string} text
 * @property {string} verdict "right", "mistake", "transposed", "factor" or "unknown"
 * @property {string[]} stages
 * @property {string[]} mistakes
 * @property {string[]} unseen mistakes that this input cannot show
 * @property {Question | null} question
 */

const UNTOLD = { unseen: /** @type {string[]} */ ([]), question: null };

export class Answers {
  /** @param {any} payload what views/paste.py wrote */
  constructor(payload) {
    /** @type {Record<string, string>} */
    this.names = payload.names;
    /** @type {Record<string, string>} */
    this.titles = payload.titles;
    /** @type {number[]} */
    this.output = payload.output;
    /** @type {Record<string, [number, number]>} */
    this.rooms = payload.rooms;
    /** @type {boolean} */
    this.drops = payload.drops;
    /** @type {{ name: string, first: string, stages: Stages, slip?: boolean }[]} */
    this.mistakes = payload.mistakes;
    /** @type {Question[]} */
    this.questions = payload.questions;
    /** @type {Table[]} */
    this.pool = payload.arrays.map((/** @type {SentArray} */ { dtype, shape, data }) => {
      const Kind = dtype === "float64" ? Float64Array : Float32Array; // not decode: a mistake gives NaN
      return { shape, cells: Float64Array.from(new Kind(bytesOf(data).buffer)) };
    });
    /** @type {Stages} */
    this.places = payload.right;
    this.right = STAGES.map((stage) => this.made(stage, this.places));
  }

  /**
   * One stage, and its room: an error of a score is a share of its weight.
   *
   * @param {string} stage
   * @param {Stages} stages
   * @param {Table[]} pool
   * @returns {Candidate}
   */
  made(stage, stages, pool = this.pool) {
    const cellsOf = (/** @type {string} */ name) => pool[stages[name]].cells;
    const most = (/** @type {string} */ name) => cellsOf(name).reduce((max, cell) => Math.max(max, Math.abs(cell)), 0);
    let [base, share] = this.rooms[stage];
    if (share) share = Math.min(0.9, share + (this.rooms.scores[0] * most("scaled")) / (most("scores") || 1));
    const sizes = cellsOf(stage === "output" ? "size" : stage);
    return { stage, mistake: "", ...pool[stages[stage]], sizes, room: [base, share] };
  }

  /**
   * { text, verdict, stages, mistakes, unseen, question }; raises Refused.
   *
   * @param {string} pasted
   * @param {string | null} stage
   * @returns {Answer}
   */
  diagnose(pasted, stage = null) {
    const yours = bare(read(pasted));
    const slack = slackOf(yours.cells);
    const places = [3, 4, 5].find((n) => slack > 10 ** -(n + 1));
    const decimals = places ? tell("decimals", { places }) : "";
    const heads = stage === null || stage === "output" ? headsOf(yours, this.output) : {};
    const ways = Object.keys(heads);
    const answers = ways.map((way) => this.ofStage(bare(heads[way]), "output", slack, decimals));
    const merged = ways.length ? this.ofMerged(ways, answers, decimals) : null;
    if (merged && merged.verdict !== "unknown") return merged;
    return this.ofHeads(yours, stage, slack, decimals) ?? merged ?? this.ofStage(yours, stage, slack, decimals);
  }

  /**
   * @param {Table} yours
   * @param {string | null} stage
   * @param {number} slack
   * @param {string} decimals
   * @returns {Answer}
   */
  ofStage(yours, stage, slack, decimals) {
    /** @type {Same} */
    const same = (a, b) => sameShape(a, b) && !differing(a, b, slack).includes(1);
    const right = this.right.filter((candidate) => stage === null || candidate.stage === stage);
    fits(yours, right);
    const equal = right.filter((candidate) => same(yours, candidate));
    if (equal.length) {
      const seen = this.wrong(equal[0].stage, same).map((candidate) => candidate.mistake);
      return this.isRight(equal, seen, decimals);
    }
    const wrong = this.wrong(stage, same).filter(
      (candidate) => same(yours, candidate) && !(candidate.isSlip && isVague(yours, candidate, slack)),
    );
    if (wrong.length) return this.isWrong(wrong, slack, decimals);
    const nan = yours.cells.findIndex(Number.isNaN);
    if (nan >= 0) throw must(tell("holdNumbers"), tell("nanAt", { place: shown(placeOf(nan, yours.shape)) }));
    if (stage === null || stage === "weights" || stage === "dropped") {
      const factor = droppedAnew(yours, this.right[STAGES.indexOf("weights")], slack);
      if (factor) return this.isDropped(yours, factor, decimals);
    }
    return this.isOther(yours, right, slack, same);
  }

  /**
   * One head of several, or all of them in one.
   *
   * @param {Table} yours
   * @param {string | null} only
   * @param {number} slack
   * @param {string} decimals
   * @returns {Answer | null}
   */
  ofHeads(yours, only, slack, decimals) {
    const count = this.output.length < 3 ? 1 : this.output.slice(-3)[0];
    if (count === 1) return null;
    const heads = Array.from({ length: count }, (_, h) => String(h));
    /** @type {{ stage: string, way: string }[]} */
    const found = [];
    for (const way of ["mean", "sum", ...heads]) {
      const taken = this.taken(way);
      for (const stage of STAGES) {
        if (only !== null && stage !== only) continue;
        const made = this.made(stage, taken.places, taken.pool);
        if (sameShape(yours, made) && !differing(yours, made, slack).includes(1)) found.push({ stage, way });
      }
    }
    if (!found.length) return null;
    const [{ stage }] = found;
    const ways = found.filter((each) => each.stage === stage).map(({ way }) => way);
    const text = ways.map((way) => this.headsText(way, stage, count)).join(tell("orElse")) + decimals;
    const mistakes = ways.map((way) => ({ mean: "mean-of-heads", sum: "sum-of-heads" })[way] ?? "one-head");
    return { ...UNTOLD, text, verdict: "mistake", stages: [stage], mistakes: [...new Set(mistakes)] };
  }

  /**
   * The right stages with their heads in one.
   *
   * @param {string} way
   */
  taken(way) {
    const names = Object.keys(this.places);
    const pool = names.map((name) => inOne(this.pool[this.places[name]], this.output, way));
    return { pool, places: Object.fromEntries(names.map((name, n) => [name, n])) };
  }

  /**
   * @param {string} way
   * @param {string} stage
   * @param {number} count
   */
  headsText(way, stage, count) {
    const name = this.names[stage];
    if (way === "mean") {
      const asTorch = stage === "weights" || stage === "dropped" ? tell("asTorch") : "";
      return tell("meanOfHeads", { name, count }) + asTorch;
    }
    if (way === "sum") return tell("sumOfHeads", { name, count }) + (stage === "output" ? tell("sideBySide") : "");
    return tell("oneHead", { name, head: way, count });
  }

  /**
   * Weights of which a random part is 0.
   *
   * @param {Table} yours
   * @param {number} factor
   * @param {string} decimals
   * @returns {Answer}
   */
  isDropped(yours, factor, decimals) {
    const text = tell(this.drops ? "droppedAnew" : "dropoutOn", {
      name: this.names.weights,
      decimals,
      gone: yours.cells.filter((cell) => cell === 0).length,
      all: yours.cells.length,
      factor: fixed(factor),
      p: fixed(1 - 1 / factor),
    });
    const mistake = this.drops ? "dropout-drawn-anew" : "dropout-left-on";
    return { ...UNTOLD, text, verdict: "mistake", stages: ["weights"], mistakes: [mistake] };
  }

  /**
   * The output with all heads in one table: heads that are right may be merged wrongly.
   *
   * @param {string[]} ways
   * @param {Answer[]} answers
   * @param {string} decimals
   * @returns {Answer}
   */
  ofMerged(ways, answers, decimals) {
    /** @type {(text: string, verdict: string, mistakes: string[]) => Answer} */
    const answer = (text, verdict, mistakes) => ({
      text,
      verdict,
      stages: ["output"],
      mistakes,
      unseen: [],
      question: null,
    });
    const beside = answers[ways.indexOf(BESIDE)];
    const way = ways.find((name, n) => name !== BESIDE && answers[n].verdict === "right");
    if (way && !(beside && beside.verdict === "right")) {
      const text = tell("merged", { name: this.names.output, title: this.titles[way], decimals });
      return answer(text, "mistake", [way]);
    }
    if (!beside) {
      return answer(tell("sized", { title: this.titles["heads-along-tokens"] }), "unknown", []);
    }
    const nearest = tell("nearest", { stage: tell("output") });
    let { text } = beside;
    for (const name of [this.names.output, nearest]) text = text.replaceAll(name, tell("besideEach", { name }));
    return { ...beside, text };
  }

  /**
   * Each stage of each mistake that differs from the right one on this input.
   *
   * @param {string | null} only
   * @param {Same} same
   */
  wrong(only, same) {
    /** @type {Candidate[]} */
    const candidates = [];
    for (const { name, stages, slip: isSlip } of this.mistakes) {
      const masked = this.pool[stages.masked];
      for (const stage of STAGES) {
        if (only !== null && stage !== only) continue;
        const isLate = STAGES.indexOf(stage) >= STAGES.indexOf("weights");
        const candidate = { ...this.made(stage, stages), mistake: name, isSlip, empty: isLate ? masked : null };
        if (!same(this.right[STAGES.indexOf(stage)], candidate)) candidates.push(candidate);
      }
    }
    return candidates;
  }

  /**
   * @param {Candidate[]} equal
   * @param {string[]} seen
   * @param {string} decimals
   * @returns {Answer}
   */
  isRight(equal, seen, decimals) {
    const stages = equal.map((candidate) => candidate.stage);
    let text = tell("right", { name: this.names[stages[0]], decimals });
    const called = stages.map((stage) => tell(stage));
    if (stages.length > 1) text += tell("sameHere", { stages: called.join(tell("and")) });
    const reaches = (/** @type {{ first: string }} */ { first }) => STAGES.indexOf(stages[0]) >= STAGES.indexOf(first);
    const unseen = this.mistakes
      .filter((mistake) => !mistake.slip && !seen.includes(mistake.name) && reaches(mistake))
      .map(({ name }) => name);
    /** @type {Question | null} */
    let question = null;
    if (unseen.length) {
      const counts = this.questions.map(({ classes }) => unseen.filter((name) => classes[stages[0]][name]).length);
      question = this.questions[counts.indexOf(Math.max(...counts))];
      text += tell(unseen.length === 1 ? "unseenOne" : "unseenMany", { count: unseen.length });
    }
    return { text, verdict: "right", stages, mistakes: [], unseen, question };
  }

  /**
   * @param {Candidate[]} wrong
   * @param {number} slack
   * @param {string} decimals
   * @returns {Answer}
   */
  isWrong(wrong, slack, decimals) {
    /** @type {Map<string, Candidate>} */
    const first = new Map();
    for (const candidate of wrong) if (!first.has(candidate.mistake)) first.set(candidate.mistake, candidate);
    const mistakes = [...first.keys()];
    const stages = [...new Set([...first.values()].map(({ stage }) => stage))];
    const known = this.mistakes.find(({ name }) => name === mistakes[0]);
    const said = [...first.values()].map(({ stage, mistake }) =>
      tell("wrong", { name: this.names[stage], title: this.titles[mistake] }),
    );
    let text = said.join(tell("orElse")) + decimals;
    /** @type {Question | null} */
    let question = null;
    if (mistakes.length === 1) {
      const right = this.right[STAGES.indexOf(stages[0])];
      const { shape } = wrong[0];
      const row = rowsOf(differing(wrong[0], right, slack), shape).indexOf(true);
      text += tell("equalUntil", { stage: tell(known?.first ?? ""), row: rowName(row, shape) });
    } else {
      question =
        this.questions.find(
          ({ classes }) => new Set(mistakes.map((name) => classes[stages[0]][name])).size === mistakes.length,
        ) || null;
      text += tell("sameOnInput");
    }
    return { text, verdict: "mistake", stages, mistakes, unseen: [], question };
  }

  /**
   * Transposed, times a factor, or not recognised.
   *
   * @param {Table} yours
   * @param {Candidate[]} right
   * @param {number} slack
   * @param {Same} same
   * @returns {Answer}
   */
  isOther(yours, right, slack, same) {
    /** @type {(text: string, verdict: string, stage: string) => Answer} */
    const answer = (text, verdict, stage) => ({
      text,
      verdict,
      stages: [stage],
      mistakes: [],
      unseen: [],
      question: null,
    });
    const turned = transposed(yours);
    for (const candidate of right) {
      if (!same(turned, candidate)) continue;
      const { stage } = candidate;
      return answer(tell("exchanged", { name: this.names[stage] }), "transposed", stage);
    }
    const fitting = right.filter((candidate) => sameShape(candidate, yours));
    if (!fitting.length) {
      const [{ stage }] = right.filter((candidate) => sameShape(candidate, turned));
      return answer(tell("turned", { stage: tell(stage) }), "unknown", stage);
    }
    for (const candidate of fitting) {
      const factor = factorOf(yours, candidate, slack);
      if (factor === null) continue;
      const { stage } = candidate;
      return answer(tell("factor", { factor: fixed(factor), name: this.names[stage] }), "factor", stage);
    }
    const far = fitting.map(({ cells }) =>
      yours.cells.reduce((most, cell, n) => {
        const off = Math.abs(cell - cells[n]);
        return Number.isNaN(off) ? most : Math.max(most, off);
      }, 0),
    );
    const nearest = fitting[far.indexOf(Math.min(...far))];
    const rows = rowsOf(differing(yours, nearest, slack), yours.shape);
    const text = tell("unknown", {
      nearest: tell("nearest", { stage: tell(nearest.stage) }),
      far: fixed(Math.min(...far)),
      equal: rows.filter((differs) => !differs).length,
      all: rows.length,
      row: rowName(rows.indexOf(true), yours.shape),
    });
    return answer(text, "unknown", nearest.stage);
  }
}
