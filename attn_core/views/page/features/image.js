// The weights of a query laid on the image whose patches are the keys: the larger, the brighter.

import { bytesOf } from "../core/arrays.js";
import { decimals, fixed } from "../core/digits.js";
import { features, parts } from "../core/parts.js";
import { Problem } from "../core/problem.js";
import { make, token, visible } from "../ui/dom.js";
import { addWords, say, sayParts } from "../words/words.js";
import { Feature } from "./feature.js";

addWords({
  onImage: "image",
  imageQuery: "query on the image",
  imageOf: "The image, brighter where query {query} gives more weight.",
  imageSaid:
    "The larger a weight, the brighter its patch. {query} gives most, {most}, to {patch}, and {sum} to all patches.",
  imageNone: "{query} gives no weight to any patch.",
  imageHint: "Press a patch to open its weight.",
});

const DARKEST = 0.82; // how much of a patch without weight is covered

export class OnImage extends Feature {
  static fits(explorer) {
    return Feature.fits(explorer) && !!explorer.payload.image;
  }

  /** @type {ImageBitmap | undefined} */
  bitmap;
  /** @type {number | undefined} the row that is pointed at in the matrix */
  pointed;
  /** @type {import("../core/attention.js").Attention} */
  attention;

  constructor(explorer) {
    super(explorer);
    const { image } = explorer.payload;
    const { S } = explorer.data;
    const [rows, columns] = image.grid;
    this.rows = rows;
    this.columns = columns;
    this.first = image.first; // the key of the first patch
    this.batch = image.batch;
    if (this.first + rows * columns !== S) throw new Problem(`the grid of its image must have ${S} keys`);
    this.read(bytesOf(image.data));
  }

  // Bytes and no address: a strict page may forbid images from elsewhere.
  async read(bytes) {
    this.bitmap = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    if (this.canvas && this.attention) this.paint();
  }

  build() {
    const { explorer } = this;
    const { queries } = explorer.data;
    this.canvas = make("canvas", { role: "img", width: 1, height: 1 });
    this.marks = ["q", "k"].map((side) => make("i", { class: `ax-patch ax-patch-${side}`, hidden: true }));
    const frame = make("div", { class: "ax-image" }, this.canvas, ...this.marks);
    this.select = make(
      "select",
      { "aria-label": say("imageQuery"), onchange: () => this.open(Number(this.select.value)) },
      ...queries.map((name, i) => make("option", { value: i }, visible(name))),
    );
    const title = make("span", { class: "ax-label", "aria-hidden": "true" }, say("query"));
    this.said = make("p", { class: "ax-hint" });
    const about = make("div", {}, make("div", { class: "ax-control" }, title, this.select), this.said);
    about.append(make("p", { class: "ax-hint" }, say("imageHint")));
    this.element = make("div", { class: "ax-onimage", role: "group", "aria-label": say("onImage") }, frame, about);
    explorer.body.before(this.element);
    frame.addEventListener("pointermove", (event) => this.point(event));
    frame.addEventListener("pointerleave", () => explorer.pointAt(null));
    frame.addEventListener("click", (event) =>
      explorer.choose({ stage: this.stage, select: [this.row, this.keyAt(event)] }),
    );
  }

  /** The row whose weights are shown. */
  get row() {
    const { data, state } = this.explorer;
    return this.pointed ?? data.queryAt(state.stage, state.select) ?? 0;
  }

  get stage() {
    return ["dropped", "output"].includes(this.explorer.state.stage) ? "dropped" : "weights";
  }

  /** Opens the largest weight of a query. @param {number} row */
  open(row) {
    const patches = this.patchesOf(row);
    this.explorer.choose({ stage: this.stage, select: [row, this.first + patches.indexOf(Math.max(...patches))] });
  }

  /** @param {number} row */
  patchesOf(row) {
    return this.attention.row(this.stage, row).subarray(this.first);
  }

  /** The key under the pointer. */
  keyAt({ clientX, clientY }) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const within = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
    const [r, c] = [within((clientY - top) / height, this.rows), within((clientX - left) / width, this.columns)];
    return this.first + r * this.columns + c;
  }

  point(event) {
    const boxOf = () => new DOMRect(event.clientX, event.clientY, 1, 1);
    this.onImage = true;
    this.explorer.pointAt([this.row, this.keyAt(event)], undefined, { boxOf });
    this.onImage = false;
  }

  draw(attention) {
    const { state } = this.explorer;
    this.attention = attention;
    // A difference has a sign, which no brightness shows.
    this.element.hidden = state.batch !== this.batch || attention.isDifference;
    this.paint();
  }

  // A row that is pointed at in the matrix, and not one of its patches.
  light(place) {
    if (this.onImage) return;
    const { data, point, state } = this.explorer;
    const row = point ? (data.queryAt(state.stage, place) ?? undefined) : undefined;
    if (row === this.pointed) return;
    this.pointed = row;
    this.paint();
  }

  paint() {
    if (this.element.hidden) return;
    const { row, bitmap, canvas, rows, columns, first } = this;
    const { queries, keys, L, S } = this.attention.data;
    const patches = this.patchesOf(row);
    const most = Math.max(...patches);
    const query = token(queries[row], "q");
    this.select.value = String(row);
    canvas.setAttribute("aria-label", say("imageOf", { query: visible(queries[row]) }));
    const places = {
      query,
      most: fixed(most, 4),
      patch: token(keys[first + patches.indexOf(most)], "k"),
      sum: decimals(
        patches.reduce((sum, x) => sum + x, 0),
        2,
      ),
    };
    this.said.replaceChildren(...(most > 0 ? sayParts("imageSaid", places) : sayParts("imageNone", { query })));
    this.mark(this.marks[0], L === S ? row : -1);
    const { select, stage } = this.explorer.state;
    this.mark(this.marks[1], this.attention.data.isOfPairs(stage) ? (select?.[1] ?? -1) : -1);
    if (!bitmap) return;
    Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const [left, top] = [
      (c) => Math.round((c * bitmap.width) / columns),
      (r) => Math.round((r * bitmap.height) / rows),
    ];
    for (let n = 0; n < patches.length; n++) {
      const [r, c] = [Math.floor(n / columns), n % columns];
      const share = most > 0 ? patches[n] / most : 0;
      context.fillStyle = `rgb(0 0 0 / ${DARKEST * (1 - share)})`;
      context.fillRect(left(c), top(r), left(c + 1) - left(c), top(r + 1) - top(r));
    }
  }

  /**
   * A frame around the patch of a key.
   *
   * @param {HTMLElement} frame
   * @param {number} key
   */
  mark(frame, key) {
    const n = key - this.first;
    frame.hidden = n < 0;
    if (n < 0) return;
    const percent = (part, all) => `${(100 * part) / all}%`;
    Object.assign(frame.style, {
      left: percent(n % this.columns, this.columns),
      top: percent(Math.floor(n / this.columns), this.rows),
      width: percent(1, this.columns),
      height: percent(1, this.rows),
    });
  }
}

parts.image = true;
features.push(OnImage);
