// The box on a page that says which mistake made the numbers that a reader pastes.

import { Answers } from "./core/diagnosis/answers.js";
import { Refused } from "./core/diagnosis/pasted.js";
import { STAGES } from "./core/stages.js";
import { make } from "./ui/dom.js";
import { tell } from "./words/box.js";

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
      this.append(make("p", { class: "ax-notice", role: "status" }, tell("broken")));
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
    this.stage = make("select", { id: `${id}-stage` }, make("option", { value: "" }, tell("anyStage")));
    for (const name of STAGES) this.stage.append(make("option", { value: name }, tell(name)));
    const ask = make("button", { type: "button", onclick: () => this.ask() }, tell("ask"));
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
        tell("example"),
      );
    this.said = make("div", { class: "ax-answer", role: "status", "aria-live": "polite" });
    const label = make("label", { for: id }, tell("yours", { sizes }));
    const row = make(
      "div",
      { class: "ax-controls" },
      make("label", { for: `${id}-stage`, class: "ax-label" }, tell("should")),
      this.stage,
      ask,
      ...(fill ? [fill] : []),
    );
    this.append(
      make(
        "div",
        { class: "ax-root ax-box", role: "group", "aria-label": tell("ask"), lang: tell("lang") },
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
      this.said.replaceChildren(make("p", { class: "ax-notice" }, tell("stop", { text: error.message })));
    }
  }

  show({ text, verdict, unseen, question }) {
    const parts = [make("p", { class: `ax-verdict ax-${verdict}` }, tell("stop", { text }))];
    const title = (name) => this.payload.titles[name];
    const fold = (summary, ...inside) => make("details", {}, make("summary", {}, summary), ...inside);
    if (unseen.length) {
      const titles = unseen.map(title).join(tell("listed"));
      parts.push(fold(tell("notSeen"), make("p", {}, tell("stop", { text: titles }))));
    }
    if (question) {
      const why = tell(unseen.length ? "showsMore" : "tellsApart");
      parts.push(
        fold(why, make("div", { class: "ax-input", tabindex: "0", role: "region", "aria-label": why }, question.text)),
      );
    }
    this.said.replaceChildren(...parts);
  }
}

if (!customElements.get("attention-diagnosis")) customElements.define("attention-diagnosis", AttentionDiagnosis);
