// A token as a reader sees it: what is blank is written out.

/** @type {Record<string, string>} */
const BLANKS = { " ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍" };

/** @param {string} piece */
export const shown = (piece) => piece.replace(/[ \n\t\r]/g, (blank) => BLANKS[blank]) || "∅";
