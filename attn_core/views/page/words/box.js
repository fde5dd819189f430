// What the box for pasted numbers says; in box_zh.js the same in Chinese.

import { filled } from "./phrase.js";
import { STAGE_WORDS } from "./stages.js";

/**
 * A phrase may hold {places}.
 *
 * @type {Record<string, string>}
 */
export const BOX_WORDS = {
  lang: "en",
  broken: "This box cannot start: its data cannot be read.",
  yours: "Your numbers, {sizes}: paste a printed tensor, lists, or rows",
  should: "it should be",
  anyStage: "any stage",
  ask: "Which mistake is it?",
  example: "Try an example",
  notSeen: "Which mistakes would go unnoticed here",
  showsMore: "An input that shows more",
  tellsApart: "An input on which they differ",
  stop: "{text}.",
  listed: "; ",

  ...STAGE_WORDS,

  decimals: ", to the {places} decimals given",
  right: "right: {name}{decimals}",
  sameHere: " (here {stages} are the same)",
  and: " and ",
  unseenOne: ". {count} known mistake gives the same on this input",
  unseenMany: ". {count} known mistakes give the same on this input",
  wrong: "{name} with {title}",
  orElse: ", or ",
  equalUntil: ". Equal until {stage}; the first row that differs is {row}",
  sameOnInput: ". On this input they are the same",
  row: "row {n}",
  rowOf: "row {n} of [{lead}]",
  exchanged: "{name}, transposed: rows and columns are exchanged",
  turned: "not recognised. It has the shape of {stage} transposed, but not its numbers",
  factor: "right up to a factor of {factor}: {name} times it",
  unknown:
    "not recognised. {nearest}, off by at most {far}; {equal} of {all} rows are equal, " +
    "the first row that differs is {row}",
  nearest: "Nearest: {stage}",
  besideEach: "{name}, its heads side by side",
  oneHead: "{name} of head {head} alone, one of {count}",
  meanOfHeads: "{name}, averaged over the {count} heads",
  asTorch: ", as torch's need_weights gives them",
  sumOfHeads: "{name}, the {count} heads added up",
  sideBySide: "; they belong side by side",
  dropoutOn:
    "{name} with dropout left on{decimals}: {gone} of {all} are 0, and the others are {factor} times as large, " +
    "as p = {p} makes them. model.eval() turns dropout off",
  droppedAnew:
    "{name} with another draw of dropout{decimals}: {gone} of {all} are 0, and the others are {factor} times as large, " +
    "as p = {p} makes them",
  merged: "{name} with {title}{decimals}. Each head is right",
  sized: "not recognised. It has the size of the output with {title}, but not its numbers",

  must: "yours must {what}, got {got}",
  haveShape: "have the shape of a stage, {shapes}",
  or: " or ",
  haveLetters: "have at most {most} characters",
  haveAxes: "have at most {most} axes",
  haveTable: "have rows and columns",
  haveRows: "have rows of one length",
  holdNumbers: "hold numbers",
  closeBrackets: "close the brackets that it opens",
  beOne: "be one array",
  nothing: "nothing",
  more: "more",
  quoted: "'{text}'",
  nanAt: "nan at {place}",
  closed: "one ] too many",
  open: "{count} [ too many",
  ragged: "a ragged list",
};

/**
 * A phrase, its places filled.
 *
 * @type {(key: string, places?: Record<string, string | number>) => string}
 */
export const tell = (key, places) => filled(BOX_WORDS[key], places).join("");
