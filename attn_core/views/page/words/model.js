// What is said of a whole model, in English and in Chinese.

export const MODEL_WORDS = {
  noWords: "a sentence must have a word",
  tooManyWords: "a sentence may have up to {most} words, this one has {count}",
  unknownWord: "the model does not know the word {word}",
  unknownWordNear: "the model does not know the word {word}; it knows {list}",
  noId: "the number of a word must be a whole number below {count}, got {id}",
  noStep: "there is no step called {step}",
  noStage: "step {step} has no stage called {stage}",
  noRow: "step {step} has no row {t}",
  noHead: "step {step} has no head {head}",
  noAttention: "step {step} is no attention",
  noNumberThere: "there is no number {name}[{index}]",
  noSwitch: "there is nothing to switch called {kind} {name}",
  noTemperature: "the temperature must be a number above 0, got {value}",
};

export const MODEL_CHINESE = {
  noWords: "句子里至少要有一个词",
  tooManyWords: "一个句子最多 {most} 个词，这里有 {count} 个",
  unknownWord: "模型不认识 {word} 这个词",
  unknownWordNear: "模型不认识 {word} 这个词；它认识 {list}",
  noId: "词的编号必须是小于 {count} 的非负整数，得到的是 {id}",
  noStep: "没有叫 {step} 的步骤",
  noStage: "步骤 {step} 没有叫 {stage} 的阶段",
  noRow: "步骤 {step} 没有第 {t} 行",
  noHead: "步骤 {step} 没有第 {head} 个头",
  noAttention: "步骤 {step} 不是注意力",
  noNumberThere: "没有 {name}[{index}] 这个数",
  noSwitch: "没有叫 {kind} {name} 的开关",
  noTemperature: "温度必须是大于 0 的数，得到的是 {value}",
};
