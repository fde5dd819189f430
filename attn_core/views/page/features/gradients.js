// What flows back through an attention: stages beside the six, from the gradient of the output.

import { fixed, plain } from "../core/digits.js";
import { withGradients } from "../core/gradients/data.js";
import { parts } from "../core/parts.js";
import { barsAlone, productRow } from "../ui/bars.js";
import { bdi, make, token } from "../ui/dom.js";
import { rowToken } from "../ui/panel.js";
import { GRADIENT_WORDS } from "../words/gradients.js";
import { addWords, say, sayParts } from "../words/words.js";

addWords(GRADIENT_WORDS);

/**
 * What a gradient is of, and where a step leads.
 *
 * @type {typeof import("../ui/panel.js").sentence}
 */
function sentence(attention, stage, [i, j]) {
  const { data } = attention;
  const x = attention.cell(stage, i, j);
  const number = make("b", {}, fixed(x, data.places));
  const step = say(x > 0 ? "stepLowers" : x < 0 ? "stepRaises" : "stepLeaves");
  const said = { stage: say(stage), number, step };
  const row = rowToken(data, stage, i);
  if (data.isOfPairs(stage)) return sayParts("sayPair", { ...said, query: row, key: token(data.keys[j], "k") });
  return sayParts("sayVector", { ...said, token: row, n: j });
}

/**
 * The two rows whose products add up to a gradient, and the products as bars; null of one that was given.
 *
 * @param {import("../core/attention.js").Attention} attention
 * @param {string} stage
 * @param {number[]} place
 */
function factors(attention, stage, [i, j]) {
  /** @type {import("../core/gradients/lines.js").Factors | null} */
  const sum = new attention.data.Lines(attention, i).factors(stage, j);
  if (!sum) return null;
  const rows = [sum.a, sum.b].map((numbers, n) => {
    const colour = `ax-${sum.colours[n]}`;
    const head = make("th", { scope: "row", class: colour }, bdi(sum.labels[n]), " ", make("i", {}, sum.names[n]));
    return make("tr", {}, head, ...Array.from(numbers, (x) => make("td", { class: colour }, plain(x))));
  });
  const products = productRow(sum);
  return { rows: products ? [...rows, products] : rows, bars: barsAlone(sum) };
}

parts.gradients = { dataOf: withGradients, sentence, factors };
