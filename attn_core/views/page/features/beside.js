// Data too large to stand in a page: a classic script beside it, read when what shows them starts.

import { parts } from "../core/parts.js";
import { Problem } from "../core/problem.js";
import { ownAddress, readScript } from "../ui/loading.js";

const payloads = () => {
  const all = /** @type {any} */ (window);
  all.AttentionExplorerPayloads ??= {};
  return all.AttentionExplorerPayloads;
};

// Calls act(payload) with the data of an element that starts. Without a script of the site (an untrusted notebook)
// nothing is read, and what stands there stays.
function readBeside(name, act, fail) {
  if (payloads()[name]) return act(payloads()[name]);
  if (!ownAddress) return undefined;
  const file = `payloads/${name}.js`;
  const done = () => {
    if (!payloads()[name]) throw new Problem(`its data ${file} cannot be read`);
    act(payloads()[name]);
  };
  return readScript(file, "data").then(done).catch(fail);
}

parts.beside = readBeside;
