// A language model in Chinese.

import { parts } from "../core/parts.js";
import { LANGUAGE_CHINESE } from "../words/language.js";
import { VIEW_CHINESE } from "../words/language_view_zh.js";
import { WORDS } from "../words/words.js";

parts["language-zh"] = () => Object.assign(WORDS, LANGUAGE_CHINESE, VIEW_CHINESE);
