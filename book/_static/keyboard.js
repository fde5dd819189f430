// A short way by the Tab key: a link to the first figure, and one stop for the copy buttons of a section,
// from which the arrow keys lead to the others.
(() => {
  "use strict";

  // What a reader sees or hears: in another language with these exchanged.
  const SAID = {
    skip: "Skip to the first figure",
    others: "The arrow keys lead to the other copy buttons of this section",
  };

  const FIGURES = "attention-explorer, attention-model, attention-training, language-model";
  // What the keyboard may stop at in one; some of it is hidden at first.
  const STOPS = `.ax-skip, .ax-root :is(button, input, textarea):enabled, .ax-root [tabindex="0"]`;
  // The first explorer that is not in a closed fold.
  const figure = () => [...document.querySelectorAll(FIGURES)].find((one) => one.getClientRects().length);

  function skipToFigure(event) {
    event.preventDefault();
    const first = figure();
    first.scrollIntoView({ block: "center" });
    const stop = [...first.querySelectorAll(STOPS)].find((one) => one.getClientRects().length);
    if (stop) return stop.focus();
    first.tabIndex = -1; // its script is still being read
    return first.focus();
  }

  addEventListener("DOMContentLoaded", () => {
    const skip = document.querySelector("#pst-skip-link");
    const first = figure();
    if (!skip || !first) return;
    const link = document.createElement("a");
    first.id ||= "first-figure";
    link.href = `#${first.id}`;
    link.textContent = SAID.skip;
    link.addEventListener("click", skipToFigure);
    const box = document.createElement("div");
    box.className = skip.className;
    box.append(link);
    skip.after(box);
  });

  const neighbours = (button) =>
    [...(button.closest("section") || document.body).querySelectorAll("button.copybtn")].filter(
      (one) => one.closest("section") === button.closest("section"),
    );

  function oneStop(buttons) {
    const sections = new Set();
    for (const button of buttons) {
      const section = button.closest("section");
      button.tabIndex = sections.has(section) ? -1 : 0;
      button.setAttribute("aria-description", SAID.others);
      sections.add(section);
    }
  }

  addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!by || !event.target.matches?.("button.copybtn")) return;
    const all = neighbours(event.target);
    const next = all[all.indexOf(event.target) + by];
    event.preventDefault();
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  // They are there before or after this runs.
  addEventListener("DOMContentLoaded", () => {
    const article = document.querySelector("article");
    if (!article) return;
    const observer = new MutationObserver(look);
    function look() {
      const buttons = article.querySelectorAll("button.copybtn");
      if (!buttons.length) return;
      observer.disconnect();
      oneStop(buttons);
    }
    observer.observe(article, { childList: true, subtree: true });
    look();
  });
})();
