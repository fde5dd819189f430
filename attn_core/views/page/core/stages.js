// The stages of attention, each made of those before it.

export const STAGES = ["scores", "scaled", "masked", "weights", "dropped", "output"];

/**
 * What lies along the rows and the columns of each, and the colour of its columns.
 *
 * @type {(stage: string) => import("./data.js").Axes}
 */
export const axesOf = (stage) => (stage === "output" ? ["L", "Dv", "v"] : ["L", "S", "k"]);
