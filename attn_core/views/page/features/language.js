// A language model on a page: what the element <language-model> loads when it comes near.

import { parts } from "../core/parts.js";
import { LanguageModel } from "../ui/language/model.js";
import { LANGUAGE_WORDS } from "../words/language.js";
import { VIEW_WORDS } from "../words/language_view.js";
import { addWords } from "../words/words.js";

addWords(LANGUAGE_WORDS);
addWords(VIEW_WORDS);
parts.language = LanguageModel;
