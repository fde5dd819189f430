// A model that learns on a page: what the element <attention-training> loads when it comes near.

import { parts } from "../core/parts.js";
import { TrainingView } from "../ui/training/view.js";
import { TRAINING_WORDS } from "../words/training.js";
import { TRAINING_VIEW_WORDS } from "../words/training_view.js";
import { addWords } from "../words/words.js";

addWords(TRAINING_WORDS);
addWords(TRAINING_VIEW_WORDS);
parts.training = TrainingView;
