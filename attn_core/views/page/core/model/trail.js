// The way down from a number: those that were opened, one in the other.

/** @typedef {import("./place.js").Term} Term */

export const ALL = "all"; // the sum that is open with all of its terms; a number opens the part at that place

/**
 * The number that was asked for, and those that were opened, each with the way down to it, as far as there is one.
 *
 * @param {Term} term
 * @param {string[]} trail
 */
export function opened(term, trail) {
  /** @type {{ term: Term, trail: string[] }[]} */
  const levels = [{ term, trail: [] }];
  for (const [n, step] of trail.entries()) {
    const { term: last } = levels[levels.length - 1];
    const next = step === ALL ? last.whole?.() : last.parts?.()[Number(step)];
    if (!next) break;
    if (step === ALL) levels.pop();
    levels.push({ term: next, trail: trail.slice(0, n + 1) });
  }
  return levels;
}

/**
 * The last of some levels, as it is shown: its line, the numbers that it is made of, and the way down to it.
 *
 * @param {{ term: Term, trail: string[] }[]} levels
 */
export function explained(levels) {
  const { term, trail } = levels[levels.length - 1];
  return {
    above: levels.slice(0, -1).map(({ term: { name, index }, trail }) => ({ name: `${name}[${index}]`, trail })),
    trail,
    name: term.name,
    line: term.line,
    parts: (term.parts?.() ?? []).map((part) => ({ line: part.line, opens: !!part.parts })),
  };
}
