// How a weight follows from its gradient, with every part of the update: learning/optimisers.py.

/**
 * @typedef {object} Optimiser
 * @property {string} kind "sgd" or "adamw"
 * @property {number} lr the learning rate
 * @property {number} weightDecay
 * @property {number} [beta1] of AdamW, as those below
 * @property {number} [beta2]
 * @property {number} [eps]
 *
 * @typedef {object} Moments what AdamW remembers of a weight's gradients
 * @property {number} step how many updates it has made
 * @property {number} m the running mean of the gradients
 * @property {number} v that of their squares
 *
 * @typedef {object} Update one update of a weight, part by part: after = before − decayed − moved
 * @property {number} before
 * @property {number} gradient
 * @property {number} decayed lr·weightDecay·before
 * @property {number} moved lr·gradient; of AdamW lr·ratio
 * @property {number} after
 * @property {number} [m] of AdamW, as those below
 * @property {number} [v]
 * @property {number} [mHat] m / (1 − beta1ᵗ)
 * @property {number} [vHat] v / (1 − beta2ᵗ)
 * @property {number} [ratio] mHat / (√vHat + eps)
 */

/** Each kind with its first settings. @type {Record<string, Optimiser>} */
export const OPTIMISERS = {
  adamw: { kind: "adamw", lr: 0.01, weightDecay: 0.01, beta1: 0.9, beta2: 0.999, eps: 1e-8 },
  sgd: { kind: "sgd", lr: 0.3, weightDecay: 0 },
};

/** @type {Record<string, (optimiser: any, before: number, gradient: number, moments: Moments) => Update>} */
const UPDATES = {
  sgd({ lr, weightDecay }, before, gradient) {
    const decayed = lr * weightDecay * before;
    const moved = lr * gradient;
    return { before, gradient, decayed, moved, after: before - decayed - moved };
  },
  adamw({ lr, weightDecay, beta1, beta2, eps }, before, gradient, moments) {
    const step = moments.step + 1;
    const m = beta1 * moments.m + (1 - beta1) * gradient;
    const v = beta2 * moments.v + (1 - beta2) * gradient * gradient;
    const mHat = m / (1 - beta1 ** step);
    const vHat = v / (1 - beta2 ** step);
    const ratio = mHat / (Math.sqrt(vHat) + eps);
    const decayed = lr * weightDecay * before;
    const moved = lr * ratio;
    return { before, gradient, decayed, moved, after: before - decayed - moved, m, v, mHat, vHat, ratio };
  },
};

/**
 * The update of one weight.
 *
 * @param {Optimiser} optimiser
 * @param {number} before
 * @param {number} gradient
 * @param {Moments} moments of the update before; zeros at first
 */
export const updateOf = (optimiser, before, gradient, moments) =>
  UPDATES[optimiser.kind](optimiser, before, gradient, moments);
