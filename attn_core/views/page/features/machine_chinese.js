// A model in Chinese.

import { parts } from "../core/parts.js";
import { MACHINE_CHINESE } from "../words/machine_zh.js";
import { MODEL_CHINESE } from "../words/model.js";
import { WORDS } from "../words/words.js";

parts["model-zh"] = () => Object.assign(WORDS, MACHINE_CHINESE, MODEL_CHINESE);
