// A phrase may hold {places}.

/**
 * The parts of a phrase, its places filled; one that nothing is put into is empty.
 *
 * @type {(phrase: string, places?: Record<string, any>) => any[]}
 */
export const filled = (phrase, places = {}) =>
  phrase.split(/[{}]/).map((part, n) => (n % 2 ? (places[part] ?? "") : part));
