// What the explorer says; in zh.js the same in Chinese.

import { filled } from "./phrase.js";
import { STAGE_WORDS } from "./stages.js";

/**
 * A phrase may hold {places}.
 *
 * @type {Record<string, string>}
 */
export const WORDS = {
  lang: "en",
  ...STAGE_WORDS,
  meansScores: "the dot product of a {query} and a {key}: multiply number by number, then add up",
  meansScaled: "score × scale, so that scores do not grow with the width of q and k",
  meansScaledBiased: "score × scale + bias, the number that the model adds for this pair",
  meansScaledCapped: "softcap · tanh(score × scale / softcap), so that no score gets beyond ± softcap",
  meansScaledCappedBiased:
    "softcap · tanh(score × scale / softcap) + bias: a score within ± softcap, and the number that the model adds for this pair",
  meansMasked: "the scaled score where the mask keeps, −inf where it does not",
  meansWeights: "exp({before} − row_max) / row_sum{sums}",
  sumsAll: ", so that every row adds up to 1",
  sumsKept: "; rows that see a key sum to 1",
  sumsSink: "; row_sum also counts the sink of the head, so that a row adds up to less than 1",
  meansDifference: "the number of {first} minus that of {second}",
  meansWeightsGiven: "numbers that were given",
  meansDroppedGiven: "numbers that were given",
  meansDropped: "weight / (1 − p) where the weight survives dropout, 0 where it does not",
  meansOutput: "each row of weights · each column of the {values}, added up",
  query: "query",
  key: "key",
  values: "values",

  explorer: "Attention explorer",
  stage: "Stage",
  tableOf: "{stage}: {rows} in rows, {columns} in columns",
  queries: "queries",
  keys: "keys",
  columns: "value columns",
  legendOf: "Colours from {low} to {high}",
  orMore: "at least ",
  legendMasked: "; masked cells are hatched",
  keyHead: "key →",
  queryHead: "query ↓",
  valueHead: "column →",

  scale: "scale",
  scaleNumber: "scale as a number",
  scaleOne: "scale 1",
  mask: "mask",
  given: "as given",
  noneGiven: "none (as given)",
  none: "none",
  causal: "causal",
  window: "window",
  padding: "padding",
  before: "before",
  after: "after",
  keysBefore: "keys before",
  keysAfter: "keys after",
  batch: "batch",
  head: "head",
  reset: "reset",
  share: "Share this view",
  change: "Change a number",
  all: "all controls",

  changed: "You changed {list}.",
  chose: "You chose another view.",
  and: " and ",
  theScale: "the scale",
  theMask: "the mask",

  hint: "Select a number to see what it is made of, and to read its arithmetic.",
  hintGiven: "Select a number to read which query gives it to which key.",
  vectors: "vectors",
  bars: "All {count} numbers as bars, and what their products add up to.",
  barsOf: "The first {count} of {all} numbers as bars, and what all products add up to.",
  sharesNone: "{key} gets no part of the row of {query}.",
  shares: "The row of {query} adds up to 1; the marked part goes to {key}.",
  sharesSink: "The row of {query} and the sink add up to 1; the marked part goes to {key}.",
  sharesSinkDropped:
    "Before dropout, the row of {query} and the sink add up to 1. The hatched part is what dropout takes away; the marked part is that of {key}.",
  sink: "sink",
  sharesDropped:
    "Before dropout, the row of {query} adds up to 1. The hatched part is what dropout takes away; the marked part is that of {key}.",
  close: "close",
  closeLabel: "Close the arithmetic",
  nextFigure: "Next figure",
  firstFigure: "First figure",
  column: "column {n}",
  sayOutput: "For query {query}, {column} averages to {number}.",
  columnOf: "column {n} of the values",
  sayDead: "The mask keeps nothing for query {query}: its weights are 0.",
  sayHidden: "The mask keeps query {query} from seeing key {key}.",
  sayWeights: "Query {query} gives {number} to key {key}.",
  sayTaken: "Dropout takes away what query {query} gives to key {key}.",
  sayDropped: "After dropout query {query} gives {number} to key {key}.",
  sayScores: "Query {query} and key {key} have the score {number}.",
  sayScaled: "Query {query} and key {key} have the scaled score {number}.",

  sayDifference: "{query}, {other}: {first} in {one}, {second} in {two}. The difference is {number}.",
  difference: "difference",

  allTerms: "Write out all terms",
  moreTerms: "… {count} more …",
  isGiven: ", as it was given",
  notKept: ", because the mask does not keep it",
  keepsNothing: ", because the row keeps nothing",
  isDropped: ", because dropout drops it",
  maxHiddenKey: ", without the hidden key",
  maxHiddenKeys: ", without the {count} hidden keys",
  sumHiddenKey: ", with 0 for the hidden key",
  sumHiddenKeys: ", with 0 for each of the {count} hidden keys",

  cannotStart: "This explorer cannot start: {why}.",
  unreadable: "its data cannot be read",
  noValues: "Only the values of head {heads} were sent, so the other heads have no output here.",
  notTaken: "Not taken: {list}. The rest is shown.",
  andMore: "and {count} more",
  mustBe: "{name} must be {must}, got {value}",
  nothing: "nothing",
  noSetting: "there is no setting called {name}",
  oneOf: "one of {list}",
  below: "a whole number below {n}",
  fits: "a number that fits {dtype}",
  maskForm: "given, none, causal, window:2,0, padding:3 (one a sequence), or some joined by +",
  rowBelow: "a row below {rows} and a column below {width}",
  names: "names of controls, such as mask,scale",
  overflowBias: "q, k, v, scale and bias must give numbers below {most}, the largest {dtype}",
  overflow: "q, k, v and scale must give numbers below {most}, the largest {dtype}",
};

/**
 * A phrase, its places filled, in parts or as text.
 *
 * @type {(key: string, places?: Record<string, any>) => any[]}
 */
export const sayParts = (key, places) => filled(WORDS[key], places);
/**
 * A text that came from outside, short enough for a sentence.
 *
 * @type {(text: any, most?: number) => string}
 */
export const brief = (text, most = 60) => {
  const given = String(text ?? "") || say("nothing");
  return given.length > most ? `${given.slice(0, most)}…` : given;
};
/**
 * Words of a part; those of another language that are there already stay.
 *
 * @type {(words: Record<string, string>) => void}
 */
export const addWords = (words) => Object.assign(WORDS, { ...words, ...WORDS });
/** @type {(kind: string, name: string) => string} */
export const sentenceKey = (kind, name) => kind + name[0].toUpperCase() + name.slice(1);
/** @type {(key: string, places?: Record<string, any>) => string} */
export const say = (key, places) => sayParts(key, places).join("");
