// What a step of a program must have, by what its operation declares.

/**
 * @typedef {import("./declared.js").Declared} Declared
 * @typedef {import("./declared.js").Setting} Setting
 * @typedef {import("./program.js").Step} Step
 */

/**
 * A mask that a program may have: one that does not depend on how long a sentence is.
 *
 * @param {any} json
 * @returns {boolean}
 */
function isKeep(json) {
  if (json?.kind === "and") return Array.isArray(json.of) && json.of.every(isKeep);
  const isSize = (/** @type {any} */ n) => n === undefined || n === null || (Number.isInteger(n) && n >= 0);
  return json?.kind === "causal" || (json?.kind === "window" && isSize(json.before) && isSize(json.after));
}

/**
 * Of each kind of setting what its value must be, and whether a value is.
 *
 * @type {Record<string, [(setting: Setting) => string, (value: any, setting: Setting) => boolean]>}
 */
const KINDS_OF_SETTING = {
  number: [() => "a number", Number.isFinite],
  whole: [() => "a whole number", Number.isInteger],
  flag: [() => "true or false", (value) => typeof value === "boolean"],
  choice: [({ choices = [] }) => choices.join(" or "), (value, { choices = [] }) => choices.includes(value)],
  mask: [() => "a mask for sentences of any length", (value) => value === null || isKeep(value)],
  text: [() => "a text", (value) => typeof value === "string"],
};

/**
 * The settings of a step, each checked, and the default of each that the program leaves out.
 *
 * @param {Step} step
 * @param {Declared} declared
 * @param {Record<string, any>} given
 * @returns {Record<string, any>}
 */
export function settingsOf(step, { settings }, given) {
  const known = Object.keys(settings).filter((name) => !settings[name].is_switch);
  for (const name of Object.keys(given)) {
    const which = known.length ? `no settings but ${known.join(", ")}` : "no settings";
    step.must(known.includes(name), `${which}, got ${name}`);
  }
  for (const name of known) {
    const setting = settings[name];
    const [mustBe, fits] = KINDS_OF_SETTING[setting.kind];
    const { least = -Infinity } = setting;
    const isLeftOut = given[name] === undefined && setting.default !== undefined;
    const isRight = isLeftOut || (fits(given[name], setting) && !(given[name] < least));
    const atLeast = least === -Infinity ? "" : ` of at least ${least}`;
    step.must(isRight, `${mustBe(setting)}${atLeast} as its ${name}`);
  }
  return { ...Object.fromEntries(Object.keys(settings).map((name) => [name, settings[name].default])), ...given };
}

/**
 * @param {Step} step
 * @param {Declared} declared
 * @param {number} count of its inputs
 */
export function checkCount(step, { takes: [least, most] }, count) {
  const wanted = most === least ? least : most === null ? `${least} or more` : `${least} or ${most}`;
  const isRight = count >= least && (most === null || count <= most);
  step.must(isRight, `${wanted} ${most === 1 ? "input" : "inputs"}`);
}

/**
 * Gives a step the weights that its operation reads, each of the shape that is declared, and no other.
 *
 * @param {Step} step
 * @param {Declared} declared
 */
export function takeWeights(step, { parameters }) {
  for (const role of Object.keys(step.names).filter((name) => step.has(name))) {
    step.must(Object.hasOwn(parameters, role), `no parameter ${role}`);
  }
  /** @type {Record<string, number>} */
  const sizes = step.inputs.length ? { E: step.inputs[0].width } : {};
  for (const role of Object.keys(parameters)) {
    const { shape, turned_by, is_optional, unless: [setting, value] = ["", ""] } = parameters[role];
    const isWithout = setting && step.settings[setting] === value;
    step.must(!isWithout || !step.has(role), `no ${role} where its ${setting} is ${value}`);
    if (isWithout || (is_optional && !step.has(role))) continue;
    const letters = shape.split(" ");
    if (turned_by && step.settings[turned_by]) letters.reverse();
    const weight = step.parameter(role, letters.map(sizeIn(sizes)));
    for (const [axis, letter] of letters.entries()) sizes[letter] ??= weight.shape[axis];
  }
}

/**
 * What a letter stands for, or a part of what it stands for; null if that is not known yet.
 *
 * @param {Record<string, number>} sizes
 */
const sizeIn = (sizes) => (/** @type {string} */ text) => {
  const [letter, parts = "1"] = text.split("/");
  return letter in sizes ? sizes[letter] / Number(parts) : null;
};
