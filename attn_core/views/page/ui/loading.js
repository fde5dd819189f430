// Loads the scripts that few pages need.

import { parts } from "../core/parts.js";
import { Problem } from "../core/problem.js";
import { make } from "./dom.js";
import { isLong } from "./grid.js";

export const ownAddress = /** @type {HTMLScriptElement | null} */ (document.currentScript)?.src ?? "";
const asked = {};

export const inNotebook = () => !!document.querySelector("#jupyter-config-data, body[data-jp-theme-name]");

/** @type {(lang?: string) => boolean} */
export const isChinese = (lang) => /^zh/i.test(lang || document.documentElement.lang);

const MAY_BE_BLANK = /^$|[\p{C}\p{DI}\p{Z}\u2800]/u;

// What is there once all controls are asked for.
export const ALL_CONTROLS = ["lab", "heads"];
// The settings of every explorer, and of long maps; any other belongs to a further control.
const FIRST = ["stage", "batch", "head", "scale", "mask", "select", "hide", "at", "how"];

/**
 * The parts without which an explorer of these data can't start, or can't show what is wanted.
 *
 * @param {any} payload
 * @param {import("../core/state.js").State | null} wanted
 */
export function needed(payload, wanted) {
  const {
    form,
    q,
    k,
    v,
    weights,
    image,
    prompts,
    runs,
    tokens,
    dropout,
    mistakes,
    view,
    lang,
    grad_output: gradients,
  } = payload || {};
  const [, H, L, S] = weights?.shape ?? [0, q?.shape?.[1], q?.shape?.[2], k?.shape?.[2]];
  const isPrint = form === "tensor";
  const isFurther = Object.keys(wanted || {}).some((name) => !FIRST.includes(name));
  const isLab = !isPrint && (mistakes || weights || image || runs || view?.show?.length || isFurther);
  const asks = {
    zh: isChinese(lang),
    blanks: Object.values(tokens ?? {})
      .flat()
      .some((token) => MAY_BE_BLANK.test(token)),
    print: isPrint,
    map: !isPrint && isLong(L, S, v?.shape?.[3] ?? 1),
    heads: isLab && H > 1,
    given: weights,
    gradients,
    image,
    prompts,
    lab: isLab,
    philox: dropout,
    mistakes: mistakes?.some(({ other }) => !other),
  };
  return Object.keys(asks).filter((name) => asks[name]);
}

/**
 * A classic script beside the explorer's own; `what` it is for the sentence if it can't be read. One that the page
 * has asked for runs behind the explorer's own, which may find it while it runs.
 *
 * @param {string} file
 * @param {string} what
 */
export function readScript(file, what) {
  return new Promise((done, fail) => {
    const asked = document.currentScript && document.querySelector(`script[src*="/${file}"]`);
    const script = /** @type {any} */ (asked) ?? make("script");
    script.onload = done;
    script.onerror = () => fail(new Problem(`its ${what} ${file} cannot be read`));
    if (asked) return;
    const url = new URL(file, ownAddress);
    url.search = new URL(ownAddress).search;
    script.src = url;
    document.head.append(script);
  });
}

/**
 * One promise a part; in a module, and so in a notebook, all parts are there.
 *
 * @param {string} name
 */
export function load(name) {
  asked[name] ??= parts[name] ? Promise.resolve() : readScript(`explorer-${name}.js`, "script");
  return asked[name];
}

/**
 * Acts at once where all parts are there.
 *
 * @param {string[]} names
 * @param {() => void} act
 * @param {(error: Error) => void} fail
 */
export function withParts(names, act, fail) {
  if (names.every((name) => parts[name])) act();
  else Promise.all(names.map(load)).then(act).catch(fail);
}
