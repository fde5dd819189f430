// Starts the worker of a training. A page that was opened from a folder may not start a script beside it, and a
// notebook has none: there it is made of its text, which the script hands over when it runs in a page.

import { ownAddress, readScript } from "../loading.js";

const WORKER = "explorer-training-worker.js";

/** @returns {Promise<any>} */
export async function startWorker() {
  const page = /** @type {any} */ (globalThis);
  if (!page.attentionTraining && location.protocol === "file:") await readScript(WORKER, "script");
  if (page.attentionTraining) return new Worker(URL.createObjectURL(new Blob([page.attentionTraining])));
  const own = new URL(ownAddress || location.href);
  const url = new URL(WORKER, own);
  url.search = own.search;
  return new Worker(url);
}
