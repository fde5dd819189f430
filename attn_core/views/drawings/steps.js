// Leads through a drawing that has steps, by buttons and arrow keys. Nothing moves by itself; without
// this script, on paper, and for readers who want no motion all steps stand one below another.
(() => {
  const SVG = "svg.drawing.steps:not([data-step])";
  // What a reader sees or hears: in another language with these exchanged.
  /** @typedef {SVGGElement[]} Steps */
  const SAID = {
    bar: "Steps of the drawing",
    back: "← back",
    next: "next →",
    step: (/** @type {number} */ now, /** @type {Steps} */ steps) => {
      const { says } = steps[now].dataset;
      return `Step ${now + 1} of ${steps.length}. ${says}`;
    },
    place: (/** @type {number} */ now, /** @type {Steps} */ steps) => `${now + 1} of ${steps.length}`,
  };

  /** @param {SVGSVGElement} svg */
  function lead(svg) {
    const steps = /** @type {SVGGElement[]} */ ([...svg.querySelectorAll(":scope > .step")]);
    const whole = { viewBox: svg.getAttribute("viewBox"), height: svg.getAttribute("height") };
    const said = svg.getAttribute("aria-label") || "";
    const width = svg.getAttribute("width");

    const bar = document.createElement("div");
    bar.className = "drawing-steps";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", SAID.bar);
    const button = (/** @type {string} */ words, /** @type {number} */ by) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = words;
      made.addEventListener("click", () => show(now + by));
      return made;
    };
    const back = button(SAID.back, -1);
    const next = button(SAID.next, 1);
    const where = document.createElement("span");
    where.setAttribute("role", "status");
    bar.append(back, where, next);
    svg.after(bar);

    let now = 0;
    const clamp = (/** @type {number} */ n) => Math.max(0, Math.min(steps.length - 1, n));

    /** @param {number} n */
    function show(n) {
      now = clamp(n);
      svg.dataset.step = String(now + 1);
      const { top, height } = steps[now].dataset;
      svg.setAttribute("viewBox", `0 ${top} ${width} ${height}`);
      svg.setAttribute("height", String(height));
      svg.setAttribute("aria-label", SAID.step(now, steps));
      steps.forEach((step, place) => {
        step.style.display = place === now ? "" : "none";
      });
      where.textContent = SAID.place(now, steps);
      // Not disabled: a button that is would lose the focus.
      back.ariaDisabled = String(now === 0);
      next.ariaDisabled = String(now === steps.length - 1);
    }

    function all() {
      svg.setAttribute("viewBox", String(whole.viewBox));
      svg.setAttribute("height", String(whole.height));
      svg.setAttribute("aria-label", said);
      for (const step of steps) step.style.display = "";
    }

    bar.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      show(now + by);
    });
    addEventListener("beforeprint", all);
    addEventListener("afterprint", () => show(now));
    show(0);
  }

  function begin() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const svg of document.querySelectorAll(SVG)) lead(/** @type {SVGSVGElement} */ (svg));
  }

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
