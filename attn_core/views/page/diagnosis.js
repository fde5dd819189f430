// Which mistake is this? diagnosis.py's comparison and sentences, with arrays that Python made.

import { fixed } from "./digits.js";
import { Refused, read, shown } from "./pasted.js";

const STAGES = ["scores", "scaled", "masked", "weights", "dropped", "output"];

export class Answers {
  constructor(payload) {
    Object.assign(this, payload);
    this.pool = payload.arrays.map(({ shape, data }) => {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      return { shape, cells: new Float64Array(bytes.buffer) };
    });
    this.right = STAGES.map((stage) => ({ stage, mistake: null, ...this.pool[payload.right[stage]] }));
  }

  // { text, verdict, stages, mistakes, unseen, question }; raises Refused.
  diagnose(pasted, stage = null) {
    const yours = bare(read(pasted));
    const slack = slackOf(yours.cells);
    const room = (name) => this.rooms[name] + slack;
    const same = (a, b) => sameShape(a, b) && !differing(a, b, room(b.stage)).includes(1);
    const right = this.right.filter((one) => stage === null || one.stage === stage);
    fits(yours, right);
    const places = slack ? [3, 4, 5].find((n) => slack > 10 ** -(n + 1)) : 0;
    const decimals = slack ? `, to the ${places} decimals given` : "";

    const found = right.filter((one) => same(yours, one));
    if (found.length) {
      const seen = this.wrong(found[0].stage, same).map((one) => one.mistake);
      return this.isRight(found, seen, decimals);
    }
    const wrong = this.wrong(stage, same).filter((one) => same(yours, one));
    if (wrong.length) return this.isWrong(wrong, room, decimals);
    const nan = yours.cells.findIndex(Number.isNaN);
    if (nan >= 0) throw new Refused(`yours must hold numbers, got nan at ${shown(placeOf(nan, yours.shape))}`);
    return this.isOther(yours, right, room, same);
  }

