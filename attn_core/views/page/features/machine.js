// A whole model on a page: what the element <attention-model> loads when it comes near.

import { parts } from "../core/parts.js";
import { Model } from "../ui/model/model.js";
import { MACHINE_WORDS } from "../words/machine.js";
import { MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";

addWords(MACHINE_WORDS);
addWords(MODEL_WORDS);
parts.model = Model;
