// The page's side of its worker: questions, each with its answer, and what the worker tells by itself.

import { say } from "../words/words.js";
import { Problem } from "./problem.js";

/**
 * @typedef {{ id: number, what: string, asked: any }} Question
 * @typedef {{ id?: number, answer?: any, problem?: string, told?: any }} Message
 *
 * What a worker is, as far as it is used.
 * @typedef {object} Port
 * @property {(message: any) => void} postMessage
 * @property {((event: { data: Message }) => void) | null} onmessage
 * @property {((event: any) => void) | null} onerror
 * @property {() => void} terminate
 */

export class Remote {
  /**
   * @param {Port} port
   * @param {(told: any) => void} ontold
   * @param {string} failed the phrase for a worker that has ended
   */
  constructor(port, ontold, failed) {
    this.port = port;
    this.count = 0;
    /** @type {Map<number, { done: (answer: any) => void, fail: (error: Error) => void }>} */
    this.open = new Map();
    port.onmessage = ({ data: { id, answer, problem, told } }) => {
      if (told) return ontold(told);
      const question = this.open.get(id ?? -1);
      this.open.delete(id ?? -1);
      if (problem === undefined) question?.done(answer);
      else question?.fail(new Problem(problem));
    };
    port.onerror = () => this.end(say(failed));
  }

  /**
   * @param {string} what a method of its session
   * @param {any} [asked]
   * @returns {Promise<any>}
   */
  ask(what, asked) {
    const id = ++this.count;
    return new Promise((done, fail) => {
      this.open.set(id, { done, fail });
      this.port.postMessage({ id, what, asked });
    });
  }

  /** @param {string} why */
  end(why) {
    this.port.terminate();
    for (const { fail } of this.open.values()) fail(new Problem(why));
    this.open.clear();
  }
}
