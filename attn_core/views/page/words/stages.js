// What the six stages are called, in English and in Chinese.

export const STAGE_WORDS = {
  scores: "scores",
  scaled: "scaled",
  masked: "masked",
  weights: "weights",
  dropped: "dropped",
  output: "output",
};

export const STAGE_CHINESE = {
  scores: "得分",
  scaled: "缩放后",
  masked: "掩码后",
  weights: "权重",
  dropped: "丢弃后",
  output: "输出",
};
