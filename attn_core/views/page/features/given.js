// An explorer of weights that came alone. It says so, and lets nothing be changed that they would follow from.

import { decimals } from "../core/digits.js";
import { GivenData, sumsOf } from "../core/given.js";
import { numberIn } from "../core/numbers.js";
import { features, parts } from "../core/parts.js";
import { flag, oneOf } from "../core/state.js";
import { addWords, say } from "../words/words.js";
import { Feature } from "./feature.js";

addWords({
  alone: "These are weights alone. No q and k came with them, so the arithmetic of each number ends at the number.",
  onlyGiven: "as given, for these are weights alone",
  sumsBelow: "The rows of this head add up to {least} to {most}: the rest of each went to no key that is shown.",
  sumsDropped: "Dropout has changed them: the rows of this head add up to {least} to {most}.",
});

const NEAR = 0.01; // by how much a row of half precision may miss 1

class Given extends Feature {
  static fits(explorer) {
    return !!explorer.data.given;
  }

  constructor(explorer) {
    super(explorer);
    const { stage } = explorer.data.view;
    const must = ["onlyGiven"];
    this.settings = {
      stage: oneOf(stage, [stage]),
      scale: { first: 1, read: numberIn, fits: (scale) => scale === 1, must },
      mask: { first: "given", fits: (mask) => mask === "given", must },
      all: { ...flag, fits: (all) => !all, must },
    };
  }

  draw(shown) {
    this.shown = shown;
  }

  says(list) {
    const [least, most] = sumsOf(this.shown);
    const places = { least: decimals(least, 2), most: decimals(most, 2) };
    const isDropped = this.explorer.state.stage === "dropped";
    const sums = isDropped ? [say("sumsDropped", places)] : least < 1 - NEAR ? [say("sumsBelow", places)] : [];
    return [say("alone"), ...sums, ...list];
  }
}

parts.given = (payload) => new GivenData(payload);
features.push(Given);
