// What a head does with its weights, each as one number: by these the small maps are sorted.

import { distance } from "./difference.js";

/** @type {WeakMap<string[], (number | undefined)[]>} */
const known = new WeakMap();

/**
 * By key, the one that came after the last earlier copy of its token: an induction head looks there.
 *
 * @param {string[]} keys
 */
function inductionsOf(keys) {
  /** @type {Map<string, number>} */
  const last = new Map();
  const found =
    known.get(keys) ??
    keys.map((token, at) => {
      const before = last.get(token);
      last.set(token, at);
      return before === undefined || before + 1 === at ? undefined : before + 1;
    });
  known.set(keys, found);
  return found;
}

/**
 * A number of one row of weights, whose query has its own key at `at`; undefined where there is no such key.
 *
 * @type {Record<string, (row: ArrayLike<number>, at: number, keys: string[]) => number | undefined>}
 */
const OF_ROW = {
  entropy(row) {
    let sum = 0;
    for (let j = 0; j < row.length; j++) if (row[j] > 0) sum -= row[j] * Math.log(row[j]);
    return sum;
  },
  previous: (row, at) => row[at - 1],
  first: (row) => row[0],
  own: (row, at) => row[at],
  induction: (row, at, keys) => row[inductionsOf(keys)[at] ?? -1],
  largest(row) {
    let most = 0;
    for (let j = 0; j < row.length; j++) if (row[j] > most) most = row[j];
    return most;
  },
};

const OF_POSITIONS = ["previous", "own", "induction"];
const A_STEP = 16; // rows

/**
 * Whether each query has a key of its own: the keys end with the queries, as masks count positions.
 *
 * @param {import("./data.js").Data} data
 */
const hasPositions = ({ queries, keys, L, S }) => queries.every((token, i) => token === keys[i + S - L]);

/**
 * By what the heads of these data can be sorted, beside the order that they have.
 *
 * @param {import("./data.js").Data} data
 * @param {boolean} [hasRuns] whether there are two runs, which differ by a distance
 */
export const measuresOf = (data, hasRuns = false) =>
  [
    ...(hasRuns ? ["distance"] : []),
    ...Object.keys(OF_ROW).filter((name) => hasPositions(data) || !OF_POSITIONS.includes(name)),
  ].filter((name) => name !== "induction" || inductionsOf(data.keys).some((at) => at !== undefined));

/**
 * Each measure as its mean over the rows that see a key; of a difference those of the first run minus those of the
 * second. A generator that pauses every few rows.
 *
 * @param {import("./attention.js").Attention} attention
 * @returns {Generator<undefined, Record<string, number>>}
 */
export function* measured(attention) {
  const { runs, isDifference } = attention;
  if (!runs) return yield* means(attention);
  if (!isDifference) return { ...(yield* means(attention)), distance: yield* meanDistance(runs) };
  const [first, second] = runs.both;
  const [a, b] = [yield* means(first), yield* means(second)];
  const gaps = Object.keys(a).map((name) => [name, a[name] - b[name]]);
  return { ...Object.fromEntries(gaps), distance: yield* meanDistance(runs) };
}

/**
 * @param {import("./difference.js").Runs} runs
 * @returns {Generator<undefined, number>}
 */
function* meanDistance(runs) {
  const { L } = runs.both[0].data;
  let sum = 0;
  for (let i = 0; i < L; i++) {
    if (i % A_STEP === 0 && i) yield;
    sum += distance(runs, i);
  }
  return sum / L;
}

/**
 * @param {import("./attention.js").Attention} attention
 * @returns {Generator<undefined, Record<string, number>>}
 */
function* means(attention) {
  const { keys, L, S } = attention.data;
  const means = Object.entries(OF_ROW).map(([name, ofRow]) => ({ name, ofRow, sum: 0, count: 0 }));
  for (let i = 0; i < L; i++) {
    if (i % A_STEP === 0 && i) yield;
    const row = attention.row("weights", i);
    if (!row.some((x) => x > 0)) continue;
    for (const mean of means) {
      const x = mean.ofRow(row, i + S - L, keys);
      if (x === undefined) continue;
      mean.sum += x;
      mean.count++;
    }
  }
  return Object.fromEntries(means.map(({ name, sum, count }) => [name, count ? sum / count : 0]));
}
