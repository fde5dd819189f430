// Data too large to stand in a page: a classic script beside it, read when the page comes near.

import { parts } from "../core/parts.js";
import { Problem } from "../core/problem.js";
import { linked } from "../ui/address.js";
import { ownAddress, readScript } from "../ui/loading.js";

const payloads = () => {
  const all = /** @type {any} */ (window);
  all.AttentionExplorerPayloads ??= {};
  return all.AttentionExplorerPayloads;
};

// Calls act(payload) once the element with these data is nearly in view, or linked. Without a script of the
// site (an untrusted notebook) nothing is read, and what stands there stays.
function readBeside(element, name, act, fail) {
  if (payloads()[name]) return act(payloads()[name]);
  if (!ownAddress) return undefined;
  const file = `payloads/${name}.js`;
  const done = () => {
    if (!payloads()[name]) throw new Problem(`its data ${file} cannot be read`);
    act(payloads()[name]);
  };
  const read = () => readScript(file, "data").then(done).catch(fail);
  // A link to it must not wait: it is what brings the reader there.
  if (linked() === element.getAttribute("name")) return read();
  const near = new IntersectionObserver(
    (seen) => {
      if (!seen.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      read();
    },
    { rootMargin: "800px" },
  );
  near.observe(element);
  return undefined;
}

parts.beside = readBeside;
