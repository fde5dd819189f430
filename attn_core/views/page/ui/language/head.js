// The head that is chosen: what of it and of its layer is on, and its large map, an explorer of the layer.

import { attentionOff, flipped, headOff, sinkOff } from "../../core/language/offs.js";
import { parts } from "../../core/parts.js";
import { Explorer } from "../../explorer.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { withParts } from "../loading.js";
import { isAlike } from "../model/heads.js";

// The arithmetic stands below, down to the weights: the explorer's own would say a part of it twice.
const HIDDEN = ["scale", "mask", "inputs", "link", "all", "arithmetic", "vectors"];

const MOST_IN_TABLE = 24; // tokens whose numbers are cells of a table; of more a map is drawn
const SHOWN = ["scores", "scaled", "masked", "weights", "output"]; // nothing drops out

export class Head {
  /** @param {import("./model.js").LanguageModel} model */
  constructor(model) {
    this.model = model;
    /** The name of the head. @type {HTMLElement} */
    this.title = model.maps.opened;
    this.switches = make("div", { class: "am-switches", role: "group", "aria-label": say("onOff") });
    this.place = make("div", { class: "am-explorer" });
    this.why = make("p", { class: "am-look" });
    this.element = make("div", { class: "lm-head" }, this.title, this.switches, this.why, this.place);
    this.boxes = ["head", "attention", "sink"].map((name) => this.box(name));
    this.switches.append(...this.boxes.map(({ label }) => label));
  }

  /** @param {string} name */
  box(name) {
    const input = make("input", { type: "checkbox", onchange: () => this.flip(name) });
    const text = make("span");
    return { name, input, text, label: make("label", { class: "am-switch" }, input, text) };
  }

  /** @param {string} name */
  offOf(name) {
    const { layer, head } = this.model.state;
    return { head: headOff(layer, head), attention: attentionOff(layer), sink: sinkOff(layer) }[name] ?? "";
  }

  /** @param {string} name */
  flip(name) {
    const { model } = this;
    model.choose({ off: flipped(model.offs, this.offOf(name)) }, true);
  }

  render() {
    const { model } = this;
    const { layer, head } = model.state;
    for (const { name, input, text } of this.boxes) {
      input.checked = !model.offs.includes(this.offOf(name));
      text.textContent = say(`on_${name}`, { layer, head });
    }
    this.switches.hidden = !model.canSwitch;
    const data = model.dataOf(layer);
    const isOff = !!model.records[layer] && !data;
    this.why.textContent = isOff
      ? say("noMapOff")
      : data
        ? ""
        : say("notThereYet", { name: say("theLayer", { layer }) });
    this.why.hidden = !!data;
    this.place.hidden = !data;
    if (data) this.draw(data);
    if (data && this.isWanted) this.scroll();
  }

  // The large map of a head that was pressed comes into sight.
  show() {
    this.isWanted = true;
    this.scroll();
  }

  scroll() {
    if (this.place.hidden) return;
    this.isWanted = false;
    const { bottom } = this.place.getBoundingClientRect();
    if (bottom > innerHeight) this.element.scrollIntoView({ block: "start" });
  }

  /** @param {import("../../core/data.js").Data} data */
  draw(data) {
    const { stage, select, head } = this.model.state;
    const wanted = { stage, head, select };
    if (data === this.data) {
      const { state } = /** @type {Explorer} */ (this.explorer);
      if (Object.keys(wanted).some((name) => String(wanted[name]) !== String(state[name])))
        this.explorer?.apply(wanted);
      return;
    }
    const isTable = data.L <= MOST_IN_TABLE;
    if (!isTable && !parts.map) {
      const failed = ({ message }) => this.model.tell(`${message}.`);
      withParts(["map"], () => this.render(), failed);
      return;
    }
    const before = this.data;
    this.data = data;
    data.view = { hide: HIDDEN, stages: SHOWN, places: 2 };
    data.places = 2;
    const isLikeBefore = before && isTable === this.isTable && isAlike(before, data, { isTable });
    this.isTable = isTable;
    if (isLikeBefore) {
      this.explorer?.take(data, wanted);
      return;
    }
    const hasFocus = this.place.contains(document.activeElement);
    this.place.replaceChildren();
    const chosen = (/** @type {import("../../core/state.js").State} */ { stage, head, select }) => {
      this.model.choose({ stage, head, select, open: "", trail: "" }, true);
      if (select) this.model.arithmetic.show();
    };
    const payload = { data, name: "language-head", isTable };
    this.explorer = new Explorer(this.place, payload, { start: wanted, chosen });
    if (hasFocus) this.explorer.view.focus();
    if (select) this.explorer.view.reveal?.(select);
  }
}
