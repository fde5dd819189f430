// Lines in the drawing from what a station is made of, and to where it goes.

const SVG = "http://www.w3.org/2000/svg";
const SAME_ROW = 12; // pixels: stations that stand beside each other
const RISE = 24; // pixels by which a wire goes above what stands between them

export class Wires {
  /** @param {HTMLElement} drawing */
  constructor(drawing) {
    this.drawing = drawing;
    this.element = document.createElementNS(SVG, "svg");
    this.element.classList.add("am-wires");
    this.element.setAttribute("aria-hidden", "true");
    /** @type {[Element, Element, string][]} from, to, and the class of the line */
    this.ends = [];
    this.frame = 0;
    this.drawn = "";
    drawing.append(this.element);
    // Within the frame of the change: another one would paint the page again.
    new ResizeObserver(() => this.draw()).observe(drawing);
  }

  /** @param {[Element, Element, string][]} ends */
  join(ends) {
    this.ends = ends;
    this.soon();
  }

  // Once a frame, when all has its place.
  soon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.drawing.isConnected) return;
    const around = this.drawing.getBoundingClientRect();
    const middle = (element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2 - around.left, top + height / 2 - around.top];
    };
    const lines = this.ends.map(([from, to, kind]) => {
      const [[x0, y0], [x1, y1]] = [middle(from), middle(to)];
      const bend = Math.abs(y1 - y0) < SAME_ROW ? -RISE : 0;
      return [kind, `M${x0} ${y0} Q${(x0 + x1) / 2} ${(y0 + y1) / 2 + bend} ${x1} ${y1}`];
    });
    const box = `0 0 ${around.width} ${around.height}`;
    const drawn = String([box, ...lines]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.element.setAttribute("viewBox", box);
    this.element.replaceChildren(
      ...lines.map(([kind, d]) => {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("d", d);
        path.setAttribute("class", kind);
        return path;
      }),
    );
  }
}
