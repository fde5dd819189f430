// The names of the stages, and what the explorer says.

export const STAGES = ["scores", "scaled", "masked", "weights", "dropped", "output"];

export const MEANINGS = {
  scores: "the dot product of a {query} and a {key}: multiply number by number, add up",
  scaled: "score × scale, so that scores do not grow with the width of q and k",
  masked: "the scaled score where the mask keeps, −inf where it does not",
  weights: "exp(masked − row_max) / row_sum, so that every row adds up to 1",
  dropped: "weight / (1 − p) where the weight survives dropout, 0 where it does not",
  output: "each row of weights · each column of the {values}, added up",
};
