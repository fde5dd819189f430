// The worker of a language model: a separate script, so that its computing does not block the page.

import { free } from "../core/free.js";
import { CACHE } from "../core/language/loader.js";
import { Session } from "../core/language/session.js";
import { answer, pause } from "../core/serving.js";
import { LANGUAGE_CHINESE, LANGUAGE_WORDS } from "../words/language.js";
import { MODEL_CHINESE, MODEL_WORDS } from "../words/model.js";
import { addWords } from "../words/words.js";
import { CHINESE } from "../words/zh.js";

addWords(LANGUAGE_WORDS);
addWords(MODEL_WORDS);
const ASKED = ["open", "load", "cut", "read", "explain", "lens"];

/** @param {string} compiled KERNELS of views/built/kernels.js */
export function serve(compiled) {
  const { caches, crypto } = globalThis;
  const means = {
    fetch: (address) => fetch(address, { cache: "no-store" }),
    cache: caches && (() => caches.open(CACHE)),
    digest: crypto?.subtle && ((bytes) => crypto.subtle.digest("SHA-256", bytes)),
    free: (bytes) => free([bytes]),
  };
  const tell = (told, free = []) => postMessage({ told }, { transfer: free });
  const session = new Session({ compiled, means, pause, tell, now: () => performance.now() });
  answer(session, ASKED, { ...CHINESE, ...LANGUAGE_CHINESE, ...MODEL_CHINESE }, "workerFailed");
}