  // Each stage of each mistake that differs from the right one on this input.
  wrong(only, same) {
    const found = [];
    for (const { name, stages } of this.mistakes) {
      const masked = this.pool[stages.masked];
      for (const stage of STAGES) {
        if (only !== null && stage !== only) continue;
        const isLate = STAGES.indexOf(stage) >= STAGES.indexOf("weights");
        const one = { stage, mistake: name, ...this.pool[stages[stage]], empty: isLate ? masked : null };
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

  isWrong(wrong, room, decimals) {
    const first = new Map();
    for (const one of wrong) if (!first.has(one.mistake)) first.set(one.mistake, one);
    const mistakes = [...first.keys()];
    const stages = [...new Set([...first.values()].map((one) => one.stage))];
    const known = (name) => this.mistakes.find((one) => one.name === name);
    let text = [...first.values()].map((one) => `${this.names[one.stage]} with ${known(one.mistake).title}`)
      .join(", or ") + decimals;
    let question = null;
    if (mistakes.length === 1) {
      const right = this.right[STAGES.indexOf(stages[0])];
      const { shape, empty } = wrong[0];
      const row = rowsOf(differing(wrong[0], { ...right, empty: null }, room(stages[0])), shape).indexOf(true);
      text += `. Equal until ${known(mistakes[0]).first}; the first row that differs is ${rowName(row, shape)}`;
    } else {
      question = this.questions.find(({ classes }) =>
        new Set(mistakes.map((name) => classes[stages[0]][name])).size === mistakes.length) || null;
      text += ". On this input they are the same";
    }
    return { text, verdict: "mistake", stages, mistakes, unseen: [], question };
  }

  // Transposed, times a factor, or not recognised.
  isOther(yours, right, room, same) {
    const answer = (text, verdict, stage) => ({ text, verdict, stages: [stage], mistakes: [], unseen: [], question: null });
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
      const factor = factorOf(yours, one, room(one.stage));
      if (factor === null) continue;
      return answer(`right up to a factor of ${fixed(factor)}: ${this.names[one.stage]} times it`, "factor", one.stage);
    }
    const far = fitting.map((one) => yours.cells.reduce((most, cell, n) => {
      const off = Math.abs(cell - one.cells[n]);
      return off > most ? off : most;
    }, 0));
    const nearest = fitting[far.indexOf(Math.min(...far))];
    const rows = rowsOf(differing(yours, nearest, room(nearest.stage)), yours.shape);
    return answer(`not recognised. Nearest: ${nearest.stage}, off by at most ${fixed(Math.min(...far))}` +
      `; ${rows.filter((differs) => !differs).length} of ${rows.length} rows are equal` +
      `, the first row that differs is ${rowName(rows.indexOf(true), yours.shape)}`, "unknown", nearest.stage);
  }
}

const sameShape = (a, b) => String(a.shape) === String(b.shape);

function bare({ shape, cells }) {
  const first = shape.findIndex((size, axis) => size !== 1 || axis === shape.length - 2);
  return { shape: shape.slice(first), cells };
}

// Half of the last decimal, if all numbers have three to five; else 0.
function slackOf(cells) {
  const finite = cells.filter(Number.isFinite);
  const has = (places) => finite.every((cell) => {
    const units = cell * 10 ** places;
    return Math.abs(units - Math.round(units)) <= Math.abs(units) * Number.EPSILON + 1e-9;
  });
  const places = finite.length > 3 && !has(2) && [3, 4, 5].find(has);
  return places ? 0.5 * 10 ** -places : 0;
}

function fits(yours, right) {
  const shapes = [...new Set(right.map((one) => shown(one.shape)))];
  if (shapes.includes(shown(yours.shape)) || shapes.includes(shown(transposed(yours).shape))) return;
  throw new Refused(`yours must have the shape of a stage, ${shapes.join(" or ")}, got ${shown(yours.shape)}`);
}

// A 1 for each cell that differs. `empty`: masked cells; where a row has none, nan is as good as 0.
function differing(yours, { shape, cells, empty }, room) {
  const width = shape.at(-1);
  const keys = empty ? empty.shape.at(-1) : 0;
  const isEmpty = (row) => empty && empty.cells.subarray(row * keys, (row + 1) * keys).every((cell) => cell === -Infinity);
  return Uint8Array.from(yours.cells, (cell, n) => {
    if (cell === cells[n] || Math.abs(cell - cells[n]) <= room) return 0;
    return Number.isNaN(cell) && (Number.isNaN(cells[n]) || isEmpty(Math.floor(n / width))) ? 0 : 1;
  });
}

function rowsOf(differs, shape) {
  const width = shape.at(-1);
  return Array.from({ length: differs.length / width }, (_, row) => differs.subarray(row * width, (row + 1) * width).includes(1));
}

function placeOf(n, shape) {
  const place = [];
  for (const size of [...shape].reverse()) {
    place.unshift(n % size);
    n = Math.floor(n / size);
  }
  return place;
}

function rowName(row, shape) {
  const place = placeOf(row, shape.slice(0, -1));
  const lead = place.length > 1 ? ` of [${place.slice(0, -1).join(", ")}]` : "";
  return `row ${place.at(-1)}${lead}`;
}

function transposed({ shape, cells }) {
  const [L, S] = shape.slice(-2);
  const turned = Float64Array.from(cells, (_, n) => {
    const [start, rest] = [Math.floor(n / (L * S)) * L * S, n % (L * S)];
    return cells[start + (rest % L) * S + Math.floor(rest / L)];
  });
  return { shape: [...shape.slice(0, -2), S, L], cells: turned };
}

// The one number that turns the stage into yours, if there is one.
function factorOf(yours, one, room) {
  let [both, own] = [0, 0];
  one.cells.forEach((cell, n) => {
    if (!Number.isFinite(cell) || !Number.isFinite(yours.cells[n])) return;
    both += yours.cells[n] * cell;
    own += cell * cell;
  });
  const factor = both / own;
  if (!own || factor <= 0) return null;
  const times = { ...one, cells: one.cells.map((cell) => cell * factor) };
  return differing(yours, times, room * Math.max(1, factor)).includes(1) ? null : factor;
}
