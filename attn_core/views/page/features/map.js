// A long matrix on a canvas: pooled from afar, single cells with their numbers from near.
// Same calls as Grid. state.at is [first row, first column, columns in view], or null: the whole.

import { fixed } from "../core/digits.js";
import { parts, views } from "../core/parts.js";
import { farther, halved, howOf, overviewOf, pooled } from "../core/pooling.js";
import { isWhole, numbersIn, oneOf } from "../core/state.js";
import { make, visible } from "../ui/dom.js";
import { axisWords, isLong, moved } from "../ui/grid.js";
import { GRADIENT_HEAT, HEAT } from "../ui/heat.js";
import { sentence } from "../ui/panel.js";
import { isDark, onTheme, paint, shadeAt, shades, surface } from "../ui/pixels.js";
import { addWords, say } from "../words/words.js";
import { Marks } from "./marks.js";

addWords({
  mapOf:
    "{stage}: {rows} in rows ({count}), {columns} in columns ({width}). Arrow keys move, plus and minus zoom, Enter selects.",
  place: "a row, a column and a count of columns",
  nearer: "Nearer",
  farther: "Farther",
  fingers: "Two fingers move the map and zoom; a tap selects.",
});

export const BLOCK = 64; // rows that are derived and painted at a time
const LEAST = 8; // columns in view at the nearest, where their numbers have room
const NEAR = 10; // columns in view of a map that opens at its selected number
const [REST, FLIGHT] = [500, 900]; // milliseconds: the whole is seen, then the way to where it opens
const LETTERS = 12; // CSS pixels, at the usual size of text
const ROOM_TO_READ = [15, 46]; // height and width of a cell with its number, at this size
const LEAST_SIDE = 144; // pixels of a map's shorter side: no coarser level is needed
const [LEFT, TOP] = [76, 62]; // room for the tokens, at this size
const MOST_MARKED = 2 ** 24; // cells: of a longer map only some rows are compared, and none is marked
const COLOURS = {
  light: { q: "#0072b2", k: "#c24e00", v: "#00795a" },
  dark: { q: "#56b4e9", k: "#ff9e5e", v: "#3ddbb0" },
};

export class AttentionMap {
  /** @type {import("../core/attention.js").Attention} */ attention;
  /** @type {import("../core/state.js").State} */ state;
  /** @type {number} rows of the matrix */ rows;
  /** @type {number} its columns */ width;
  /** @type {string} how blocks of cells are pooled */ how;
  /** @type {number[] | null} */ selected;
  /** @type {any} where the colours end, once that is known */ ends;
  /** @type {any} the attention that is painted */ drawn;
  /** @type {string} its stage, and how it is pooled */ kind;
  /** @type {number[] | null} where it flies */ flight = null;

  size = 1;
  left = LEFT;
  top = TOP;

  static isWide = true;

  /**
   * @param {import("../core/data.js").Data} data
   * @param {any} payload
   */
  static fits({ L, S, Dv }, { form, isTable }) {
    return form !== "tensor" && !isTable && isLong(L, S, Dv);
  }

  /**
   * Beside the settings of all matrices: what is in view, and how blocks of cells are made.
   *
   * @param {import("../core/data.js").Data} data
   * @returns {import("../core/state.js").Settings}
   */
  static settings(data) {
    const { select } = data.view;
    const most = Math.max(...data.stages.map((stage) => data.rowsIn(stage)));
    return {
      at: {
        // It opens at the selected number, near enough to read it.
        first: select ? [...select.map((n) => Math.max(0, n - 3)), NEAR] : null,
        read: numbersIn,
        fits: (v) => v === null || (v.length === 3 && isWhole(v[0], most) && v.slice(1).every((n) => isWhole(n, 1e6))),
        must: ["place"],
      },
      how: oneOf("max", ["max", "mean"]),
    };
  }

