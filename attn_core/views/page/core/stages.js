// The stages of attention, each made of those before it.

export const STAGES = ["scores", "scaled", "masked", "weights", "dropped", "output"];
