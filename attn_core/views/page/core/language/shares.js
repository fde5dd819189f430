// Scores as chances, and the likeliest of them.

/**
 * @typedef {object} Likely
 * @property {number} id
 * @property {string} piece
 * @property {number} chance
 * @property {number} [was] its chance with everything on
 */

/**
 * Softmax.
 *
 * @param {Float32Array} scores
 */
export function sharesOf(scores) {
  let most = -Infinity;
  for (const score of scores) if (score > most) most = score;
  const shares = new Float32Array(scores.length);
  let sum = 0;
  for (let n = 0; n < scores.length; n++) {
    shares[n] = Math.exp(scores[n] - most);
    sum += shares[n];
  }
  for (let n = 0; n < scores.length; n++) shares[n] /= sum;
  return shares;
}

/**
 * The places of the largest numbers, the largest first.
 *
 * @param {Float32Array} numbers
 * @param {number} count
 */
export function largest(numbers, count) {
  /** @type {number[]} */
  const best = [];
  for (let n = 0; n < numbers.length; n++) {
    if (best.length === count && numbers[n] <= numbers[best[count - 1]]) continue;
    let at = best.length;
    while (at && numbers[best[at - 1]] < numbers[n]) at--;
    best.splice(at, 0, n);
    best.length = Math.min(best.length, count);
  }
  return best;
}

/**
 * @param {Float32Array} shares
 * @param {number} count
 * @param {import("./tokenizer.js").Tokenizer} tokenizer
 * @param {Float32Array | null} before with everything on: what was likeliest then is in the list, too
 * @returns {Likely[]}
 */
export function likeliest(shares, count, tokenizer, before) {
  const ids = largest(shares, count);
  const [first] = before ? largest(before, 1) : [];
  if (first !== undefined && !ids.includes(first)) ids.splice(-1, 1, first);
  return ids.map((id) => {
    const likely = { id, piece: tokenizer.piece(id), chance: shares[id] };
    return before ? { ...likely, was: before[id] } : likely;
  });
}
