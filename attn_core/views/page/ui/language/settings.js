// What a reader can choose of a language model, as settings: core/state.js checks them, the address holds them.

import { offsIn } from "../../core/language/offs.js";
import { numberIn } from "../../core/numbers.js";
import { STAGES } from "../../core/stages.js";
import { isWhole, numbersIn, oneOf, textSetting } from "../../core/state.js";

const TRAIL = /^$|^(all|\d{1,4})(,(all|\d{1,4}))*$/;
const OPEN = /^$|^[\w.]+\/\d{1,5}(,\d{1,5})*$/;
const IDS = /^$|^\d{1,5}(,\d{1,5})*$/;
const LONGEST_TEXT = 20_000; // letters

/**
 * @param {import("../../core/language/offs.js").Sizes} sizes
 * @param {Record<string, any>} view
 * @returns {import("../../core/state.js").Settings}
 */
export function settingsOf(sizes, view) {
  /** @type {(first: number, n: number) => import("../../core/state.js").Setting} */
  const below = (first, n) => ({ first, read: numberIn, fits: (v) => isWhole(v, n), must: ["below", { n }] });
  return {
    text: textSetting(view.text, (text) => text.length <= LONGEST_TEXT, "textForm", { most: LONGEST_TEXT }),
    // Tokens that were chosen behind the text.
    more: textSetting("", (text) => IDS.test(text), "moreForm"),
    off: textSetting("", (text) => offsIn(text, sizes)),
    layer: below(view.layer ?? 0, sizes.layers),
    head: below(view.head ?? 0, sizes.heads),
    stage: oneOf("weights", STAGES),
    select: {
      first: null,
      read: numbersIn,
      fits: (place) => place === null || (place.length === 2 && place.every((n) => Number.isInteger(n) && n >= 0)),
      must: ["placeForm"],
    },
    // A number that is none of the large map's: "chances/4,3681".
    open: textSetting("", (text) => OPEN.test(text), "openForm"),
    trail: textSetting("", (text) => TRAIL.test(text), "trailForm"),
    sort: textSetting("layer", (text) => /^[a-z]+$/.test(text), "names"),
  };
}
