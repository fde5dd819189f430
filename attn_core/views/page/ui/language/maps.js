// All heads as small maps, a row for each layer: the way in. They come as their layers come.

import { Attention } from "../../core/attention.js";
import { headOff } from "../../core/language/offs.js";
import { measuresOf } from "../../core/measures.js";
import { parts } from "../../core/parts.js";
import { say, sentenceKey } from "../../words/words.js";
import { make } from "../dom.js";
import { heading } from "../headings.js";
import { isDark, onTheme, shades } from "../pixels.js";
import { Painter } from "./painter.js";

const MEASURES = ["previous", "induction", "first", "own", "entropy", "largest"];
const NOTHING = Object.fromEntries(MEASURES.map((name) => [name, 0]));

/** The small maps of features/heads.js, whose script is loaded by then. */
const madeOf = () =>
  class Maps extends parts.heads {
    /** @param {import("./model.js").LanguageModel} model */
    constructor(model) {
      const { tokens, sizes } = model;
      const names = Array.from({ length: sizes.layers * sizes.heads }, (_, h) =>
        say("layerHead", { layer: Math.floor(h / sizes.heads), head: h % sizes.heads }),
      );
      super(dataLike(tokens, names));
      this.model = model;
      this.isLong = true; // maps are painted as they come
      this.across = sizes.heads;
      this.sheet.classList.add("lm-sheet");
      this.sheet.style.maxWidth = "";
      for (const [layer, { title }] of this.layers.entries()) {
        title.className = "lm-side";
        title.textContent = String(layer);
      }
      this.onpick = (h) => {
        model.choose({ layer: Math.floor(h / sizes.heads), head: h % sizes.heads, open: "", trail: "" }, true);
      };
      this.sheet.addEventListener("click", () => model.head.show());
      this.onsort = (sort) => model.choose({ sort });
      this.own.remove();
      this.element.prepend(heading("ax-unseen", say("heads")));
      this.painter = new Painter(this.sheet, this.pictures, () => this.repaint());
      onTheme(this.element, () => {
        this.known = undefined;
        this.repaint();
      });
      this.arrange();
    }

    picture() {
      return make("span", { class: "lm-place", role: "img" });
    }

    get inside() {
      return this.painter ? [...super.inside, this.painter.canvas] : super.inside;
    }

    repaint() {
      this.painted = [];
      this.paint();
    }

    /** The heads whose layers are there. */
    get wanted() {
      const { model } = this;
      if (model?.source?.map) return [...this.names.keys()];
      return model
        ? this.order.map((_, h) => h).filter((h) => model.records[Math.floor(h / model.sizes.heads)]?.q)
        : [];
    }

    // In layers each row has its number; sorted, each map has its name and its measure.
    arrange() {
      const { model } = this;
      if (!model) return;
      const isSorted = this.sort !== "layer";
      const order = isSorted ? `${this.sort} ${this.stamp}` : "layer";
      if (order === this.arranged && !isSorted) return;
      this.arranged = order;
      if (isSorted) for (const h of this.names.keys()) this.measures[h] ??= NOTHING;
      if (super.arrange()) this.painter.move();
    }

    /** Nine in a row leave little room. @param {import("../../core/layers.js").Named} named */
    shortOf({ layer, head }) {
      return `${layer.replace(/\D/g, "")}.${head}`;
    }

    paint() {
      if (!this.maps) return;
      this.paintMaps();
      const hint = this.sort === "layer" ? "mapsHint" : "mapsSorted";
      this.caption.textContent = this.maps.length ? say(hint, { count: this.names.length }) : "";
    }

    // Each map once: weights have the same colours in all of them.
    paintMaps() {
      const colours = this.colours();
      for (const h of this.maps.keys()) {
        if (!this.maps[h] || this.painted[h] === this.maps[h]) continue;
        this.painted[h] = this.maps[h];
        const { numbers, columns } = this.maps[h];
        this.painter.paint(h, numbers, columns, colours);
      }
    }

    /** To ask for them takes a layout: only once, until it turns light or dark. */
    colours() {
      this.known ??= shades(isDark(this.element) ? "dark" : "light");
      return this.known;
    }

    /** Another text, another head, or another order. */
    render() {
      const { model } = this;
      const { tokens, state, offs } = model;
      if (model.stamp !== this.stamp) {
        this.stamp = model.stamp;
        this.data = dataLike(tokens, this.names);
        this.forget();
        this.painted = [];
        // What will be painted soon keeps its picture until then.
        const soon = new Set(this.wanted);
        for (const h of this.names.keys()) if (!soon.has(h)) this.painter.clear(h);
      }
      for (const [h, button] of this.buttons.entries()) {
        const off = headOff(Math.floor(h / model.sizes.heads), h % model.sizes.heads);
        button.classList.toggle("lm-off", offs.includes(off));
      }
      this.offer();
      this.sorter.disabled = !model.isDone;
      const sort = model.isDone ? state.sort : "layer";
      const head = state.layer * model.sizes.heads + state.head;
      this.draw((h) => this.attentionOfHead(h), { head, stage: "weights", batch: 0, sort, of: this.stamp });
    }

    // What was begun for another text is left.
    work(steps) {
      if (this.stamp === this.model.stamp) super.work(steps);
    }

    /** Some layers more: what they have is derived, the rest stays. */
    arrived() {
      if (this.stamp === this.model.stamp) this.later(this.pending());
    }

    /** By what this text's heads can be sorted. */
    offer() {
      const { source, tokens } = this.model;
      const { measures } = source ?? {};
      const names = measures ? Object.keys(measures) : tokens.length ? measuresOf(/** @type {any} */ (this.data)) : [];
      const option = (value) => make("option", { value }, say(sentenceKey("sort", value)));
      if (`${names}` === this.offered) return;
      this.offered = `${names}`;
      this.sorter.replaceChildren(...["layer", ...names].map(option));
    }

    /** @param {any} attention */
    mapOf(attention) {
      return attention.map ?? super.mapOf(attention);
    }

    // What a source measured already needs no map.
    *pending() {
      const { measures } = this.model.source ?? {};
      if (measures) {
        const of = (h) => Object.fromEntries(Object.entries(measures).map(([name, all]) => [name, all[h]]));
        for (const h of this.names.keys()) this.measures[h] = { ...NOTHING, ...of(h) };
      }
      // Painted as they are derived, so that the time of both is counted.
      for (const step of super.pending()) {
        this.paintMaps();
        yield step;
      }
    }

    /** @param {number} h */
    attentionOfHead(h) {
      const { heads } = this.model.sizes;
      const { source, tokens } = this.model;
      if (source?.map)
        return { map: { numbers: source.map(Math.floor(h / heads), h % heads), columns: tokens.length } };
      const data = this.model.dataOf(Math.floor(h / heads));
      return new Attention(data, { batch: 0, head: h % heads, scale: data.scale, mask: "given" });
    }
  };

/**
 * What the small maps ask of data, of all layers together.
 *
 * @param {string[]} tokens
 * @param {string[]} names
 */
const dataLike = (tokens, names) => ({
  H: names.length,
  L: tokens.length || 1,
  S: tokens.length || 1,
  D: 1,
  headNames: names,
  queries: tokens,
  keys: tokens,
  overview: null,
  further: {},
  rowsIn: () => tokens.length || 1,
  columns: () => tokens.length || 1,
});

/** @param {import("./model.js").LanguageModel} model */
export const mapsOf = (model) => new (madeOf())(model);
