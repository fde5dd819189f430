// All heads at a glance: a small map each, in the same colours or each in its own. One of them is chosen.

import { parts } from "../core/parts.js";
import { overviewOf, pooled } from "../core/pooling.js";
import { make } from "../ui/dom.js";
import { isDark, onTheme, paint, shades } from "../ui/pixels.js";
import { addWords, say } from "../words/words.js";

addWords({
  heads: "heads",
  headsHint: "All {count} heads, in the same colours: pick one to see it large.",
  headsOwn: "All {count} heads, each in its own colours: pick one to see it large.",
  ownScale: "each in its own colours",
  headsEvery: " Of the queries, one in {step} is drawn.",
});

const MOST_A_SIDE = 64; // rows and columns of a small map, unless the data have an overview
const A_FRAME = 8; // milliseconds of work at a time

/**
 * Full rows where that is possible, as in views/multiples.py.
 *
 * @param {number} count
 */
export function acrossOf(count) {
  if (count <= 6) return count;
  for (let across = 12; across > 3; across--) if (count % across === 0 && count > across) return across;
  return Math.min(12, Math.ceil(Math.sqrt(2 * count)));
}

// Heads that are named by their layer, "layer 3, head 5", in layers of equally many; or nothing.
function layersOf(names) {
  const byLayer = new Map();
  for (const [h, name] of names.entries()) {
    const [, layer, head] = /^(\D*\d+\D*?)[,，] *\D*(\d+)\D*$/.exec(name) || [];
    if (!layer) return null;
    byLayer.set(layer, [...(byLayer.get(layer) || []), { h, layer, head }]);
  }
  const layers = [...byLayer.values()];
  const isInOrder = layers.flat().every(({ h }, n) => h === n);
  return isInOrder && layers.every(({ length }) => length === layers[0].length) ? layers : null;
}

function titleOf([{ layer }]) {
  const title = make("span", { class: "ax-hint", "aria-hidden": "true" }, layer);
  Object.assign(title.style, { gridColumn: "1 / -1", fontSize: "11px", lineHeight: "1" });
  return title;
}

// Tells `onpick(head)`.
export class Heads {
  /** @type {string} the state of the maps, as a text */
  shown;
  /** @type {any[] | undefined} the numbers of the small maps, once they are derived */
  maps;
  /** @type {(head: number) => import("../core/attention.js").Attention} */
  attentionOf;
  /** @type {boolean | undefined} whether each map has colours of its own */
  isOwn;
  stage = "weights";
  how = "max";
  step = 1; // rows for which one is drawn
  /** @param {import("../core/data.js").Data} data */
  constructor(data) {
    this.data = data;
    this.names = data.headNames || Array.from({ length: data.H }, (_, h) => `${say("head")} ${h}`);
    const layers = layersOf(this.names);
    this.across = layers ? Math.min(12, layers[0].length) : acrossOf(data.H);
    /** @type {(head: number) => void} */
    this.onpick = () => {};
    this.onown = () => {};
    this.canvases = this.names.map(() => make("canvas", { width: 1, height: 1 }));
    const numbers = layers ? layers.flatMap((heads) => heads.map(({ head }) => head)) : Object.keys(this.names);
    this.buttons = this.names.map((name, h) =>
      make(
        "button",
        {
          type: "button",
          role: "radio",
          class: "ax-small",
          "aria-label": layers ? name : `${h}: ${name}`,
          title: name,
          onclick: () => this.onpick(h),
        },
        this.canvases[h],
        make("span", { "aria-hidden": "true" }, numbers[h]),
      ),
    );
    const rows = layers
      ? layers.flatMap((heads) => [titleOf(heads), ...heads.map(({ h }) => this.buttons[h])])
      : this.buttons;
    const sheet = make("div", { class: "ax-sheet", role: "radiogroup", "aria-label": say("heads") }, ...rows);
    this.caption = make("p", { class: "ax-hint" });
    this.caption.style.marginTop = "4px";
    this.own = make("button", { type: "button", class: "ax-reset", onclick: () => this.onown() }, say("ownScale"));
    this.element = make("div", { class: "ax-heads" }, sheet, this.caption, this.own);
    sheet.style.maxWidth = `${this.across * 6}rem`;
    sheet.style.setProperty("--ax-across", this.across);
    this.sheet = sheet;
    this.buttons.forEach((button, h) => {
      Object.assign(button.style, { padding: "2px", lineHeight: "1", fontSize: "11px" });
      const look = { display: "block", width: "100%", imageRendering: "pixelated", marginBottom: "2px" };
      Object.assign(this.canvases[h].style, look, { background: "var(--ax-line)" });
    });
    sheet.addEventListener("keydown", (event) => this.key(event));
    onTheme(this.element, () => this.paint());
  }

