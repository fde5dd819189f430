// What is said of a language model, in English and in Chinese.

export const LANGUAGE_WORDS = {
  tooLittleMemory:
    "the model needs {megabytes} MB of memory, and the browser has less: close other pages and try again",
  wrongBytes: "{name} must have {wanted} bytes, got {count}: load it again",
  noLayerOf: "the model has layers 0 to {last}, got {layer}",
  noRowsOf: "rows must be those of tokens below {count}, {width} bytes each, got {got} bytes from token {first} on",
  noTokens: "a text must have a token",
  noTokenOf: "the id of a token must be a whole number below {count}, got {id}",
  tooManyTokens: "a text may have up to {most} tokens, this one has {count}",
  cannotCut: "what is kept must be a whole number of tokens from 0 to {most}, got {count}",
  notThereYet: "{name} of the model is not there yet: wait until it has loaded",
  rowOfToken: "the row of token {id}",
  theLayer: "layer {layer}",
  theNorm: "the last norm",
  theRows: "a row of the embedding",
  noHeadOf: "a head is a layer below {layers} and a head below {heads}, got {head}",
  noSwitchOf: "there is nothing to switch called {name}",
  isYesOrNo: "{name} must be true or false, got {value}",
};

export const LANGUAGE_CHINESE = {
  tooLittleMemory: "模型需要 {megabytes} MB 内存，浏览器给不了这么多：请关掉别的页面再试",
  wrongBytes: "{name}必须是 {wanted} 个字节，得到的是 {count} 个：请重新加载",
  noLayerOf: "模型有第 0 到 {last} 层，得到的是 {layer}",
  noRowsOf: "行必须属于编号小于 {count} 的词元，每行 {width} 个字节，得到的是从词元 {first} 起的 {got} 个字节",
  noTokens: "文本里至少要有一个词元",
  noTokenOf: "词元的编号必须是小于 {count} 的非负整数，得到的是 {id}",
  tooManyTokens: "一段文本最多 {most} 个词元，这里有 {count} 个",
  cannotCut: "保留的词元数必须是 0 到 {most} 的整数，得到的是 {count}",
  notThereYet: "模型的{name}还没有到：请等它加载完",
  rowOfToken: "词元 {id} 的行",
  theLayer: "第 {layer} 层",
  theNorm: "最后的归一化",
  theRows: "嵌入的某一行",
  noHeadOf: "一个头由小于 {layers} 的层和小于 {heads} 的头组成，得到的是 {head}",
  noSwitchOf: "没有叫 {name} 的开关",
  isYesOrNo: "{name} 必须是 true 或 false，得到的是 {value}",
};
