// Splits what a reader of the Chinese edition searches for as the index was split. Chinese has no spaces: what is
// typed in one piece is cut into words that the index has, so that they have as many of its characters as can be,
// and are as few as can be. Sphinx puts this into its language_data.js.

/**
 * @param {string} query
 * @returns {string[]}
 */
// biome-ignore lint/correctness/noUnusedVariables: Sphinx's searchtools.js calls it
function splitQuery(query) {
  return query
    .split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu)
    .flatMap((part) => part.match(/\p{Script=Han}+|\P{Script=Han}+/gu) ?? [])
    .flatMap((part) => (/\p{Script=Han}/u.test(part) ? wordsOf(part) : [part]));
}

/**
 * Characters that are in no word of the index stay together: a word that no page has.
 *
 * @param {string} text
 * @returns {string[]}
 */
function wordsOf(text) {
  // @ts-expect-error: Sphinx's, in a script of its own
  const { terms, titleterms } = Search._index;
  const isKnown = (/** @type {string} */ word) =>
    // @ts-expect-error: Sphinx's, in the file that it puts this into
    Object.hasOwn(terms, word) || Object.hasOwn(titleterms, word) || stopwords.includes(word);
  // The best way to cut the first n characters: the parts, and how many characters are in none that is known.
  const best = [{ parts: /** @type {string[]} */ ([]), missed: 0 }];
  for (let end = 1; end <= text.length; end++) {
    const { parts, missed } = best[end - 1];
    const isAfterUnknown = parts.length > 0 && !isKnown(parts[parts.length - 1]);
    const last = text[end - 1];
    const longer = isAfterUnknown ? [...parts.slice(0, -1), parts[parts.length - 1] + last] : [...parts, last];
    best[end] = { parts: longer, missed: missed + 1 };
    for (let start = 0; start < end; start++) {
      const word = text.slice(start, end);
      const before = best[start];
      const worse = before.missed - best[end].missed || before.parts.length + 1 - best[end].parts.length;
      if (worse < 0 && isKnown(word)) best[end] = { parts: [...before.parts, word], missed: before.missed };
    }
  }
  return best[text.length].parts;
}
