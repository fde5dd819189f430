// Brings small files that are classic scripts, which load from file://, too.

import { bytesOf } from "../../core/arrays.js";
import { Problem } from "../../core/problem.js";
import { say } from "../../words/words.js";
import { readScript } from "../loading.js";

/** By name, what scripts have handed over. @type {Map<string, Uint8Array>} */
const received = new Map();
/** @type {any} */ (globalThis).languageShard = (/** @type {string} */ name, /** @type {string} */ base64) =>
  received.set(name, bytesOf(base64));

/**
 * @param {string} folder as seen from the explorer's own script
 * @returns {import("../../core/language/light.js").Bring}
 */
export const bringFrom = (folder) => async (name) => {
  if (!received.has(name)) await readScript(`${folder}light/${name}.js`, "text");
  const bytes = received.get(name);
  if (!bytes) throw new Problem(say("damagedFile", { name }));
  return bytes;
};
