// Further masks: padding, and cells that the reader hides or shows by hand.

import { flag, listOf, textSetting } from "../core/state.js";
import { field } from "../ui/controls.js";
import { say } from "../words/words.js";
import { Change } from "./feature.js";

const drawnIn = (text) => listOf(text).map((cell) => cell.split(".").map(Number));

export class Masking extends Change {
  onRequest = ["draw"];

  constructor(explorer) {
    super(explorer);
    const isCell = (text) => /^\d+\.\d+$/.test(text);
    const isInside = (/** @type {number[]} */ [i, j]) => i < explorer.data.L && j < explorer.data.S;
    const fits = (text) => listOf(text).every(isCell) && drawnIn(text).every(isInside);
    this.settings = {
      drawn: { ...textSetting("", fits, "cells"), listed: true, alters: true, phrase: "theMask" },
      draw: flag,
    };
  }

  build(controls) {
    const { B, S } = this.explorer.data;
    controls.addMasks("padding", "causal+padding");
    const value = Array(B).fill(Math.max(1, S - 1));
    const lengths = field("lengths", () => controls.readMask(), { value: value.join(","), hidden: true });
    controls.maskFields.padding = {
      box: lengths,
      text: () => lengths.value.replaceAll(" ", ""),
      show: (json) => {
        lengths.value = json.lengths.join(",");
      },
    };
    controls.maskBox.append(lengths, controls.toggle("draw", { "data-control": "draw" }));
  }

  derive(made, { drawn }) {
    made.settings.drawn = drawnIn(drawn);
    return made;
  }

  // In drawing, a cell that is chosen is hidden or shown again.
  takes(place) {
    const { state, data } = this.explorer;
    if (!state.draw || !data.isOfPairs(state.stage)) return false;
    const [cell, cells] = [place.join("."), listOf(state.drawn)];
    const left = cells.filter((other) => other !== cell);
    this.explorer.choose({ drawn: (left.length < cells.length ? left : [...cells, cell]).join(",") });
    return true;
  }

  says(list) {
    return this.explorer.state.draw ? [say("drawHint"), ...list] : list;
  }
}
