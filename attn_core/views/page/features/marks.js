// Where two long maps differ: a block with such a cell has the corner that the cell has in a short one.

import { halved } from "../core/pooling.js";
import { make } from "../ui/dom.js";
import { paint, shades, surface } from "../ui/pixels.js";

const A_SWEEP = 64; // rows at a time, and the most that a block spans
const LEAST_BLOCK = 6; // pixels of its shorter side
const MOST_CORNER = 9;
const INKS = { light: ["#1b1b22", "#ffffff"], dark: ["#eceaf3", "#1b1b22"] };

export class Marks {
  /**
   * differing(i) tells of each column of a row whether it differs.
   *
   * @param {number} rows
   * @param {number} columns
   * @param {(i: number) => boolean[]} differing
   */
  constructor(rows, columns, differing) {
    this.rows = rows;
    this.columns = columns;
    this.differing = differing;
    this.done = 0;
    /** @type {{ size: number, context: CanvasRenderingContext2D }[]} */
    this.levels = [];
    this.sheet = make("canvas").getContext("2d");
    for (let size = 1; size <= A_SWEEP; size *= 2) {
      const [height, width] = [Math.ceil(rows / size), Math.ceil(columns / size)];
      if (height * width <= 2 ** 22) this.levels.push({ size, context: surface(width, height) });
    }
  }

  // The next rows on all levels, each level from the one before.
  sweep() {
    const from = this.done;
    this.done = Math.min(from + A_SWEEP, this.rows);
    let [columns, size] = [this.columns, 1];
    let cells = new Float64Array((this.done - from) * columns);
    for (let i = from; i < this.done; i++) {
      cells.set(
        this.differing(i).map((differs) => (differs ? 1 : -Infinity)),
        (i - from) * columns,
      );
    }
    for (const level of this.levels) {
      for (; size < level.size; size *= 2) {
        cells = halved(cells, columns, Math.max, -Infinity);
        columns = Math.ceil(columns / 2);
      }
      paint(level.context, cells, columns, 1, shades("light"), { y: from / size });
    }
  }

  // Over what is in view, in a context whose origin is the matrix's corner: a sheet of corners, of
  // which those of the marked blocks are left.
  draw(context, { view: [row, col], cellSize: [h, w], plot: [height, across], ratio, mode }) {
    const { sheet } = this;
    const level =
      this.levels.find(({ size }) => size * Math.min(h, w) >= LEAST_BLOCK) || this.levels[this.levels.length - 1];
    const image = level.context.canvas;
    const block = [h * level.size, w * level.size];
    Object.assign(sheet.canvas, { width: Math.ceil(across * ratio), height: Math.ceil(height * ratio) });
    sheet.setTransform(ratio, 0, 0, ratio, -col * w * ratio, -row * h * ratio);
    sheet.imageSmoothingEnabled = false;
    sheet.drawImage(image, 0, 0, image.width * block[1], image.height * block[0]);
    sheet.globalCompositeOperation = "source-in";
    sheet.fillStyle = this.corners(block, ratio, INKS[mode]);
    sheet.fillRect(col * w, row * h, sheet.canvas.width, sheet.canvas.height);
    context.drawImage(sheet.canvas, col * w, row * h, sheet.canvas.width / ratio, sheet.canvas.height / ratio);
  }

  /**
   * @param {number[]} block
   * @param {number} ratio
   * @param {string[]} inks
   */
  corners([height, width], ratio, [ink, paper]) {
    const [down, along] = [height, width].map((size) => Math.max(1, Math.round(size * ratio)));
    const tile = surface(along, down);
    tile.scale(along / width, down / height);
    const side = Math.min(MOST_CORNER, Math.min(height, width) / 2);
    const gap = side / 4;
    tile.moveTo(width - gap - side, gap);
    tile.lineTo(width - gap, gap);
    tile.lineTo(width - gap, gap + side);
    tile.closePath();
    Object.assign(tile, { strokeStyle: paper, lineWidth: gap, fillStyle: ink });
    tile.stroke();
    tile.fill();
    const pattern = this.sheet.createPattern(tile.canvas, "repeat");
    pattern.setTransform(new DOMMatrix().scale(width / along, height / down));
    return pattern;
  }
}
