// How far a number of the fast path, in float32, may be from what float64 makes of the numbers above it.
//
// The rules of Higham, "Accuracy and Stability of Numerical Algorithms" (2002), chapters 2 and 3: a rounding moves a
// number by at most UNIT of its size; after n of them it is off by at most gamma(n). Bounds are of the worst case.

const UNIT = 2 ** -24; // of float32
const EXP = 3 * UNIT; // of e^x by the kernels' polynomial, as a part of it
const SLOPE = 1.1; // the most by which SiLU stretches a difference
const HIGHER = 1.01; // what products of errors add

/** @param {number} roundings */
const gamma = (roundings) => (roundings * UNIT) / (1 - roundings * UNIT);
/** Each product of a sum is rounded, added in one of four lanes, and these are joined. @param {number} count */
const gammaOf = (count) => gamma(count / 4 + 4);

/**
 * @typedef {import("./workings.js").Reading} Reading
 * @typedef {import("../model/program.js").Step} Step
 *
 * Numbers, and how far each may be off.
 * @typedef {{ numbers: Float64Array, off: Float64Array }} Near
 */

/** Normed by RMSNorm: squares have one sign, so their sum is off by a part of itself. @type {(normed: Float64Array) => Near} */
function normed(numbers) {
  const part = gammaOf(numbers.length) / 2 + 6 * UNIT;
  return { numbers, off: numbers.map((x) => part * Math.abs(x)) };
}

/**
 * A row's products with a row of weights.
 *
 * @param {Near} x
 * @param {Float64Array} weights
 */
function summed({ numbers, off }, weights) {
  let [carried, sizes] = [0, 0];
  for (let n = 0; n < weights.length; n++) {
    const weight = Math.abs(weights[n]);
    carried += weight * off[n];
    sizes += weight * (Math.abs(numbers[n]) + off[n]);
  }
  return carried + gammaOf(weights.length) * sizes;
}

/** @type {(step: Step) => import("./stored.js").StoredMatrix} */
const matrixOf = ({ parameters }) => /** @type {any} */ (parameters.weight);

/** One number of a linear step, whose input was normed just before. @type {(reading: Reading, step: Step, t: number, col: number) => number} */
const linear = (reading, step, t, col) => summed(normed(reading.output(step.inputs[0], t)), matrixOf(step).row(col));

/** All of them. @type {(reading: Reading, step: Step, t: number) => Near} */
function linearRow(reading, step, t) {
  const x = normed(reading.output(step.inputs[0], t));
  const numbers = reading.output(step, t);
  return { numbers, off: numbers.map((_, col) => summed(x, matrixOf(step).row(col))) };
}

/** A sum of two, one of them exact. @type {(value: number, off: number) => number} */
const added = (value, off) => off + UNIT * (Math.abs(value) + off);

/** @type {(reading: Reading, step: Step, t: number, col: number) => number} */
function rotated(reading, step, t, col) {
  const [x] = step.inputs;
  if (reading.settingsOf(step).off) return linear(reading, x, t, col);
  const other = col % 2 ? col - 1 : col + 1;
  const row = reading.output(x, t);
  const [own, beside] = [col, other].map((n) => linear(reading, x, t, n));
  // The table's sine and cosine are rounded, each product, and their sum.
  return own + beside + 4 * UNIT * (Math.abs(row[col]) + own + Math.abs(row[other]) + beside);
}

/** The output of all heads, side by side. @type {(reading: Reading, step: Step, t: number) => Near} */
function heads(reading, step, t) {
  const numbers = reading.output(step, t);
  const off = new Float64Array(numbers.length);
  const width = numbers.length / step.heads;
  const { heads_off } = reading.settingsOf(step);
  for (let head = 0; head < step.heads; head++) {
    if (heads_off.includes(head)) continue;
    const attention = reading.attention(step.name, head);
    const { data, scale } = attention;
    const [query, weights, scaled] = [
      data.vector("q", 0, head, t),
      attention.row("weights", t),
      attention.row("scaled", t),
    ];
    const { max } = attention.statistics(t);
    const parts = Float64Array.from(weights, (weight, j) => {
      if (!weight) return 0;
      const key = data.vector("k", 0, head, j);
      let sizes = 0;
      for (let d = 0; d < key.length; d++) sizes += Math.abs(query[d] * key[d]);
      const score = scale * (gammaOf(key.length) + UNIT) * sizes;
      return score + 2 * UNIT * Math.abs(scaled[j] - max) + EXP + UNIT;
    });
    // What moves all weights of a row, through the sum that they are divided by.
    const together = parts.reduce((most, part) => Math.max(most, part), 0) + 2 * gamma(weights.length + 4);
    for (let d = 0; d < width; d++) {
      const values = attention.values(d);
      let sum = 0;
      for (let j = 0; j < weights.length; j++) sum += weights[j] * Math.abs(values[j]) * (parts[j] + together);
      off[head * width + d] = sum;
    }
  }
  return { numbers, off };
}

/** @type {(reading: Reading, sum: Step, t: number, col: number) => number} */
function behindAttention(reading, sum, t, col) {
  const out = sum.inputs[1];
  if (reading.isWithoutAttention(sum)) return 0;
  return added(reading.output(sum, t)[col], summed(heads(reading, out.inputs[0], t), matrixOf(out).row(col)));
}

/** @type {(reading: Reading, sum: Step, t: number, col: number) => number} */
function behindFeedForward(reading, sum, t, col) {
  const down = sum.inputs[1];
  const [active, up] = down.inputs[0].inputs;
  const [gate] = active.inputs;
  const product = reading.held(`off ${sum.name} ${t}`, () => {
    const [gates, ups] = [linearRow(reading, gate, t), linearRow(reading, up, t)];
    const [silu, numbers] = [reading.output(active, t), reading.output(down.inputs[0], t)];
    const off = numbers.map((x, n) => {
      const [moved, beside] = [SLOPE * gates.off[n], Math.abs(ups.numbers[n]) + ups.off[n]];
      return moved * beside + Math.abs(silu[n]) * ups.off[n] + (EXP + 5 * UNIT) * Math.abs(x);
    });
    return { numbers, off };
  });
  return added(reading.output(sum, t)[col], summed(product, matrixOf(down).row(col)));
}

/**
 * For a number that the fast path keeps.
 *
 * @param {Reading} reading
 * @param {Step} step
 * @param {number} t
 * @param {number} col
 */
export function boundOf(reading, step, t, col) {
  const rules = {
    rotary: rotated,
    linear,
    add: step.name.endsWith(".attention_sum") ? behindAttention : behindFeedForward,
  };
  const rule = /** @type {Record<string, typeof linear>} */ (rules)[step.operation];
  return rule ? HIGHER * rule(reading, step, t, col) : 0;
}
