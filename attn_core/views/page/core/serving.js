// What the workers of a page have in common: a message {id, what, asked} is answered by the method of a session.

import { say, WORDS } from "../words/words.js";
import { Problem } from "./problem.js";

/** Lets messages come in: a timer would wait for some milliseconds. */
const channel = new MessageChannel();
/** @returns {Promise<void>} */
export const pause = () =>
  new Promise((done) => {
    channel.port1.onmessage = () => done();
    channel.port2.postMessage(0);
  });

/**
 * @param {any} session
 * @param {string[]} methods those that may be asked for
 * @param {Record<string, string>} chinese the words for a page that asks to speak Chinese
 * @param {string} failed the phrase for what is no Problem
 */
export function answer(session, methods, chinese, failed) {
  globalThis.onmessage = async (/** @type {MessageEvent} */ { data: { id, what, asked } }) => {
    if (what === "speak") return asked.isChinese && Object.assign(WORDS, chinese);
    try {
      if (!methods.includes(what)) throw new Problem(say(failed));
      postMessage({ id, answer: await session[what](asked ?? {}) });
    } catch (error) {
      postMessage({ id, problem: error instanceof Problem ? error.message : say(failed) });
      if (!(error instanceof Problem)) throw error;
    }
    return undefined;
  };
}
