// The explorer in Chinese.

import { parts } from "../core/parts.js";
import { WORDS } from "../words/words.js";
import { CHINESE } from "../words/zh.js";

parts.zh = (payload) => {
  Object.assign(WORDS, CHINESE);
  if (payload?.heads)
    payload.heads = payload.heads.map((name) =>
      String(name).replace(
        /^(layer|run) (\d+), head (\d+)$/,
        (_, kind, n, head) => `第 ${n} ${kind === "run" ? "次" : "层"}，头 ${head}`,
      ),
    );
};
