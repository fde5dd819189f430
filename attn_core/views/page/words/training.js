// What is said of a training, in English and in Chinese.

export const TRAINING_WORDS = {
  noSettingOf: "there is no setting called {name}",
  wholeFrom: "{name} must be a whole number from {least} to {most}, got {value}",
  rateMust: "{name} must be a finite number of at least 0, got {value}",
  betaMust: "{name} must be at least 0 and below 1, got {value}",
  yesOrNo: "{name} must be true or false, got {value}",
  optimiserMust: "the optimiser must be sgd or adamw, got {value}",
  segmentMust:
    "the longest segment must have at least the {shortest} letters of the shortest one, and at most {letters}, got {value}",
  notTrained: "no training has begun",
  noStepYet: "no step has been taken yet",
  cannotRewind: "the step to go back to must be from 0 to {most}, got {value}",
  noWeightOf: "there is no weight {name}[{index}]",
  overflowed:
    "training overflowed at step {step} with the learning rate {lr}: go back to an earlier step and choose a smaller learning rate",
  trainingFailed: "the script that trains the model has stopped",
};

export const TRAINING_CHINESE = {
  noSettingOf: "没有叫 {name} 的设置",
  wholeFrom: "{name} 必须是 {least} 到 {most} 的整数，得到的是 {value}",
  rateMust: "{name} 必须是不小于 0 的有限数，得到的是 {value}",
  betaMust: "{name} 必须不小于 0 且小于 1，得到的是 {value}",
  yesOrNo: "{name} 必须是 true 或 false，得到的是 {value}",
  optimiserMust: "优化器必须是 sgd 或 adamw，得到的是 {value}",
  segmentMust: "最长的片段不能短于最短的 {shortest} 个字母，也不能超过 {letters} 个，得到的是 {value}",
  notTrained: "训练还没有开始",
  noStepYet: "还没有走过一步",
  cannotRewind: "可以回到第 0 到 {most} 步，得到的是 {value}",
  noWeightOf: "没有权重 {name}[{index}]",
  overflowed: "训练在第 {step} 步溢出了，学习率是 {lr}：请回到前面的一步，换一个小一些的学习率",
  trainingFailed: "训练模型的脚本停了",
};
