// Cross-entropy: how surprised a model is by what comes, and what that asks of its logits.

/**
 * The loss of each place, and the gradient of their mean with respect to the logits: (p − onehot)/count.
 *
 * @param {Float64Array} logits [count, vocabulary]
 * @param {Int32Array} targets [count]
 * @returns {{ losses: Float64Array, mean: number, gradient: Float64Array }}
 */
export function crossEntropy(logits, targets) {
  const count = targets.length;
  const vocabulary = logits.length / count;
  const losses = new Float64Array(count);
  const gradient = new Float64Array(logits.length);
  let total = 0;
  for (let row = 0; row < count; row++) {
    const start = row * vocabulary;
    let largest = -Infinity;
    for (let at = start; at < start + vocabulary; at++) largest = Math.max(largest, logits[at]);
    let sum = 0;
    for (let at = start; at < start + vocabulary; at++) {
      gradient[at] = Math.exp(logits[at] - largest);
      sum += gradient[at];
    }
    for (let at = start; at < start + vocabulary; at++) gradient[at] /= sum * count;
    const right = start + targets[row];
    gradient[right] -= 1 / count;
    losses[row] = Math.log(sum) + largest - logits[right];
    total += losses[row];
  }
  return { losses, mean: total / count, gradient };
}
