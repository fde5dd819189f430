// The worker of a language model: a separate script, so that its computing does not block the page.

import { Session } from "../core/language/session.js";
import { Problem } from "../core/problem.js";
import { LANGUAGE_CHINESE, LANGUAGE_WORDS } from "../words/language.js";
import { MODEL_CHINESE, MODEL_WORDS } from "../words/model.js";
import { addWords, say, WORDS } from "../words/words.js";
import { CHINESE } from "../words/zh.js";

addWords(LANGUAGE_WORDS);
addWords(MODEL_WORDS);
const CACHE = "language-model";
const ASKED = ["open", "load", "cut", "read", "explain", "lens"];

/** Lets messages come in: a timer would wait for some milliseconds. */
const channel = new MessageChannel();
/** @returns {Promise<void>} */
const pause = () =>
  new Promise((done) => {
    channel.port1.onmessage = () => done();
    channel.port2.postMessage(0);
  });

/** @param {string} compiled KERNELS of views/built/kernels.js */
export function serve(compiled) {
  const { caches, crypto } = globalThis;
  const means = {
    fetch: (address) => fetch(address, { cache: "no-store" }),
    cache: caches && (() => caches.open(CACHE)),
    digest: crypto?.subtle && ((bytes) => crypto.subtle.digest("SHA-256", bytes)),
  };
  const session = new Session({ compiled, means, pause, tell: (told) => postMessage({ told }) });
  globalThis.onmessage = async ({ data: { id, what, asked } }) => {
    if (what === "speak") return asked.isChinese && Object.assign(WORDS, CHINESE, LANGUAGE_CHINESE, MODEL_CHINESE);
    try {
      if (!ASKED.includes(what)) throw new Problem(say("workerFailed"));
      postMessage({ id, answer: await session[what](asked) });
    } catch (error) {
      postMessage({ id, problem: error instanceof Problem ? error.message : say("workerFailed") });
      if (!(error instanceof Problem)) throw error;
    }
    return undefined;
  };
}
