// A model that learns, in Chinese.

import { parts } from "../core/parts.js";
import { TRAINING_CHINESE } from "../words/training.js";
import { TRAINING_VIEW_CHINESE } from "../words/training_view_zh.js";
import { WORDS } from "../words/words.js";

parts["training-zh"] = () => Object.assign(WORDS, TRAINING_CHINESE, TRAINING_VIEW_CHINESE);
