// Loads the scripts that few pages need.

import { Problem } from "./data.js";
import { isLong } from "./grid.js";
import { make } from "./dom.js";
import { parts } from "./parts.js";

const here = document.currentScript && document.currentScript.src;
const asked = {};

// The parts without which an explorer of these data can't start.
export function needed(payload) {
  const { form, q, k, v } = payload || {};
  if (form === "tensor") return [];
  const needsMap = isLong(q?.shape?.[2], k?.shape?.[2], v?.shape?.[3]);
  return [needsMap && "map", q?.shape?.[1] > 1 && "heads"].filter(Boolean);
}

// One promise a part; in a module, and so in a notebook, all parts are there.
export function load(name) {
  return (asked[name] ??= parts[name] ? Promise.resolve() : new Promise((done, fail) => {
    const file = `explorer-${name}.js`;
    const script = make("script", { onload: done, onerror: () => fail(new Problem(`its script ${file} cannot be read`)) });
    const url = new URL(file, here);
    url.search = new URL(here).search;
    script.src = url;
    document.head.append(script);
  }));
}

// Acts at once where all parts are there.
export function withParts(names, act, fail) {
  if (names.every((name) => parts[name])) act();
  else Promise.all(names.map(load)).then(act).catch(fail);
}
