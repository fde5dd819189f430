// Data too large to stand in a page: a classic script beside it, read when the page comes near.

import { Problem } from "./data.js";
import { make } from "./dom.js";

const siteScript = document.currentScript && document.currentScript.src;
const besides = () => (window.AttentionExplorerPayloads ??= {});

// Calls act(payload) once the element with these data is nearly in view. Without a script of the
// site (an untrusted notebook) nothing is read, and what stands there stays.
export function readBeside(element, name, act, fail) {
  if (besides()[name]) return act(besides()[name]);
  if (!siteScript) return undefined;
  const file = `payloads/${name}.js`;
  const missing = () => fail(new Problem(`its data ${file} cannot be read`));
  const done = () => (besides()[name] ? act(besides()[name]) : missing());
  const near = new IntersectionObserver((seen) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    near.disconnect();
    const script = make("script", { onload: done, onerror: missing });
    script.src = new URL(file, siteScript);
    document.head.append(script);
  }, { rootMargin: "800px" });
  near.observe(element);
  return undefined;
}
