// Brings the model when a reader asks for it: its size before, how far it is, and what went wrong, each in its place.

import { CACHE } from "../../core/language/loader.js";
import { Whole } from "../../core/language/whole.js";
import { Problem } from "../../core/problem.js";
import { say } from "../../words/words.js";
import { make } from "../dom.js";
import { isChinese, ownAddress } from "../loading.js";

const WORKER = "explorer-language-worker.js";
/** @param {number} bytes */
const megabytes = (bytes) => Math.round(bytes / 1e6);

export class Loading {
  /**
   * @param {string} folder of the files, as seen from the explorer's own script
   * @param {(source: Whole) => void} onopen the model can read, as far as it has come
   */
  constructor(folder, onopen) {
    this.folder = new URL(folder, ownAddress || location.href).href;
    this.onopen = onopen;
    /** @type {Whole | null} */
    this.whole = null;
    /** @type {ReturnType<Whole["open"]> | null} */
    this.opened = null;
    this.button = make("button", { type: "button", class: "lm-load", onclick: () => this.start() });
    this.bar = make("progress", { class: "lm-bar", max: 1, value: 0, "aria-label": say("loadingModel") });
    this.said = make("p", { class: "lm-said", role: "status", tabindex: -1 });
    // Not read out with each file: the bar is there for who asks.
    this.far = make("p", { class: "lm-said", "aria-hidden": "true" });
    this.element = make("div", { class: "lm-loading" }, this.button, this.bar, this.said, this.far);
    this.bar.hidden = true;
    this.button.hidden = true;
    this.look();
  }

  /** What the model weighs, or why it cannot be had. */
  async look() {
    if (location.protocol === "file:") return this.tell(say("needsServer"));
    try {
      const response = await fetch(`${this.folder}index.json`);
      if (!response.ok) throw new Problem(say("noModelHere"));
      const { shards } = await response.json();
      this.bytes = shards.reduce((sum, { bytes }) => sum + bytes, 0);
    } catch (error) {
      return this.tell(error instanceof Problem ? error.message : say("noModelHere"));
    }
    this.button.hidden = false;
    this.button.textContent = say("loadModel", { megabytes: megabytes(this.bytes) });
    // Who has the weights already, waits for nothing else after a press.
    if (await isKept()) this.open().catch(({ message }) => this.forget(message)); // a press tries again
    return undefined;
  }

  /** What kind of model it is, with which the worker is ready to load it. */
  open() {
    this.whole ??= this.made();
    this.opened ??= this.whole.open();
    return this.opened;
  }

  /** The next try opens it again; a worker that has ended answers nobody. @param {string} why */
  forget(why) {
    this.opened = null;
    if (why === say("workerFailed")) this.whole = null;
  }

  /** @param {string} text */
  tell(text) {
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  async start() {
    this.tell(say("loadingModel"));
    if (document.activeElement === this.button) this.said.focus({ preventScroll: true });
    this.button.hidden = true;
    this.bar.hidden = false;
    try {
      const { isPlain } = await this.open();
      this.isPlain = isPlain;
      const whole = /** @type {Whole} */ (this.whole);
      const loaded = whole.load();
      this.onopen(whole);
      const { kept } = await loaded;
      this.done(kept);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.failed(error.message);
    }
  }

  made() {
    const url = new URL(WORKER, ownAddress || location.href);
    url.search = new URL(ownAddress || location.href).search;
    const onloading = (loaded, bytes) => {
      this.bar.value = loaded / bytes;
      this.far.textContent = say("loadedSoFar", { loaded: megabytes(loaded), megabytes: megabytes(bytes) });
    };
    return new Whole(/** @type {any} */ (new Worker(url)), {
      folder: this.folder,
      isChinese: isChinese(say("lang")),
      onloading,
    });
  }

  end() {
    this.bar.hidden = true;
    this.far.textContent = "";
  }

  /** @param {number} kept bytes that this browser had */
  done(kept) {
    this.end();
    const [was, plain] = [kept === this.bytes ? "modelKept" : "modelThere", this.isPlain ? say("isPlain") : ""];
    this.tell(say(was, { megabytes: megabytes(this.bytes) }) + plain);
  }

  /** @param {string} why */
  failed(why) {
    this.end();
    this.button.hidden = false;
    this.button.textContent = say("tryAgain");
    this.tell(say("notAll", { why }));
    this.forget(why);
  }
}

/** Whether an earlier visit has kept files of the model; a private window may refuse to say. */
const isKept = () => globalThis.caches?.has(CACHE).catch(() => false);
