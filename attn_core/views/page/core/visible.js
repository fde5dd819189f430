// Tokens as a reader sees them: what leaves no ink is written out. As views/visible.py.

import { parts } from "./parts.js";

/** @type {Record<string, string>} */
const SIGNS = { " ": "␣", "\n": "⏎", "\t": "⇥", "\u00a0": "⍽" };

// Controls, spaces of other widths, what has no width, half of a pair of surrogates.
const BLANK = String.raw`\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u17b4\u17b5\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff`;
// What changes or joins its neighbours, as in emoji, in Persian and in Mongolian.
const JOINER = String.raw`\u034f\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\u{e0000}-\u{e0fff}`;
const UNSEEN = new RegExp(
  [
    "^ +| +$| {2,}", // spaces where they would be lost
    `[${BLANK}]`,
    `(?<![^ ${BLANK}])[${JOINER}]+`, // with nothing before it
    String.raw`[\u200c\u200d]+$`, // with nothing behind it
  ].join("|"),
  "gu",
);

/** @type {(sign: string) => string} */
function written(sign) {
  const code = Number(sign.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
  return SIGNS[sign] ?? `⟨U+${code}⟩`;
}

/**
 * A token as a label: "␣the" for " the", "⏎" for a line break, "⟨U+200B⟩" for what has no sign.
 *
 * @param {string | number} token
 */
export const visible = (token) => String(token).replace(UNSEEN, (run) => [...run].map(written).join("")) || "∅";

parts.blanks = visible;
