// A file of JSON, whose bytes have come.

import { say } from "../../words/words.js";
import { Problem } from "../problem.js";

/** @type {(name: string, bytes: Uint8Array) => any} */
export function jsonOf(name, bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Problem(say("damagedFile", { name }));
  }
}