  /**
   * attentionOf(head) gives its Attention; it's asked for all heads, so it should keep none of them.
   *
   * @param {(head: number) => import("../core/attention.js").Attention} attentionOf
   * @param {import("../core/state.js").State} state
   */
  draw(attentionOf, state) {
    const { head, stage, batch, how = "max", own = false } = state;
    this.buttons.forEach((button, h) => {
      button.setAttribute("aria-checked", String(h === head));
      button.tabIndex = h === head ? 0 : -1;
      button.style.outline = h === head ? "2px solid var(--ax-accent)" : "";
    });
    this.head = head;
    if (this.isOwn !== own) {
      this.isOwn = own;
      this.own.setAttribute("aria-pressed", String(own));
      this.paint();
    }
    const shown = JSON.stringify({ ...state, head: 0, select: 0, at: 0, all: 0, hide: 0, own: 0 });
    if (shown === this.shown) return;
    Object.assign(this, { shown, attentionOf, stage, batch, how, maps: [] });
    this.later(this.maps);
  }

  // After the next frame, so that the large matrix is painted first.
  later(maps) {
    requestAnimationFrame(() => setTimeout(() => maps === this.maps && this.work()));
  }

  // Derives some of the maps, then lets the page paint a frame; the colours need all of them.
  work() {
    const { maps = [] } = this;
    const stop = performance.now() + A_FRAME;
    while (maps.length < this.data.H && performance.now() < stop) {
      maps.push(this.mapOf(this.attentionOf(maps.length)));
    }
    if (maps.length < this.data.H) this.later(maps);
    else this.paint();
  }

  /**
   * The numbers of a small map. Of a long one each row stands for several: the caption says so.
   *
   * @param {import("../core/attention.js").Attention} attention
   */
  mapOf(attention) {
    const blocks = overviewOf(attention, this.stage, this.how);
    if (blocks) return blocks;
    const { L } = this.data;
    this.step = Math.ceil(L / MOST_A_SIDE);
    const cells = Array.from({ length: Math.ceil(L / this.step) }, (_, n) => attention.row(this.stage, n * this.step));
    const columns = Math.min(cells[0].length, MOST_A_SIDE);
    return { numbers: pooled(cells, cells.length, columns, this.how), columns };
  }

  paint() {
    const { maps, data } = this;
    if (!maps || maps.length < data.H) return;
    const mode = shades(isDark(this.element) ? "dark" : "light");
    const ends = maps.map(({ numbers }) =>
      numbers.reduce((end, x) => (Number.isFinite(x) ? Math.max(end, Math.abs(x)) : end), 0),
    );
    const end = Math.max(...ends);
    maps.forEach(({ numbers, columns }, h) => {
      Object.assign(this.canvases[h], { width: columns, height: numbers.length / columns });
      this.canvases[h].style.aspectRatio = `${data.columns(this.stage)} / ${data.L}`;
      paint(this.canvases[h].getContext("2d"), numbers, columns, (this.isOwn ? ends[h] : end) || 1, mode);
    });
    this.end = end;
    const every = this.step > 1 ? say("headsEvery", { step: this.step }) : "";
    this.caption.textContent = say(this.isOwn ? "headsOwn" : "headsHint", { count: data.H }) + every;
  }

  key(event) {
    const [last, h] = [this.data.H - 1, this.head];
    const across = getComputedStyle(this.sheet).gridTemplateColumns.split(" ").length; // fewer for a finger
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across, Home: -h, End: last - h }[
      event.key
    ];
    if (by === undefined) return;
    event.preventDefault();
    const next = h + by;
    if (next < 0 || next > last) return;
    this.onpick(next);
    this.buttons[next].focus();
  }
}

parts.heads = Heads;