  /** @param {import("../core/data.js").Data} data */
  constructor(data) {
    this.data = data;
    this.canvas = make("canvas", { class: "ax-canvas", tabindex: 0, role: "application" });
    this.canvas.setAttribute("aria-roledescription", "matrix");
    // One finger scrolls the page, two move the map.
    Object.assign(this.canvas.style, { display: "block", width: "100%", touchAction: "pan-x pan-y" });
    this.spoken = make("p", { class: "ax-unseen", "aria-live": "polite" });
    const zoomBy = (by, sign, name) =>
      make("button", { type: "button", "aria-label": say(name), onclick: () => this.zoom(by) }, sign);
    const touch = make(
      "div",
      { class: "ax-touch" },
      zoomBy(0.5, "+", "nearer"),
      zoomBy(2, "−", "farther"),
      make("span", { class: "ax-hint" }, say("fingers")),
    );
    this.element = make("div", { class: "ax-scroll" }, this.canvas, touch, this.spoken);
    this.element.style.width = "100%";
    this.context = this.canvas.getContext("2d");
    this.onpoint = (_place) => {};
    this.onselect = (_place) => {};
    this.onview = (_at) => {};
    this.pointers = new Map();
    const listen = (name, act, how) => this.canvas.addEventListener(name, act, how);
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.drag(event));
    listen("pointerup", (event) => this.up(event));
    for (const name of ["pointercancel", "pointerleave"]) {
      listen(name, (event) => this.pointers.delete(event.pointerId) || this.onpoint(null));
    }
    // Else the page would scroll with two fingers, too.
    for (const name of ["touchstart", "touchmove"]) {
      listen(name, (event) => event.touches.length > 1 && event.preventDefault(), { passive: false });
    }
    listen("focus", () => this.pointers.size || this.onpoint(this.place));
    listen("blur", () => this.onpoint(null));
    listen("keydown", (event) => this.key(event));
    // A wheel scrolls the page, unless the map has the focus or Ctrl is held.
    listen(
      "wheel",
      (event) => {
        if (!event.ctrlKey && document.activeElement !== this.canvas) return;
        event.preventDefault();
        this.zoom(Math.exp(event.deltaY / 300), event);
      },
      { passive: false },
    );
    // Not inside the observer, which would see the new height in the same round. A canvas of another size
    // is empty: it is drawn again before the frame is painted.
    new ResizeObserver(() => {
      this.resizing ||= requestAnimationFrame(() => {
        this.resizing = 0;
        if (this.fitted === this.element.clientWidth) return;
        this.resize();
        if (this.ends) this.frame();
      });
    }).observe(this.element);
    onTheme(this.canvas, () => this.restart());
    document.fonts.addEventListener("loadingdone", () => this.ask());
  }

  /**
   * @param {import("../core/attention.js").Attention} attention
   * @param {import("../core/state.js").State} state
   * @param {import("../core/attention.js").Attention} given
   */
  draw(attention, state, given) {
    const { data } = attention;
    const [rows, width] = [data.rowsIn(state.stage), data.columns(state.stage)];
    const isNew = width !== this.width || rows !== this.rows;
    Object.assign(this, { attention, data, state, rows, width });
    this.selected = state.select;
    this.how = state.how || "max";
    if (isNew || !this.place) this.place = [0, 0];
    this.place = [
      Math.min((state.select || this.place)[0], rows - 1),
      Math.min((state.select || this.place)[1], width - 1),
    ];
    if (isNew) this.resize();
    const whole = [0, 0, width];
    if (this.shownAt === undefined && state.at) this.arrive(whole, state.at);
    else if (isNew || String(state.at) !== this.shownAt) this.go(state.at || whole, false);
    this.shownAt = String(state.at);
    const kindNow = [state.stage, this.how].join();
    if (this.drawn !== attention || this.kind !== kindNow) {
      this.drawn = attention;
      this.kind = kindNow;
      this.ends = this.findEnds(given);
      this.restart();
    }
    const names = axisWords(data, state.stage);
    const said = { stage: say(state.stage), count: rows, width, ...names };
    this.canvas.setAttribute("aria-label", say("mapOf", said));
    this.ask();
    return this.ends;
  }

  sample(attention) {
    const step = Math.ceil(this.rows / 48);
    return Array.from({ length: Math.ceil(this.rows / step) }, (_, n) => attention.row(this.state.stage, n * step));
  }

  // The colours end at what half of the rows reach; the rest has the deepest ink.
  findEnds(given) {
    this.samples = this.sample(this.attention);
    let low = 0,
      high = 0,
      hasMasked = false;
    const median = (rows) => {
      const reach = rows.map((row) => row.reduce((most, x) => (x === -Infinity ? most : Math.max(most, x, -x)), 0));
      return reach.sort((a, b) => a - b)[reach.length >> 1];
    };
    for (const row of this.samples) {
      for (let j = 0; j < row.length; j++) {
        if (row[j] === -Infinity) hasMasked = true;
        else if (row[j] < low) low = row[j];
        else if (row[j] > high) high = row[j];
      }
    }
    const end = Math.max(median(this.samples), median(this.sample(given))) || Math.max(high, -low) || 1;
    const isClipped = high > end || -low > end;
    const write = (x) => fixed(x, this.data.places);
    const ramp = this.state.stage in this.data.further ? GRADIENT_HEAT : HEAT;
    return { low: Math.max(low, -end), high: Math.min(high, end), end, hasMasked, isClipped, ramp, write };
  }

  /**
   * In a live notebook: `tiles` asks Python.
   *
   * @param {import("./tiles.js").Tiles} tiles
   */
  live(tiles) {
    this.data.tiles = tiles;
    this.restart();
  }

  // What it is compared with: pair.differing(row) tells which cells differ. Both maps share the marks.
  mark(pair) {
    if (pair === this.pair) return;
    this.pair = pair;
    const { rows, width } = this;
    const isMarked = pair && rows * width <= MOST_MARKED;
    if (isMarked) pair.marks ??= new Marks(rows, width, pair.differing);
    this.marks = isMarked ? pair.marks : null;
    this.ask();
  }

  // Begins to derive all rows anew, a block at a time; until then the preview stands there.
  restart() {
    if (!this.ends) return;
    const {
      rows: L,
      data: { tiles },
    } = this;
    this.mode = isDark(this.canvas) ? "dark" : "light";
    // The page's own font, which has the characters of its tokens.
    const { fontSize, fontFamily } = getComputedStyle(this.canvas);
    this.font = `${fontSize} ${fontFamily}`;
    this.shades = shades(this.mode, this.ends.ramp);
    this.tile = null;
    this.isLive = !!tiles && tiles.canGive(this.attention, this.state.stage);
    const isShort = L * this.width <= 2 ** 18; // derived at once
    this.preview = isShort ? null : this.previewOf(overviewOf(this.attention, this.state.stage, this.how));
    this.levels = [];
    this.done = this.isLive ? L : 0;
    if (this.isLive) return this.wantTile();
    for (let size = 1; size <= BLOCK; size *= 2) {
      const [rows, columns] = [Math.ceil(L / size), Math.ceil(this.width / size)];
      if (rows * columns <= 2 ** 22) this.levels.push({ size, columns, context: surface(columns, rows) });
      if (Math.max(rows, columns) <= LEAST_SIDE) break;
    }
    while (isShort && this.done < L) this.sweep();
    this.ask();
    return undefined;
  }

  // What came with the data, or else what one row in some of them shows.
  previewOf(blocks) {
    const columns = blocks ? blocks.columns : Math.min(this.width, 128);
    const numbers = blocks
      ? blocks.numbers
      : pooled(this.samples, this.samples.length, columns, howOf(this.attention, this.state.stage, this.how));
    return this.imageOf(numbers, columns);
  }

  imageOf(numbers, columns) {
    const context = surface(columns, numbers.length / columns);
    paint(context, numbers, columns, this.ends.end, this.shades);
    return context.canvas;
  }

  // A block of rows on all levels, each level from the one before.
  sweep() {
    const from = this.done;
    const to = Math.min(from + BLOCK, this.rows);
    let cells = new Float64Array((to - from) * this.width);
    for (let i = from; i < to; i++) cells.set(this.attention.row(this.state.stage, i), (i - from) * this.width);
    const larger = howOf(this.attention, this.state.stage, "max") === "max" ? Math.max : farther;
    let counts = this.how === "mean" ? cells.map((x) => (x === -Infinity ? 0 : 1)) : null;
    if (counts) cells = cells.map((x) => (x === -Infinity ? 0 : x));
    let [columns, size] = [this.width, 1];
    for (const level of this.levels) {
      for (; size < level.size; size *= 2) {
        if (counts) counts = halved(counts, columns, (a, b) => a + b, 0);
        cells = counts ? halved(cells, columns, (a, b) => a + b, 0) : halved(cells, columns, larger, -Infinity);
        columns = Math.ceil(columns / 2);
      }
      const numbers = counts ? cells.map((sum, n) => (counts[n] ? sum / counts[n] : -Infinity)) : cells;
      paint(level.context, numbers, columns, this.ends.end, this.shades, { y: from / size });
    }
    this.done = to;
  }

  // In a live notebook Python pools what is in view, as fine as the screen is.
  wantTile() {
    if (!this.isLive || !this.plot) return;
    clearTimeout(this.tileTimer);
    this.tileTimer = setTimeout(async () => {
      const {
        attention,
        data: { tiles },
        rows: L,
        view: [row, col, columns],
        width,
      } = this;
      const rows = [Math.floor(row), Math.min(L, Math.ceil(row + (L * columns) / width))];
      const cols = [Math.floor(col), Math.min(width, Math.ceil(col + columns))];
      const pool = [rows, cols].map(([from, to], axis) => Math.min(to - from, 1024, Math.round(this.plot[axis])));
      const { stage } = this.state;
      try {
        const [numbers, shape] = await tiles.ask({
          stage,
          batch: attention.batch,
          head: attention.head,
          rows,
          cols,
          pool,
          how: this.how,
        });
        if (attention !== this.attention || stage !== this.state.stage) return;
        this.tile = { rows, cols, image: this.imageOf(numbers, shape[1]) };
      } catch {
        this.data.tiles = null; // Python can't: the page derives all by itself
        this.restart();
      }
      this.ask();
    }, 50);
  }

  /** How large text is, beside its usual size: a reader may have set another. */
  measure() {
    this.size = parseFloat(getComputedStyle(this.canvas).fontSize) / LETTERS || 1;
    [this.left, this.top] = [LEFT * this.size, TOP * this.size];
  }

  resize() {
    this.measure();
    const ratio = window.devicePixelRatio || 1;
    this.fitted = this.element.clientWidth;
    const width = Math.max(220, this.fitted);
    this.plot = [
      Math.max(150, Math.min(560, innerHeight * 0.7, ((width - this.left) * this.data.L) / this.data.S)),
      width - this.left,
    ];
    this.canvas.width = width * ratio;
    this.canvas.height = (this.plot[0] + this.top) * ratio;
    this.ratio = ratio;
    if (this.wanted) this.setView(this.wanted);
    this.wantTile();
    this.ask();
  }

  // How many columns can be read beside each other; no view has fewer, unless the matrix has.
  get readable() {
    return Math.max(2, Math.floor(this.plot[1] / (ROOM_TO_READ[1] * this.size)));
  }

  get least() {
    return Math.min(LEAST, this.width, this.readable);
  }

  /**
   * [first row, first column, columns in view], kept inside the matrix. What is to be read from near has as
   * many columns as a narrow screen lets be read.
   *
   * @param {number[]} wanted
   */
  setView(wanted) {
    this.wanted = wanted;
    const [row, col, columns] = wanted;
    const most = columns <= NEAR ? Math.min(columns, this.readable) : columns;
    const count = Math.max(this.least, Math.min(this.width, most));
    const rows = (this.rows * count) / this.width;
    this.view = [Math.max(0, Math.min(row, this.rows - rows)), Math.max(0, Math.min(col, this.width - count)), count];
  }

  get cellSize() {
    const zoomed = this.width / this.view[2];
    return [(this.plot[0] * zoomed) / this.rows, this.plot[1] / this.view[2]];
  }

  // A map that opens at a place is seen whole first; it flies there once it is on the screen.
  arrive(whole, at) {
    this.setView(at);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const to = this.view; // as many columns as this screen lets be read
    this.setView(whole);
    this.flight = to;
    const seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        seen.disconnect();
        this.fly(to, performance.now() + REST);
      },
      { threshold: 0.6 },
    );
    seen.observe(this.canvas);
  }

  // It nears one point, which stays where it is on the screen. Whatever the reader does ends it.
  fly(to, start) {
    requestAnimationFrame((now) => {
      if (this.flight !== to) return;
      const part = Math.min(1, Math.max(0, (now - start) / FLIGHT));
      const eased = part * part * (3 - 2 * part);
      const { width } = this;
      const count = width * (to[2] / width) ** eased;
      const way = width > to[2] ? (width - count) / (width - to[2]) : 1;
      if (part === 1) this.flight = null;
      this.setView([to[0] * way, to[1] * way, count]);
      if (part < 1) this.fly(to, start);
      else this.wantTile();
      this.ask();
    });
  }

  // To a view; the page's address follows, if the reader chose it.
  go(view, isChosen = true) {
    this.flight = null;
    this.setView(view);
    this.wantTile();
    this.ask();
    if (!isChosen) return;
    const [row, col, columns] = this.view.map(Math.round);
    clearTimeout(this.viewTimer);
    const at = columns >= this.width ? null : [Math.min(row, this.rows - 1), col, columns];
    this.viewTimer = setTimeout(() => {
      this.shownAt = String(at);
      this.onview(at);
    }, 200);
  }

  zoom(by, event) {
    const box = this.canvas.getBoundingClientRect();
    const [h, w] = this.cellSize;
    const at = event
      ? [(event.clientY - box.top - this.top) / h, (event.clientX - box.left - this.left) / w]
      : this.place.map((n, axis) => n + 0.5 - this.view[axis]);
    const [row, col, before] = this.view;
    const columns = Math.max(this.least, Math.min(this.width, before * by));
    this.go([row + at[0] * (1 - columns / before), col + at[1] * (1 - columns / before), columns]);
  }

  placeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const [h, w] = this.cellSize;
    const place = [
      this.view[0] + (event.clientY - box.top - this.top) / h,
      this.view[1] + (event.clientX - box.left - this.left) / w,
    ];
    const isInside = event.clientY >= box.top + this.top && event.clientX >= box.left + this.left;
    const [i, j] = place.map(Math.floor);
    return isInside && i < this.rows && j < this.width ? [i, j] : null;
  }

  down(event) {
    this.pointers.set(event.pointerId, event);
    this.travel = 0;
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.onpoint(this.placeAt(event));
    const [x, y] = [event.clientX - before.clientX, event.clientY - before.clientY];
    this.travel += Math.abs(x) + Math.abs(y);
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    this.pointers.set(event.pointerId, event);
    if (other) return this.pinch(before, event, other);
    if (event.pointerType !== "touch" && this.travel > 4) this.go(this.movedBy(x, y));
  }

  movedBy(x, y) {
    const [h, w] = this.cellSize;
    return [this.view[0] - y / h, this.view[1] - x / w, this.view[2]];
  }

  // One of two fingers went on: what is between them goes half as far, and grows as they part.
  pinch(before, after, other) {
    const distance = (finger) =>
      Math.max(1, Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY));
    this.setView(this.movedBy((after.clientX - before.clientX) / 2, (after.clientY - before.clientY) / 2));
    const between = { clientX: (after.clientX + other.clientX) / 2, clientY: (after.clientY + other.clientY) / 2 };
    this.zoom(distance(before) / distance(after), between);
  }

  up(event) {
    const place = this.placeAt(event);
    if (!this.pointers.delete(event.pointerId) || this.travel > 4 || !place) return;
    this.place = place;
    this.onselect(place);
  }

  key(event) {
    const by = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity }[event.key];
    const next = moved(event, this.place, [this.rows, this.width]);
    if (!by && !next) return;
    event.preventDefault();
    if (by) return by === Infinity ? this.go([0, 0, this.width]) : this.zoom(by);
    if (next === this.place) return this.onselect(this.place);
    this.place = next;
    const shown = [(this.rows * this.view[2]) / this.width, this.view[2]];
    const at = next.map((n, axis) => {
      const from = this.view[axis];
      return n < from ? n : n + 1 > from + shown[axis] ? n + 1 - shown[axis] : from;
    });
    if (at.join() !== this.view.slice(0, 2).join()) this.go([...at, this.view[2]]);
    this.onpoint(next);
    // A screen reader does not see where the arrow keys lead on a canvas.
    this.spoken.replaceChildren(...sentence(this.attention, this.state.stage, next));
  }

  focus() {
    this.canvas.focus();
  }

  // Where a place is on the page, as far as it is in view.
  boxOf([i, j]) {
    if (!this.plot) return undefined;
    const { left, top } = this.canvas.getBoundingClientRect();
    const [h, w] = this.cellSize;
    const [y, x] = [this.top + (i - this.view[0]) * h, this.left + (j - this.view[1]) * w];
    const isSeen = y + h > this.top && y < this.top + this.plot[0] && x + w > this.left && x < this.left + this.plot[1];
    return isSeen ? new DOMRect(left + x, top + y, w, h) : undefined;
  }

  light(place) {
    this.lit = place;
    this.ask();
  }

  // One frame at most; while rows are missing, each frame derives a block of them.
  ask() {
    this.waiting ||= requestAnimationFrame(() => {
      this.waiting = 0;
      if (!this.canvas.isConnected || !this.ends || !this.plot) return;
      if (this.done < this.rows) {
        this.sweep();
        this.ask();
      }
      if (this.marks?.done < this.rows) {
        this.marks.sweep();
        this.ask();
      }
      this.frame();
    });
  }

  frame() {
    const { context, mode, width, ratio } = this;
    const [height, across] = this.plot;
    const [row, col, columns] = this.view;
    const [h, w] = this.cellSize;
    const rows = (this.rows * columns) / width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.left + across, this.top + height);
    context.fillStyle = getComputedStyle(this.canvas).color;
    this.labels(h, w);
    context.save();
    context.beginPath();
    context.rect(this.left, this.top, across, height);
    context.clip();
    if (this.ends.hasMasked || this.state.stage === "masked") this.hatch();
    context.translate(this.left - col * w, this.top - row * h);
    context.imageSmoothingEnabled = false;
    const last = [Math.min(this.rows, Math.ceil(row + rows)), Math.min(width, Math.ceil(col + columns))];
    // Near enough, the cells themselves: for their numbers, or as long as no image has all of them.
    const isExact = this.levels.length > 0 && this.levels[0].size === 1 && this.done === this.rows;
    if (this.hasRoom(h, w) || (!isExact && w >= 12 && h >= 6)) this.cells(Math.floor(row), Math.floor(col), last, h, w);
    else {
      // Each image spans the rows and columns that it has, of which those in view are drawn.
      const place = (image, /** @type {number[]} */ [top, below], /** @type {number[]} */ [left, right]) => {
        const [y, x] = [(below - top) / image.height, (right - left) / image.width];
        const [first, start] = [Math.max(0, Math.floor((row - top) / y)), Math.max(0, Math.floor((col - left) / x))];
        const down = Math.min(image.height, Math.ceil((row + rows - top) / y)) - first;
        const along = Math.min(image.width, Math.ceil((col + columns - left) / x)) - start;
        if (down < 1 || along < 1) return;
        context.drawImage(
          image,
          start,
          first,
          along,
          down,
          (left + start * x) * w,
          (top + first * y) * h,
          along * x * w,
          down * y * h,
        );
      };
      if (this.done < this.rows || this.isLive) place(this.preview, [0, this.rows], [0, width]);
      if (this.tile) place(this.tile.image, this.tile.rows, this.tile.cols);
      const level = this.levels.find(({ size }) => size * Math.min(w, h) * ratio >= 1) || this.levels.at(-1);
      const inBlocks = (count) => [0, Math.ceil(count / level.size) * level.size];
      if (level) place(level.context.canvas, inBlocks(this.rows), inBlocks(width));
    }
    this.marks?.draw(context, this);
    const cross = (place, colours, line) => {
      context.lineWidth = line;
      [
        [0, place[0] * h, width * w, h],
        [place[1] * w, 0, w, this.rows * h],
      ].forEach((box, axis) => {
        context.strokeStyle = colours[axis];
        context.strokeRect(...box);
      });
    };
    const [down, , side] = this.data.axes(this.state.stage);
    const colours = COLOURS[mode];
    if (this.lit) cross(this.lit, [colours[down === "S" ? "k" : "q"], colours[side]], 1.5);
    if (this.selected) {
      const [i, j] = this.selected;
      context.strokeStyle = getComputedStyle(this.canvas).color;
      context.lineWidth = 3;
      context.strokeRect(j * w - 1, i * h - 1, Math.max(w, 4) + 2, Math.max(h, 4) + 2);
    }
    context.restore();
  }

  hasRoom(...size) {
    return size.every((length, axis) => length >= ROOM_TO_READ[axis] * this.size);
  }

  /**
   * @param {number} row
   * @param {number} col
   * @param {number[]} last
   * @param {number} h
   * @param {number} w
   */
  cells(row, col, [bottom, right], h, w) {
    const { context, ends } = this;
    const { css, inks } = this.shades;
    const hasRoom = this.hasRoom(h, w);
    const plain = getComputedStyle(this.canvas).color;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = this.font;
    for (let i = row; i < bottom; i++) {
      const cells = this.attention.row(this.state.stage, i);
      for (let j = col; j < right; j++) {
        const x = cells[j];
        if (Number.isFinite(x)) {
          const shade = shadeAt(x / ends.end);
          context.fillStyle = css[shade];
          context.fillRect(j * w, i * h, w + 0.5, h + 0.5);
          context.fillStyle = inks[shade];
        } else context.fillStyle = plain;
        if (hasRoom) context.fillText(ends.write(x), (j + 0.5) * w, (i + 0.5) * h, w - 4);
      }
    }
  }

  // A pattern: to stroke all lines takes longer than a frame.
  hatch() {
    const { context, mode, plot, ratio } = this;
    const side = Math.round(8 * ratio);
    const tile = surface(side, side);
    tile.lineWidth = ratio;
    tile.strokeStyle = mode === "dark" ? "#3c3b48" : "#d9d8e0";
    for (const by of [-side, 0, side]) {
      tile.moveTo(by - 1, side + 1);
      tile.lineTo(by + side + 1, -1);
    }
    tile.stroke();
    const lines = context.createPattern(tile.canvas, "repeat");
    lines.setTransform(new DOMMatrix().scale(8 / side));
    context.fillStyle = lines;
    context.fillRect(this.left, this.top, plot[1], plot[0]);
  }

  // Tokens where a cell has room for one, else every few places.
  labels(h, w) {
    const { context, data, view } = this;
    context.font = this.font;
    const step = (size, room) => 2 ** Math.max(0, Math.ceil(Math.log2(room / size)));
    const { stage } = this.state;
    [
      [h, this.rows, data.rowNames(stage), 0],
      [w, this.width, data.columnNames(stage), 1],
    ].forEach(([size, count, names, axis]) => {
      const every = step(size, 14 * this.size);
      context.textAlign = axis ? "left" : "right";
      context.textBaseline = "middle";
      const from = Math.ceil(view[axis] / every) * every;
      for (let n = from; n < count && (n + 0.5 - view[axis]) * size < this.plot[axis]; n += every) {
        const text = visible(names[n]);
        const at = (n + 0.5 - view[axis]) * size;
        context.save();
        context.translate(axis ? this.left + at : this.left - 6, axis ? this.top - 6 : this.top + at);
        if (axis) context.rotate(-Math.PI / 2);
        context.fillText(text.length > 11 ? `${text.slice(0, 10)}…` : text, 0, 0, axis ? this.top - 8 : this.left - 8);
        context.restore();
      }
    });
  }
}

parts.map = true;
views.unshift(AttentionMap);
