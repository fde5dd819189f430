// The worker of a training: a separate script, so that its computing does not block the page.

import { answer, pause } from "../core/serving.js";
import { Session } from "../core/training/session.js";
import { TRAINING_CHINESE, TRAINING_WORDS } from "../words/training.js";
import { addWords } from "../words/words.js";

addWords(TRAINING_WORDS);
const ASKED = ["init", "step", "run", "pause", "rewind", "change", "numbers", "weight"];
const session = new Session({ pause, now: () => performance.now(), tell: (told) => postMessage({ told }) });
answer(session, ASKED, TRAINING_CHINESE, "trainingFailed");
