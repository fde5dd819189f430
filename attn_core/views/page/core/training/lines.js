// The arithmetic of a training's numbers, line by line: what a step made of a weight, and what comes back to a score.

import { decimals, fixed, scientific } from "../digits.js";

/**
 * @typedef {object} Step
 * @property {string} key the phrase that says what it is
 * @property {string} text the line
 * @property {number} value its result
 *
 * @typedef {object} Weight a weight as it is now, and what its last update was made of
 * @property {number} value
 * @property {number} step of the training
 * @property {Made | null} made null before the first update
 *
 * @typedef {object} Made
 * @property {import("./optimisers.js").Optimiser} optimiser
 * @property {import("./optimisers.js").Moments} moments those before the update
 * @property {import("./optimisers.js").Update} update
 */

/**
 * Five digits, wherever the point is: gradients are small.
 *
 * @param {number} x
 */
export function digits(x) {
  const size = Math.abs(x);
  if (!Number.isFinite(x)) return `${x}`.toLowerCase().replace("inity", "");
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return `${Number(x.toPrecision(5))}`;
  return (x < 0 ? "-" : "") + scientific(size, 4).replace(/\.?0*e/, "e");
}

/**
 * A loss or a weight with two decimals: what is less is 0.00.
 *
 * @param {number} x
 */
export const hundredths = (x) => (Math.abs(x) < 1e6 ? decimals(x, 2) : fixed(x, 2));

/** In a product or a difference. @param {number} x */
const factor = (x) => (x < 0 ? `(${digits(x)})` : digits(x));

/** @type {(key: string, value: number, line: string) => Step} */
const made = (key, value, line) => ({ key, value, text: `${line} = ${digits(value)}` });

/**
 * How a weight came to its value in the last step.
 *
 * @param {Made} of
 * @returns {Step[]}
 */
export function updateLines({ optimiser, moments, update }) {
  const { lr, weightDecay } = optimiser;
  const { before, gradient, decayed, moved, after } = update;
  const g = factor(gradient);
  return [
    made("line_before", before, "w"),
    made("line_gradient", gradient, "g"),
    ...(optimiser.kind === "adamw" ? momentLines(optimiser, moments, update) : []),
    made("line_decayed", decayed, `d = ${digits(lr)} · ${digits(weightDecay)} · ${factor(before)}`),
    made("line_moved", moved, `s = ${digits(lr)} · ${optimiser.kind === "adamw" ? factor(update.ratio ?? 0) : g}`),
    made("line_after", after, `w − d − s = ${digits(before)} − ${factor(decayed)} − ${factor(moved)}`),
  ];
}

/**
 * @param {import("./optimisers.js").Optimiser} optimiser
 * @param {import("./optimisers.js").Moments} moments
 * @param {import("./optimisers.js").Update} update
 */
function momentLines(
  { beta1 = 0, beta2 = 0, eps = 0 },
  moments,
  { gradient, m = 0, v = 0, mHat = 0, vHat = 0, ratio = 0 },
) {
  const t = moments.step + 1;
  const [g, rest1, rest2] = [factor(gradient), digits(1 - beta1), digits(1 - beta2)];
  const [short1, short2] = [1 - beta1 ** t, 1 - beta2 ** t].map(digits);
  return [
    made("line_m", m, `m = ${beta1} · ${factor(moments.m)} + ${rest1} · ${g}`),
    made("line_v", v, `v = ${beta2} · ${factor(moments.v)} + ${rest2} · ${g}²`),
    made("line_mHat", mHat, `m̂ = m / (1 − ${beta1}^${t}) = ${digits(m)} / ${short1}`),
    made("line_vHat", vHat, `v̂ = v / (1 − ${beta2}^${t}) = ${digits(v)} / ${short2}`),
    made("line_ratio", ratio, `m̂ / (√v̂ + ε) = ${digits(mHat)} / (${digits(Math.sqrt(vHat))} + ${digits(eps)})`),
  ];
}

/**
 * What comes back to the score of a query with a key: dS = P ∘ (dP − r).
 *
 * @param {import("./forward.js").LayerPass} pass
 * @param {import("./backward.js").LayerGradients} back
 * @param {number} length
 * @param {number[]} place query and key
 * @returns {Step[]}
 */
export function backLines({ weights }, back, length, [query, key]) {
  const row = query * length;
  let r = 0;
  for (let at = row; at < row + length; at++) r += weights[at] * back.weights[at];
  const [weight, dP, dS] = [weights, back.weights, back.scaled].map((all) => all[row + key]);
  return [
    made("line_dP", dP, `dP[${query}, ${key}] = dO[${query}] · v[${key}]`),
    made("line_r", r, `r[${query}] = Σ P · dP`),
    made("line_dS", dS, `dS[${query}, ${key}] = P · (dP − r) = ${digits(weight)} · (${digits(dP)} − ${factor(r)})`),
  ];
}
