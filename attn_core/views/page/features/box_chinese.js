// The box for pasted numbers in Chinese.

import { BOX_WORDS } from "../words/box.js";
import { BOX_CHINESE } from "../words/box_zh.js";

Object.assign(BOX_WORDS, BOX_CHINESE);
