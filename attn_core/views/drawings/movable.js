// Moves the tips of arrows from crossing to crossing of their grid, by a pointer or by arrow keys,
// and writes their dot product anew. Without this script the drawing is a picture.
(() => {
  const SVG = "svg.drawing.movable:not([data-moves])";
  const KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  const numbers = (/** @type {string | undefined} */ words) => (words ?? "").split(" ").map(Number);
  const signed = (/** @type {number} */ n) => String(n).replace("-", "−");
  const bracketed = (/** @type {number} */ n) => (n < 0 ? `(${signed(n)})` : String(n));
  const pair = (/** @type {number[]} */ arrow) => `(${arrow.map(signed).join(", ")})`;

  /** @param {SVGSVGElement} svg */
  function move(svg) {
    svg.dataset.moves = "";
    // An image has no parts that could be reached.
    svg.setAttribute("role", "group");
    const group = /** @type {SVGGElement} */ (svg.querySelector(".arrows"));
    const arrows = /** @type {SVGGElement[]} */ ([...group.querySelectorAll(".arrow")]);
    const middle = numbers(group.dataset.middle);
    const reach = numbers(group.dataset.reach);
    const step = Number(group.dataset.step);
    const at = arrows.map((arrow) => numbers(arrow.dataset.at));
    const write = (/** @type {string} */ name, /** @type {string} */ words) => {
      const text = svg.querySelector(`.says-${name}`);
      if (text) text.textContent = words;
    };

    /** @param {number} which @param {number[]} to */
    function set(which, to) {
      at[which] = to.map((n, axis) => Math.max(-reach[axis], Math.min(reach[axis], Math.round(n))));
      // −0 is written as 0.
      at[which] = at[which].map((n) => n || 0);
      draw();
    }

    function draw() {
      arrows.forEach((arrow, which) => {
        const [across, up] = at[which];
        const x = middle[0] + step * across;
        const y = middle[1] - step * up;
        const [line, head, handle] = arrow.children;
        line.setAttribute("d", `M${middle[0]},${middle[1]} L${x},${y}`);
        const turned = (Math.atan2(-up, across) * 180) / Math.PI;
        head.setAttribute("transform", `translate(${x} ${y}) rotate(${turned})`);
        /** @type {SVGPathElement} */ (head).style.display = across || up ? "" : "none";
        handle.setAttribute("cx", String(x));
        handle.setAttribute("cy", String(y));
        handle.setAttribute("aria-valuenow", String(across));
        handle.setAttribute("aria-valuetext", pair(at[which]));
        write(String(which), pair(at[which]));
      });
      const [a, b] = at;
      const product = a[0] * b[0] + a[1] * b[1];
      const lean = product > 0 ? "agree" : product < 0 ? "oppose" : "right";
      const sum = a.map((n, axis) => `${bracketed(n)} · ${bracketed(b[axis])}`).join(" + ");
      write("products", `= ${sum}`);
      write("product", `= ${signed(product)}`);
      // An arrow without length has no angle to any other.
      const length = a.some(Boolean) && b.some(Boolean);
      write("lean", length ? (group.dataset[lean] ?? "") : "");
      const names = arrows.map((arrow) => arrow.dataset.name);
      const where = names.map((name, which) => `${name} = ${pair(at[which])}`).join(", ");
      svg.setAttribute("aria-label", `${where}. ${names.join(" · ")} = ${sum} = ${signed(product)}`);
    }

    /** Where a pointer is, in steps of the grid. @param {PointerEvent} event */
    function place(event) {
      const point = new DOMPoint(event.clientX, event.clientY);
      const { x, y } = point.matrixTransform(svg.getScreenCTM()?.inverse());
      return [(x - middle[0]) / step, (middle[1] - y) / step];
    }

    arrows.forEach((arrow, which) => {
      const handle = /** @type {SVGCircleElement} */ (arrow.children[2]);
      handle.setAttribute("tabindex", "0");
      handle.setAttribute("role", "slider");
      handle.setAttribute("aria-label", arrow.dataset.name ?? "");
      handle.style.touchAction = "none"; // a finger on it moves the tip and not the page
      handle.style.cursor = "grab";
      handle.style.fillOpacity = "0.16";
      handle.setAttribute("aria-valuemin", String(-reach[0]));
      handle.setAttribute("aria-valuemax", String(reach[0]));
      handle.addEventListener("pointerdown", (event) => {
        handle.setPointerCapture(event.pointerId);
        handle.focus();
        event.preventDefault();
      });
      handle.addEventListener("pointermove", (event) => {
        if (handle.hasPointerCapture(event.pointerId)) set(which, place(event));
      });
      handle.addEventListener("keydown", (event) => {
        const by = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
        if (!by) return;
        event.preventDefault();
        set(which, [at[which][0] + by[0], at[which][1] + by[1]]);
      });
    });
    draw();
  }

  function begin() {
    for (const svg of document.querySelectorAll(SVG)) move(/** @type {SVGSVGElement} */ (svg));
  }

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
