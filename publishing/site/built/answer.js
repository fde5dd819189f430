(() => {
  // core/numbers.js
  var DECIMAL = "[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?";
  var WRITTEN = new RegExp(`^(${DECIMAL})(?:/(${DECIMAL}))?$`, "i");
  function numberIn(text) {
    const [, above, below = 1] = WRITTEN.exec(text.trim().replace(/[−–]/g, "-")) || [];
    return above === void 0 ? NaN : Number(above) / Number(below);
  }

  // ../../../publishing/site/answer.js
  var SAID = {
    one: (one) => `one ${one}`,
    number: "one number",
    row: ({ columns }) => `a row of ${columns} numbers`,
    table: ({ rows, columns }) => `a table of ${rows} rows with ${count(columns, "number")} each`,
    noNumber: (token) => `“${token.slice(0, 20)}” is no number.`,
    empty: (key) => `Type ${shapeOf(key)} first.`,
    comma: " Write 0.5 with a point, not 0,5.",
    otherCount: (key, given, hint) => `This should be ${shapeOf(key)}; yours has ${count(given.length, "number")}.${hint}`,
    uneven: (key) => `This should be ${shapeOf(key)}: one row per line. Your rows are not equally long.`,
    right: "Right.",
    mistake: "Not yet.",
    ofSeveral: (place) => `number ${place}`,
    ofOne: "the number",
    ofRow: (first, key) => ` of row ${Math.floor(first / key.columns) + 1}`,
    where: (good, right, column, row) => ` ${good} of ${right.length} are right; ${column}${row} is not.`,
    wrong: (where) => `Not yet.${where} It does not look like any known mistake.`,
    heading: "Check your numbers",
    decimals: (key) => `, to ${count(key.places, "decimal")}`,
    check: "Check",
    checkOne: (label) => `Check ${label.textContent}`
  };
  function fnv(text) {
    let found = 2166136261;
    for (let i = 0; i < text.length; i++) {
      found = Math.imul(found ^ text.charCodeAt(i), 16777619) >>> 0;
    }
    return found.toString(16).padStart(8, "0");
  }
  var count = (n, one, many) => n === 1 ? SAID.one(one) : `${n} ${many ?? `${one}s`}`;
  function shapeOf(key) {
    if (key.rows === 1 && key.columns === 1) return SAID.number;
    return key.rows === 1 ? SAID.row(key) : SAID.table(key);
  }
  function numberOf(token) {
    if (/^true$/i.test(token)) return 1;
    if (/^false$/i.test(token)) return 0;
    return numberIn(token);
  }
  var PRINTED = /<tf\.[^[]*numpy=|(?:\w+\.)*(?:tensor|array)\(|,\s*[a-z_]+=(?:\([^()]*\)|[^,()]*)|[()]|(?<=\))>\s*$/gi;
  function read(text, key) {
    let bare = text.replace(/[−–]/g, "-").replace(PRINTED, " ");
    const isWhole = key.rows * key.columns === 1 && key.places === 0;
    if (isWhole && /^\s*-?[1-9]\d{0,2}(,\d{3})+\s*$/.test(bare)) {
      bare = bare.replaceAll(",", "");
    }
    const lines = bare.replace(/\]\s*,?\s*\[|;/g, "\n").replace(/[[\]]/g, " ").split("\n");
    const rows = [];
    for (const line of lines) {
      const tokens = line.split(/[\s,]+/).filter((token) => token !== "");
      for (const token of tokens) {
        if (!Number.isFinite(numberOf(token))) return SAID.noNumber(token);
      }
      if (tokens.length) rows.push(tokens.map(numberOf));
    }
    const given = rows.flat();
    if (!given.length) return SAID.empty(key);
    if (given.length !== key.rows * key.columns) {
      const comma = given.length === 2 * key.rows * key.columns && /\d,\d/.test(bare);
      return SAID.otherCount(key, given, comma ? SAID.comma : "");
    }
    const uneven = rows.length > 1 && rows.some((row) => row.length !== key.columns);
    if (key.rows > 1 && uneven) return SAID.uneven(key);
    return given;
  }
  function fits(id, field, cell, value, places, hash) {
    const scaled = value * 10 ** places;
    if (places === 0 && Math.abs(scaled - Math.round(scaled)) > 1e-6) return false;
    const unit = Math.round(scaled) || 0;
    const near = places ? [unit, unit - 1, unit + 1] : [unit];
    return near.some((units) => fnv(`${id} ${field} ${cell} ${units}`) === hash);
  }
  function judge(id, field, key, given) {
    const agree = (hashes) => hashes.map((hash, i) => fits(id, field, i, given[i], key.places, hash));
    const right = agree(key.right);
    if (right.every(Boolean)) return { verdict: "right", text: SAID.right };
    for (const mistake of key.mistakes) {
      const alike = mistake.rows === key.rows && mistake.columns === key.columns;
      if (alike && agree(mistake.cells).every(Boolean)) {
        return { verdict: "mistake", text: SAID.mistake, hint: mistake.hint };
      }
    }
    const good = right.filter(Boolean).length;
    const first = right.indexOf(false);
    const place = first % key.columns + 1;
    const column = key.columns > 1 ? SAID.ofSeveral(place) : SAID.ofOne;
    const row = key.rows > 1 ? SAID.ofRow(first, key) : "";
    const where = right.length > 1 ? SAID.where(good, right, column, row) : "";
    return { verdict: "wrong", text: SAID.wrong(where) };
  }
  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }
  var AttentionAnswer = class extends HTMLElement {
    connectedCallback() {
      if (this.querySelector("form")) return;
      const { id, fields } = JSON.parse(this.querySelector("script").textContent);
      const heading = make("p", { className: "answer-head" }, SAID.heading);
      this.append(heading, ...fields.map((key, number) => this.field(id, key, number)));
    }
    field(id, key, number) {
      const name = `answer-${id}-${number}`;
      const decimals = key.places ? SAID.decimals(key) : "";
      const label = make("label", { htmlFor: name });
      label.innerHTML = key.label;
      const note = make("span", { id: `${name}-form`, className: "answer-form" });
      note.textContent = `${shapeOf(key)}${decimals}`;
      const box = make("textarea", { id: name, rows: key.rows, spellcheck: false });
      box.setAttribute("autocapitalize", "off");
      box.setAttribute("autocomplete", "off");
      box.setAttribute("aria-describedby", note.id);
      const button = make("button", { type: "submit" }, SAID.check);
      button.setAttribute("aria-label", SAID.checkOne(label));
      const said = make("p", { className: "answer-said" });
      said.setAttribute("role", "status");
      const form = make("form", {}, label, note, make("div", {}, box, button), said);
      const check = () => {
        const given = read(box.value, key);
        const found = typeof given === "string" ? { verdict: "unread", text: given } : judge(id, number, key, given);
        form.dataset.verdict = found.verdict;
        box.setAttribute("aria-invalid", String(found.verdict === "unread"));
        said.textContent = found.text;
        if (found.hint) said.insertAdjacentHTML("beforeend", ` ${found.hint}`);
      };
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        check();
      });
      box.addEventListener("keydown", (event) => {
        const plain = key.rows === 1 && !event.shiftKey;
        if (event.key === "Enter" && !event.isComposing && (plain || event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          check();
        }
      });
      box.addEventListener("input", () => {
        delete form.dataset.verdict;
        box.removeAttribute("aria-invalid");
        said.textContent = "";
      });
      return form;
    }
  };
  customElements.define("attention-answer", AttentionAnswer);
})();
