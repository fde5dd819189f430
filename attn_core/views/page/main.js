// The element of the static page.

import { parts } from "./core/parts.js";
import { Problem } from "./core/problem.js";
import { Explorer } from "./explorer.js";
import { fragmentOf, isOnWay, linked, readAddress, writeAddress } from "./ui/address.js";
import { make } from "./ui/dom.js";
import { inNotebook, isChinese, load, needed, withParts } from "./ui/loading.js";
import { addSkip, nameSkip } from "./ui/skip.js";
import { keepPlace, startNow, startWhenNear } from "./ui/waiting.js";
import { say } from "./words/words.js";

/**
 * Says why an explorer can't be there.
 *
 * @param {Element} element
 * @param {Error} error
 */
export function fail(element, error) {
  const why = error instanceof Problem ? error.message : say("unreadable");
  for (const root of element.querySelectorAll(".ax-root")) root.remove();
  element.append(make("p", { class: "ax-notice", role: "status" }, say("cannotStart", { why })));
}

/**
 * In the language of the data, or of the page.
 *
 * @param {any} payload
 */
export function speakAs(payload) {
  if (!isChinese(payload?.lang)) return;
  parts.zh(payload);
  parts["model-zh"]?.();
  parts["language-zh"]?.();
  parts["training-zh"]?.();
}

/**
 * What an element shows, by its name: the parts without which that can't start, and what starts it.
 *
 * @type {Record<string, { needs: (payload: any, wanted: any) => string[], make: (...given: any[]) => any }>}
 */
const KINDS = {
  "attention-explorer": { needs: needed, make: (host, payload, how) => new Explorer(host, payload, how) },
  "attention-model": {
    needs: ({ lang }) => (isChinese(lang) ? ["model", "zh", "model-zh"] : ["model"]),
    make: (host, payload, how) => new parts.model(host, payload, how),
  },
  "language-model": {
    needs: ({ lang }) => ["heads", "language", ...(isChinese(lang) ? ["zh", "language-zh"] : [])],
    make: (host, payload, how) => new parts.language(host, payload, how),
  },
  "attention-training": {
    needs: ({ lang }) => ["training", ...(isChinese(lang) ? ["zh", "training-zh"] : [])],
    make: (host, payload, how) => new parts.training(host, payload, how),
  },
};

const dataOf = (element) => element.querySelector('script[type="application/json"]');

/**
 * What is found on a page; one to which a link leads starts at once.
 *
 * @param {Element} element
 */
export function setUp(element) {
  if ((!dataOf(element) && !element.getAttribute("payload")) || element.querySelector(".ax-root")) return;
  if (inNotebook()) return dataOf(element) && startWhenNear(element, () => start(element));
  const name = element.getAttribute("name") || "";
  const isLinked = () => name && linked() === name;
  const isAlone = name && new URLSearchParams(location.search).get("embed") === name;
  if (isAlone) load("embed").then(() => parts.embed(element, name));
  addSkip(element);
  if (isChinese()) nameInChinese(element);
  startWhenNear(element, () => start(element), element.hasAttribute("first"));
  window.addEventListener("hashchange", () => isLinked() && startNow(element));
  if (isLinked() || isAlone) startNow(element);
}

/**
 * A button that leads on is heard before what it stands at has started.
 *
 * @param {Element} element
 */
function nameInChinese(element) {
  load("zh").then(() => {
    parts.zh();
    nameSkip(element);
  });
}

/** @param {Element} element */
export function start(element) {
  const { needs, make: makeShown } = KINDS[element.localName];
  const name = element.getAttribute("name") || "";
  const script = dataOf(element);
  const beside = element.getAttribute("payload");
  const fallback = [...element.children].filter((child) => child !== script && !child.matches(".ax-skip"));
  const isPage = !inNotebook();
  const wanted = () => (isPage && readAddress(name)) || null;
  let timer = 0;
  const how = {
    chosen(state, first, isStep) {
      clearTimeout(timer);
      const write = () => writeAddress(name, state, first, isStep);
      if (isPage && isStep) write();
      else if (isPage) timer = setTimeout(write, 150);
    },
    link: isPage
      ? (state, first) => location.href.split("#")[0] + (fragmentOf(name, state, first) || `#x-${name}`)
      : null,
  };
  const failed = (error) => fail(element, error);
  const scrollThere = () => linked() === name && element.scrollIntoView({ block: "nearest" });
  // A link leads to the number that is open, which may be screens below the beginning.
  const arrive = (shown) => {
    scrollThere();
    if (linked() === name) shown.comeIntoSight();
  };
  const build = (payload) => {
    if (element.querySelector(".ax-root")) return;
    speakAs(payload);
    nameSkip(element);
    const here = wanted();
    let shown;
    keepPlace(element, () => {
      shown = makeShown(element, payload, { start: here || {}, ...how });
      for (const child of fallback) child.toggleAttribute("hidden", true);
    });
    if (here) arrive(shown);
    const show = (next) => {
      shown.open(next);
      if (isOnWay(name)) scrollThere();
      else arrive(shown);
    };
    const follow = () => {
      // The way back ends where nothing was chosen yet.
      const next = wanted() ?? (isOnWay(name) ? {} : null);
      if (next) withParts(needs(payload, next), () => show(next), failed);
    };
    if (!isPage) return;
    window.addEventListener("hashchange", () => isOnWay(name) || follow());
    window.addEventListener("popstate", () => isOnWay(name) && follow());
  };
  const buildOnceLoaded = (payload) => {
    const names = needs(payload, wanted());
    // A notebook has what came with its widgets, and can load no more: what needs more stays a table.
    if (isPage || names.every((part) => parts[part])) withParts(names, () => build(payload), failed);
  };
  try {
    if (script) buildOnceLoaded(JSON.parse(script.textContent));
    // What it needs in any case does not wait for its data.
    else
      Promise.all(["beside", ...needs({}, wanted())].map(load))
        .then(() => parts.beside(beside, buildOnceLoaded, failed))
        .catch(failed);
  } catch (error) {
    failed(error);
  }
}

export class AttentionExplorer extends HTMLElement {
  connectedCallback() {
    if (parts.live?.enter(this)) return;
    if (document.readyState !== "loading") setUp(this);
    else document.addEventListener("DOMContentLoaded", () => setUp(this), { once: true });
  }

  disconnectedCallback() {
    parts.live?.leave(this);
  }
}

/** A model, which differs in what it loads. */
export class AttentionModel extends AttentionExplorer {}

export class LanguageModel extends AttentionExplorer {}

export class AttentionTraining extends AttentionExplorer {}

if (!customElements.get("attention-explorer")) {
  customElements.define("attention-explorer", AttentionExplorer);
  customElements.define("attention-model", AttentionModel);
  customElements.define("language-model", LanguageModel);
  customElements.define("attention-training", AttentionTraining);
}
