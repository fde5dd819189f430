// The element of the static page.

import { Problem } from "./data.js";
import { fragmentOf, readAddress, writeAddress } from "./address.js";
import { make } from "./dom.js";
import { Explorer } from "./explorer.js";
import { isChinese, load, needed, withParts } from "./loading.js";
import { parts } from "./parts.js";
import { WORDS, say } from "./words.js";

export const inNotebook = () => !!document.querySelector("#jupyter-config-data, body[data-jp-theme-name]");

// Says why an explorer can't be there.
export function fail(element, error) {
  const why = error instanceof Problem ? error.message : say("unreadable");
  element.querySelectorAll(".ax-root").forEach((root) => root.remove());
  element.append(make("p", { class: "ax-notice", role: "status" }, say("cannotStart", { why })));
}

export function speakAs(payload) {
  if (isChinese(payload?.lang)) parts.zh(payload);
}

export function start(element) {
  const name = element.getAttribute("name") || "";
  const script = element.querySelector('script[type="application/json"]');
  const beside = element.getAttribute("payload");
  if ((!script && !beside) || element.querySelector(".ax-root")) return;
  const fallback = [...element.children].filter((child) => child !== script);
  const isPage = !inNotebook();
  const wanted = () => (isPage && readAddress(name)) || null;
  let timer = 0;
  const how = {
    changed(state, first) {
      clearTimeout(timer);
      if (isPage) timer = setTimeout(() => writeAddress(name, state, first), 150);
    },
    link: isPage ? (state, first) => location.href.split("#")[0] + (fragmentOf(name, state, first) || `#x-${name}`) : null,
  };
  const begin = (payload) => {
    if (element.querySelector(".ax-root")) return;
    speakAs(payload);
    const here = wanted();
    const explorer = new Explorer(element, payload, { start: here || {}, ...how });
    for (const child of fallback) child.hidden = true;
    const see = () => element.scrollIntoView({ block: "nearest" });
    if (here) see();
    if (isPage) window.addEventListener("hashchange", () => {
      const next = wanted();
      if (next) withParts(needed(payload, next), () => { explorer.become(next); see(); }, (error) => fail(element, error));
    });
  };
  const failed = (error) => fail(element, error);
  const go = (payload) => withParts(needed(payload, wanted()), () => begin(payload), failed);
  try {
    if (script) go(JSON.parse(script.textContent));
    else load("beside").then(() => parts.beside(element, beside, go, failed)).catch(failed);
  } catch (error) {
    failed(error);
  }
  if (isPage && name && new URLSearchParams(location.search).get("embed") === name) load("embed").then(() => parts.embed(element, name));
}

export class AttentionExplorer extends HTMLElement {
  connectedCallback() {
    if (document.readyState !== "loading") start(this);
    else document.addEventListener("DOMContentLoaded", () => start(this), { once: true });
  }
}

if (!customElements.get("attention-explorer")) {
  customElements.define("attention-explorer", AttentionExplorer);
}
