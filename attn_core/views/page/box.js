// The box on a page that says which mistake made the numbers that a reader pastes.

import { Answers } from "./core/diagnosis/answers.js";
import { Refused } from "./core/diagnosis/pasted.js";
import { make } from "./ui/dom.js";

let boxes = 0;

export class AttentionDiagnosis extends HTMLElement {
  connectedCallback() {
    if (document.readyState !== "loading") this.start();
    else document.addEventListener("DOMContentLoaded", () => this.start(), { once: true });
  }

  start() {
    const script = this.querySelector('script[type="application/json"]');
    if (!script || this.querySelector(".ax-root")) return;
    try {
      this.payload = JSON.parse(script.textContent);
      this.answers = new Answers(this.payload);
    } catch {
      this.append(make("p", { class: "ax-notice", role: "status" }, "This box cannot start: its data cannot be read."));
      return;
    }
    for (const child of this.querySelectorAll(":scope > *"))
      if (child !== script) child.toggleAttribute("hidden", true);
    this.build();
  }

  build() {
    const id = `ax-box-${++boxes}`;
    const { sizes, example } = this.payload;
    this.text = make("textarea", { id, class: "ax-paste", rows: 7, spellcheck: "false", autocomplete: "off" });
    this.stage = make("select", { id: `${id}-stage` }, make("option", { value: "" }, "any stage"));
    for (const name of Object.keys(this.payload.right)) this.stage.append(make("option", { value: name }, name));
    const ask = make("button", { type: "button", onclick: () => this.ask() }, "Which mistake is it?");
    const fill =
      example &&
      make(
        "button",
        {
          type: "button",
          onclick: () => {
            this.text.value = example;
            this.ask();
          },
        },
        "Try an example",
      );
    this.said = make("div", { class: "ax-answer", role: "status", "aria-live": "polite" });
    const label = make("label", { for: id }, `Your numbers, ${sizes}: paste a printed tensor, lists, or rows`);
    const row = make(
      "div",
      { class: "ax-controls" },
      make("label", { for: `${id}-stage`, class: "ax-label" }, "it should be"),
      this.stage,
      ask,
      ...(fill ? [fill] : []),
    );
    this.append(
      make(
        "div",
        { class: "ax-root ax-box", role: "group", "aria-label": "Which mistake is it?", lang: "en" },
        label,
        this.text,
        row,
        this.said,
      ),
    );
  }

  ask() {
    this.said.replaceChildren(); // no answer to what was asked before stays
    try {
      this.show(this.answers.diagnose(this.text.value, this.stage.value || null));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.said.replaceChildren(make("p", { class: "ax-notice" }, `${error.message}.`));
    }
  }

  show({ text, verdict, unseen, question }) {
    const parts = [make("p", { class: `ax-verdict ax-${verdict}` }, `${text}.`)];
    const title = (name) => this.payload.titles[name];
    const fold = (summary, ...inside) => make("details", {}, make("summary", {}, summary), ...inside);
    if (unseen.length)
      parts.push(fold("Which would not be seen here", make("p", {}, `${unseen.map(title).join("; ")}.`)));
    if (question) {
      const why = unseen.length ? "An input that shows more" : "An input on which they differ";
      parts.push(
        fold(why, make("div", { class: "ax-input", tabindex: "0", role: "region", "aria-label": why }, question.text)),
      );
    }
    this.said.replaceChildren(...parts);
  }
}

if (!customElements.get("attention-diagnosis")) customElements.define("attention-diagnosis", AttentionDiagnosis);
