// Loads the scripts that few pages need.

import { Problem } from "./data.js";
import { isLong } from "./grid.js";
import { make } from "./dom.js";
import { parts } from "./parts.js";

export const here = document.currentScript && document.currentScript.src;
const asked = {};

// The parts without which an explorer of these data can't start.
export function needed(payload) {
  const { form, q, k, v, dropout } = payload || {};
  const isExplorer = form !== "tensor";
  const needsMap = isExplorer && isLong(q?.shape?.[2], k?.shape?.[2], v?.shape?.[3]);
  const needsHeads = isExplorer && q?.shape?.[1] > 1;
  return [needsMap && "map", needsHeads && "heads", dropout && "philox"].filter(Boolean);
}

// A classic script beside the explorer's own; `what` it is for the sentence if it can't be read.
export function readScript(file, what) {
  return new Promise((done, fail) => {
    const script = make("script", { onload: done, onerror: () => fail(new Problem(`its ${what} ${file} cannot be read`)) });
    const url = new URL(file, here);
    url.search = new URL(here).search;
    script.src = url;
    document.head.append(script);
  });
}

// One promise a part; in a module, and so in a notebook, all parts are there.
export function load(name) {
  return (asked[name] ??= parts[name] ? Promise.resolve() : readScript(`explorer-${name}.js`, "script"));
}

// Acts at once where all parts are there.
export function withParts(names, act, fail) {
  if (names.every((name) => parts[name])) act();
  else Promise.all(names.map(load)).then(act).catch(fail);
}
