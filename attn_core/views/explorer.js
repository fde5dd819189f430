// The explorer: one attention, each of its stages, and the arithmetic of every number.
// One module for the static page (<attention-explorer>), JupyterLab and Colab (anywidget's render).
// It gets q, k and v, never a map, and derives every stage itself, in float64: the formulas of
// stages.py, the masks of masks.py, the bits of dropout.py, the digits of digits.py and the lines
// of arithmetic.py. Text from the data reaches the page through textContent alone.

const STAGES = ["scores", "scaled", "masked", "weights", "dropped", "output"];
const MOST_SHOWN = 64; // longer axes are shown through a window
const WINDOW = 48;
const MOST_TERMS = 16; // longer sums are written with their first twelve terms and the last

const FORMULAS = {
  scores: "the dot product of a {query} and a {key}: multiply number by number, add up",
  scaled: "score × scale, so that scores do not grow with the width of q and k",
  masked: "the scaled score where the mask keeps, −inf where it does not",
  weights: "exp(masked − row_max) / row_sum, so that every row adds up to 1",
  dropped: "weight / (1 − p) where the weight survives dropout, 0 where it does not",
  output: "each row of weights · each column of the {values}, added up",
};

// Heat, light and dark: paper, middle, ink. views/figure.py draws with the same.
const HEAT = {
  light: { more: ["#ffffff", "#a98fd8", "#3b1f6b"], less: ["#ffffff", "#dcbc55", "#8a6d00"] },
  dark: { more: ["#1b1b22", "#6d54a3", "#d9c8ff"], less: ["#1b1b22", "#8a7430", "#ffe08a"] },
};

const isOdd = (text) => "13579".includes(text[text.length - 1]);
const justBelow = (x) => x * (1 - Number.EPSILON);

// toFixed and toExponential round exactly, but take a tie up where Python takes it to even.
// x has its tie after p decimals exactly if x·2^(p+1) is odd.
const isTie = (size, p) => (size * 2 ** (p + 1)) % 2 === 1;

function decimals(size, places) {
  const text = size.toFixed(places);
  return isTie(size, places) && isOdd(text) ? justBelow(size).toFixed(places) : text;
}

function scientific(size, places) {
  const p = places - Number(size.toExponential().split("e")[1]);
  const unit = Number(`1e${-p}`);
  let text = size.toExponential(places);
  if (p < 0 ? size % unit === unit / 2 : isTie(size, p)) {
    const lower = justBelow(size).toExponential(places);
    if (!isOdd(lower.split("e")[0])) text = lower;
  }
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

function fixed(x, places = 4) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
  const size = Math.abs(x);
  let text = size < 1e6 ? decimals(size, places) : "";
  if (size >= 1e6 || (size > 0 && Number(text) === 0)) {
    text = scientific(size, Math.max(places - 3, 0));
  }
  return x < 0 ? `-${text}` : text;
}

function plain(x, places = 4) {
  const text = fixed(x, places);
  if (!text.includes(".") || text.includes("e")) return text;
  if (Number(text) !== x && Math.fround(Number(text)) !== x) return text;
  return text.replace(/0+$/, "").replace(/\.$/, "");
}

class Problem extends Error {}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const rest = bits & 1023;
  if (power === 31) return rest ? NaN : sign * Infinity;
  return power ? sign * 2 ** (power - 25) * (1024 + rest) : sign * 2 ** -24 * rest;
}

function decode(array, name, axes) {
  const kinds = { float16: Uint16Array, float32: Float32Array, float64: Float64Array };
  const Kind = array && kinds[array.dtype];
  if (!Kind || !Array.isArray(array.shape) || array.shape.length !== axes) {
    throw new Problem(`${name} must be a float array with ${axes} axes`);
  }
  const bytes = bytesOf(array.data);
  const count = array.shape.reduce((a, b) => a * b, 1);
  if (!(count > 0) || bytes.length !== count * Kind.BYTES_PER_ELEMENT) {
    throw new Problem(`${name} must hold the numbers of its shape ${array.shape.join("×")}`);
  }
  const stored = new Kind(bytes.buffer);
  const numbers = Kind === Uint16Array ? Float64Array.from(stored, half) : Float64Array.from(stored);
  if (!numbers.every(Number.isFinite)) throw new Problem(`${name} must be finite`);
  return { shape: array.shape, numbers };
}

// A mask's JSON form as a rule: (batch, head, row, column) → keeps?
function keepRule(json, L, S) {
  const first = S - L;
  switch (json.kind) {
    case "causal":
    case "prefill":
      return (b, h, i, j) => j <= i + first;
    case "window":
      return (b, h, i, j) => i + first - json.before <= j && j <= i + first + json.after;
    case "padding":
      return (b, h, i, j) => j < json.lengths[b];
    case "and": {
      const rules = json.of.map((part) => keepRule(part, L, S));
      return (...place) => rules.every((rule) => rule(...place));
    }
    case "dense": {
      const bits = bytesOf(json.bits);
      const shape = json.shape;
      return (...place) => {
        let at = 0;
        place.forEach((index, axis) => (at = at * shape[axis] + (shape[axis] > 1 ? index : 0)));
        return ((bits[at >> 3] >> (at & 7)) & 1) === 1;
      };
    }
    default:
      throw new Problem(`the mask must be of a known kind, got ${json.kind}`);
  }
}

class Data {
  constructor(payload) {
    if (!payload || payload.version !== 1) throw new Problem("its version must be 1");
    this.q = decode(payload.q, "q", 4);
    this.k = decode(payload.k, "k", 4);
    this.v = decode(payload.v, "v", 4);
    [this.B, this.H, this.L, this.D] = this.q.shape;
    [this.S, this.Dv] = [this.k.shape[2], this.v.shape[3]];
    const shapes = [this.k.shape, this.v.shape, [this.B, this.H, this.S]];
    const fits = [0, 1].every((a) => shapes.every((s) => s[a] === this.q.shape[a]));
    if (!fits || this.k.shape[3] !== this.D || this.v.shape[2] !== this.S) {
      throw new Problem("q, k and v must fit each other");
    }
    if (!Number.isFinite(payload.scale)) throw new Problem("its scale must be a number");
    this.scale = payload.scale;
    this.keepJson = payload.keep || null;
    this.dropout = payload.dropout || null;
    this.view = payload.view || {};
    this.places = this.view.places ?? 4;
    const labels = (side, count) => {
      const given = payload.tokens && payload.tokens[side];
      const tokens = given || Array.from({ length: count }, (_, i) => i);
      if (tokens.length !== count) throw new Problem(`it must have ${count} tokens for its ${side}`);
      return tokens.map(String);
    };
    this.queries = labels("queries", this.L);
    this.keys = labels("keys", this.S);
    this.source = payload.source && this.readSource(payload.source);
    this.scoreRows = new Map();
    if (this.keepJson) keepRule(this.keepJson, this.L, this.S);
  }

  readSource(source) {
    const part = (name, axes) => source[name] && decode(source[name], name, axes);
    return {
      x: decode(source.x, "x", 3),
      q: { w: part("w_query", 2), b: part("b_query", 1) },
      k: { w: part("w_key", 2), b: part("b_key", 1) },
      v: { w: part("w_value", 2), b: part("b_value", 1) },
    };
  }

  number(name, b, h, i, d) {
    const { shape, numbers } = this[name];
    return numbers[((b * shape[1] + h) * shape[2] + i) * shape[3] + d];
  }

  // The row of a position in q, k or v.
  vector(name, b, h, i) {
    const { shape, numbers } = this[name];
    const start = ((b * shape[1] + h) * shape[2] + i) * shape[3];
    return numbers.subarray(start, start + shape[3]);
  }

  scores(b, h, i) {
    const place = `${b},${h},${i}`;
    if (!this.scoreRows.has(place)) {
      const query = this.vector("q", b, h, i);
      const row = new Float64Array(this.S);
      for (let j = 0; j < this.S; j++) row[j] = dot(query, this.vector("k", b, h, j));
      this.scoreRows.set(place, row);
    }
    return this.scoreRows.get(place);
  }
}

function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}

function multiply(a, b) {
  const low = (a & 0xffff) * b;
  const high = (a >>> 16) * b + Math.floor(low / 0x10000);
  return [Math.floor(high / 0x10000), (((high & 0xffff) << 16) | (low & 0xffff)) >>> 0];
}

// Philox 4x32-10: four random 32-bit words for a counter of four words.
function philox([c0, c1, c2, c3], [k0, k1]) {
  for (let round = 0; round < 10; round++) {
    const [high0, low0] = multiply(0xd2511f53, c0);
    const [high1, low1] = multiply(0xcd9e8d57, c2);
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    [k0, k1] = [(k0 + 0x9e3779b9) >>> 0, (k1 + 0xbb67ae85) >>> 0];
  }
  return [c0, c1, c2, c3];
}

function survivors({ p, seed }, b, h, i, count) {
  const key = [seed % 2 ** 32, Math.floor(seed / 2 ** 32)];
  const threshold = Math.floor(p * 2 ** 32);
  const survives = new Array(count);
  for (let j = 0; j < count; j += 4) {
    const words = philox([j / 4, i, h, b], key);
    for (let n = 0; n < 4 && j + n < count; n++) survives[j + n] = words[n] >= threshold;
  }
  return survives;
}

class Attention {
  constructor(data, { batch, head, scale, mask }) {
    Object.assign(this, { data, batch, head, scale });
    const json = mask === "given" ? data.keepJson : maskJson(mask);
    this.keep = json && keepRule(json, data.L, data.S);
    this.rows = new Map();
  }

  row(i) {
    if (!this.rows.has(i)) this.rows.set(i, this.derive(i));
    return this.rows.get(i);
  }

  derive(i) {
    const { data, batch, head } = this;
    const scores = data.scores(batch, head, i);
    const scaled = scores.map((score) => score * this.scale);
    const keeps = Array.from(scores, (_, j) => !this.keep || this.keep(batch, head, i, j));
    const masked = scaled.map((cell, j) => (keeps[j] ? cell : -Infinity));
    const isDead = !keeps.includes(true);
    const max = isDead ? 0 : masked.reduce((a, b) => Math.max(a, b));
    const exps = masked.map((cell) => Math.exp(cell - max));
    const sum = isDead ? 1 : exps.reduce((a, b) => a + b, 0);
    const weights = exps.map((e) => e / sum);
    const survives = data.dropout && survivors(data.dropout, batch, head, i, data.S);
    const p = data.dropout ? data.dropout.p : 0;
    const dropped = survives ? weights.map((w, j) => (w * survives[j]) / (1 - p)) : weights;
    return { scores, scaled, masked, keeps, isDead, max, exps, sum, weights, survives, dropped };
  }

  values(d) {
    const { data, batch, head } = this;
    return Float64Array.from({ length: data.S }, (_, j) => data.number("v", batch, head, j, d));
  }

  cell(stage, i, j) {
    const row = this.row(i);
    if (stage !== "output") return row[stage][j];
    if (!row.output) {
      row.output = Float64Array.from({ length: this.data.Dv }, (_, d) => dot(row.dropped, this.values(d)));
    }
    return row.output[j];
  }
}

function maskJson(mask) {
  if (mask === "none") return null;
  if (mask === "causal") return { kind: "causal" };
  const [before, after] = mask.slice("window:".length).split(",").map(Number);
  return { kind: "window", before, after };
}

// A line is a list of [text, colour?]; a term has a line and, on demand, the terms it is made of.
const textOf = (line) => line.map(([text]) => text).join("");

function factor(x, colour) {
  const text = plain(x);
  return [text.startsWith("-") ? `(${text})` : text, colour];
}

function keptTerms(count) {
  const all = Array.from({ length: count }, (_, i) => i);
  return count <= MOST_TERMS ? all : [...all.slice(0, 12), count - 1];
}

function listed(count, write, between = ", ") {
  const shown = keptTerms(count).map(write);
  if (count > MOST_TERMS) shown.splice(-1, 0, [[`… ${count - 13} more …`]]);
  return shown.flatMap((line, n) => (n ? [[between], ...line] : line));
}

const sumOfProducts = (a, b, ca, cb) =>
  listed(a.length, (n) => [factor(a[n], ca), ["·"], factor(b[n], cb)], " + ");

class Workings {
  constructor(attention, i) {
    Object.assign(this, { attention, data: attention.data, i, row: attention.row(i) });
    this.query = this.data.vector("q", attention.batch, attention.head, i);
  }

  term(name, index, how, parts, colour) {
    const line = [[`${name}[${index.join(", ")}]`, colour || "name"], [" = "], ...how];
    return { name, index, line, parts };
  }

  scores(j) {
    const { attention, i } = this;
    const key = this.data.vector("k", attention.batch, attention.head, j);
    const how = [...sumOfProducts(this.query, key, "q", "k"), [" = "], [plain(this.row.scores[j]), "result"]];
    return this.term("scores", [i, j], how, () => [this.vector("q", i), this.vector("k", j)]);
  }

  scaled(j) {
    const { scores, scaled } = this.row;
    const how = [[`${plain(scores[j])} · ${plain(this.attention.scale)} = `], [plain(scaled[j]), "result"]];
    return this.term("scaled", [this.i, j], how, () => [this.scores(j)]);
  }

  masked(j) {
    if (!this.row.keeps[j]) {
      return this.term("masked", [this.i, j], [["-inf", "result"], [", because the mask does not keep it"]]);
    }
    return this.term("masked", [this.i, j], [[plain(this.row.masked[j]), "result"]], () => [this.scaled(j)]);
  }

  weights(j) {
    const { masked, max, sum, weights } = this.row;
    const how = [
      [`exp(${plain(masked[j])} - ${factor(max)[0]}) / ${plain(sum)} = `],
      [plain(weights[j]), "result"],
    ];
    const parts = () => [this.masked(j), this.rowMax(), this.rowSum()];
    return this.term("weights", [this.i, j], how, parts);
  }

  rowMax() {
    const { isDead, masked, max } = this.row;
    if (isDead) return this.term("row_max", [this.i], [["0", "result"], [", because the row keeps nothing"]]);
    const cells = listed(masked.length, (n) => [[plain(masked[n])]]);
    return this.term("row_max", [this.i], [["max("], ...cells, [") = "], [plain(max), "result"]]);
  }

  rowSum() {
    const { isDead, masked, max, exps, sum } = this.row;
    if (isDead) return this.term("row_sum", [this.i], [["1", "result"], [", because the row keeps nothing"]]);
    const shift = factor(max)[0];
    const summands = listed(masked.length, (n) => [[`exp(${plain(masked[n])} - ${shift})`]], " + ");
    const values = listed(exps.length, (n) => [[plain(exps[n])]], " + ");
    const how = [...summands, [" = "], ...values, [" = "], [plain(sum), "result"]];
    return this.term("row_sum", [this.i], how);
  }

  dropped(j) {
    const { survives, weights, dropped } = this.row;
    let how = [[plain(dropped[j]), "result"]];
    if (survives && survives[j]) {
      how = [[`${plain(weights[j])} / (1 - ${plain(this.data.dropout.p)}) = `], ...how];
    } else if (survives) {
      how = [["0", "result"], [", because dropout drops it"]];
    }
    return this.term("dropped", [this.i, j], how, () => [this.weights(j)]);
  }

  output(d) {
    const { attention, i } = this;
    const products = sumOfProducts(this.row.dropped, attention.values(d), "w", "v");
    const how = [...products, [" = "], [plain(attention.cell("output", i, d)), "result"]];
    const shown = keptTerms(this.data.S);
    const parts = () => [...shown.map((j) => this.dropped(j)), ...shown.map((j) => this.number("v", j, d))];
    return this.term("output", [i, d], how, parts);
  }

  vector(name, position) {
    const row = this.data.vector(name, this.attention.batch, this.attention.head, position);
    const how = [["("], ...listed(row.length, (n) => [[plain(row[n]), name]]), [")"]];
    const parts = () => keptTerms(row.length).map((d) => this.number(name, position, d));
    return this.term(name, [position], how, this.data.source ? parts : undefined, name);
  }

  number(name, position, d) {
    const { data, attention } = this;
    const result = [plain(data.number(name, attention.batch, attention.head, position, d)), name];
    if (!data.source) return this.term(name, [position, d], [result], undefined, name);
    const { w, b } = data.source[name];
    const [, T, E] = data.source.x.shape;
    const column = attention.head * data[name].shape[3] + d;
    const start = (attention.batch * T + position) * E;
    const x = data.source.x.numbers.subarray(start, start + E);
    const weights = Float64Array.from({ length: E }, (_, e) => w.numbers[e * w.shape[1] + column]);
    const how = [...sumOfProducts(x, weights), ...(b ? [[` + ${plain(b.numbers[column])}`]] : [])];
    return this.term(name, [position, d], [...how, [" = "], result], undefined, name);
  }
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function mix(stops, t) {
  const [from, to, part] = t < 0.5 ? [stops[0], stops[1], t * 2] : [stops[1], stops[2], t * 2 - 1];
  const ends = [channels(from), channels(to)];
  return ends[0].map((c, n) => Math.round(c + (ends[1][n] - c) * part));
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Ink on a cell: soft black if it reads well (4.5:1), else the better of white and black.
function inkOn(rgb) {
  const light = luminance(rgb) + 0.05;
  if (light / (luminance([27, 27, 34]) + 0.05) >= 4.5) return "#1b1b22";
  return 1.05 / light >= light / 0.05 ? "#ffffff" : "#000000";
}

const PLAIN = ["", ""]; // a masked cell is hatched by its class
const heatCache = new Map();

// [background, ink] for a share of the legend's end, −1 to 1; CSS picks light or dark.
function heat(share) {
  const step = Math.round(Math.max(-1, Math.min(1, share)) * 200);
  if (!heatCache.has(step)) {
    const side = step < 0 ? "less" : "more";
    const [light, dark] = ["light", "dark"].map((mode) => mix(HEAT[mode][side], Math.abs(step) / 200));
    heatCache.set(step, [
      `light-dark(rgb(${light.join(" ")}), rgb(${dark.join(" ")}))`,
      `light-dark(${inkOn(light)}, ${inkOn(dark)})`,
    ]);
  }
  return heatCache.get(step);
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const token = (text, colour) => make("bdi", { class: `ax-token ax-${colour}` }, text);

function coloured(line) {
  return line.map(([text, colour]) => (colour ? make("span", { class: `ax-${colour}` }, text) : text));
}

let count = 0; // radio groups and labels need names of their own

class Explorer {
  // `changed` is told what the reader changed; `start` is what differs from the payload's view.
  constructor(host, payload, { start = {}, changed = () => {} } = {}) {
    this.data = new Data(payload);
    this.id = `ax-${++count}`;
    this.changed = changed;
    this.isPrint = payload.form === "tensor";
    this.payload = payload;
    const { stage = "weights", batch = 0, head = 0, select = null } = this.data.view;
    const { scale } = this.data;
    // The window of a long axis opens at the selected number, in sight on a phone too.
    const sizes = [this.data.L, stage === "output" ? this.data.Dv : this.data.S];
    const at = (select || [0, 0]).map((place, axis) => (sizes[axis] > MOST_SHOWN
      ? Math.max(0, Math.min(place - 3, sizes[axis] - WINDOW)) : 0));
    this.first = { stage, batch, head, scale, mask: "given", select, all: false, at };
    this.state = { ...this.first };
    this.point = null;
    this.notice = "";
    this.build(host);
    this.set(start);
  }

  get columns() {
    return this.state.stage === "output" ? this.data.Dv : this.data.S;
  }

  // Raises one sentence if a value can't be taken; else the value as it is kept.
  check(name, value, stage) {
    const { data } = this;
    const whole = (n, below) => Number.isInteger(n) && n >= 0 && n < below;
    const fail = (must) => {
      throw new Problem(`${name} must be ${must}, got ${value}`);
    };
    if (name === "stage" && !STAGES.includes(value)) fail(`one of ${STAGES.join(", ")}`);
    if (name === "batch" && !whole(value, data.B)) fail(`a whole number below ${data.B}`);
    if (name === "head" && !whole(value, data.H)) fail(`a whole number below ${data.H}`);
    if (name === "scale" && !Number.isFinite(value)) fail("a number");
    if (name === "mask" && !/^(given|none|causal|window:\d{1,6},\d{1,6})$/.test(value)) {
      fail("given, none, causal or window:2,0");
    }
    if (name === "at" && !(whole(value[0], data.L) && whole(value[1], data.S))) fail("a row and a column");
    if (name === "select" && value !== null) {
      const width = stage === "output" ? data.Dv : data.S;
      const fits = value.length === 2 && whole(value[0], data.L) && whole(value[1], width);
      if (!fits) fail(`a row below ${data.L} and a column below ${width}`);
    }
    return value;
  }

  // What the outside wants (an address, Python): what can't be taken is said, the rest is shown.
  set(wanted) {
    const refused = [];
    const next = { ...this.state };
    const order = Object.keys(wanted).sort((a) => (a === "stage" ? -1 : 0));
    for (const name of order) {
      try {
        if (!Object.hasOwn(this.first, name)) throw new Problem(`there is no setting called ${name}`);
        next[name] = this.check(name, wanted[name], next.stage);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push(error.message);
      }
    }
    this.notice = refused.length ? `Not taken: ${refused.join("; ")}. The rest is shown.` : "";
    this.state = next;
    this.keepInside();
    this.render();
  }

  // What the reader does.
  change(patch) {
    this.notice = "";
    Object.assign(this.state, patch);
    this.keepInside();
    this.render();
    this.changed(this.state, this.first);
  }

  keepInside() {
    const { state, data } = this;
    const inside = ([i, j]) => [Math.min(i, data.L - 1), Math.min(j, this.columns - 1)];
    if (state.select) state.select = inside(state.select);
    if (this.point) this.point = inside(this.point);
    this.focus = inside(this.focus || state.select || [0, 0]);
    const last = (size) => Math.max(0, size - this.span(size));
    state.at = [Math.min(state.at[0], last(data.L)), Math.min(state.at[1], last(this.columns))];
  }

  span(size) {
    return size > MOST_SHOWN ? WINDOW : size;
  }
  build(host) {
    const live = { role: "status", "aria-live": "polite" };
    this.strip = make("div", { class: "ax-strip", role: "radiogroup", "aria-label": "Stage" });
    this.formula = make("p", { class: "ax-formula" });
    this.controls = make("div", { class: "ax-controls" });
    this.noticeLine = make("p", { class: "ax-notice", role: "status" });
    this.grid = this.isPrint ? this.buildPrint() : make("table", { class: "ax-grid", role: "grid" });
    this.scroll = make("div", { class: "ax-scroll" }, this.grid);
    this.windows = make("div", { class: "ax-windows" });
    this.legend = make("div", { class: "ax-legend" });
    this.sentence = make("p", { class: "ax-sentence", ...live });
    this.hint = make("p", { class: "ax-hint" });
    this.vectors = make("div", { class: "ax-vectors", role: "group", "aria-label": "vectors" });
    this.tree = make("div", { class: "ax-tree" });
    this.close = make("button", { type: "button", class: "ax-close", onclick: () => this.leave() }, "close");
    this.close.setAttribute("aria-label", "Close the arithmetic");
    const panel = make("div", { class: "ax-panel" }, this.close, this.sentence, this.hint, this.vectors, this.tree);
    const map = make("div", { class: "ax-map" }, this.scroll);
    if (!this.isPrint) map.append(this.windows, this.legend);
    const body = make("div", { class: "ax-body" }, map, panel);
    const label = this.isPrint ? `${this.state.stage}, a printed tensor` : "Attention explorer";
    const kind = this.isPrint ? "ax-root ax-tensor" : "ax-root";
    this.root = make("div", { class: kind, role: "group", "aria-label": label, lang: "en" });
    if (this.isPrint) this.root.append(body);
    else {
      this.buildStrip();
      this.buildControls();
      this.root.append(this.strip, this.formula, this.controls, this.noticeLine, body);
    }
    this.listen();
    host.append(this.root);
  }

  buildStrip() {
    this.stageInputs = STAGES.map((stage) => {
      const input = make("input", {
        type: "radio", name: `${this.id}-stage`, value: stage, onchange: () => this.change({ stage }),
      });
      const today = stage === this.first.stage ? " ax-today" : "";
      this.strip.append(make("label", { class: `ax-stage${today}` }, input, make("span", {}, stage)));
      return input;
    });
  }

  buildControls() {
    const { data, first } = this;
    const control = (name, title, ...inside) => {
      const box = make("div", { class: "ax-control", "data-control": name, role: "group", "aria-label": title });
      box.append(make("span", { class: "ax-label", "aria-hidden": "true" }, title), ...inside);
      this.controls.append(box);
    };
    const button = (text, act, more = {}) => make("button", { type: "button", onclick: act, ...more }, text);
    const most = Math.max(2, Math.ceil(2 * Math.abs(first.scale)));
    this.scaleSlider = make("input", {
      type: "range", min: 0, max: most, step: 0.01, "aria-label": "scale",
      oninput: () => this.change({ scale: Number(this.scaleSlider.value) }),
    });
    this.scaleNumber = make("input", {
      type: "text", inputmode: "decimal", class: "ax-number", "aria-label": "scale as a number",
      onchange: () => this.readScale(),
    });
    control("scale", "scale", this.scaleSlider, this.scaleNumber,
      button("1/√D", () => this.change({ scale: 1 / Math.sqrt(data.D) }), { title: `1/√${data.D}` }),
      button("1", () => this.change({ scale: 1 }), { "aria-label": "scale 1" }));
    const choices = [["given", data.keepJson ? "as given" : "none (as given)"], ["none", "none"]];
    choices.push(["causal", "causal"], ["window", "window"]);
    if (!data.keepJson) choices.splice(1, 1);
    this.maskSelect = make("select", { "aria-label": "mask", onchange: () => this.readMask() },
      ...choices.map(([value, text]) => make("option", { value }, text)));
    const place = (label) => make("input", {
      type: "number", min: 0, max: 999, value: label === "before" ? 1 : 0, class: "ax-number ax-short",
      "aria-label": `keys ${label}`, onchange: () => this.readMask(),
    });
    [this.before, this.after] = [place("before"), place("after")];
    this.windowBox = make("span", { class: "ax-window" }, this.before, " before ", this.after, " after");
    control("mask", "mask", this.maskSelect, this.windowBox);
    const pick = (name, size) => {
      const options = Array.from({ length: size }, (_, n) => make("option", { value: n }, String(n)));
      const select = make("select", { "aria-label": name }, ...options);
      select.addEventListener("change", () => this.change({ [name]: Number(select.value) }));
      if (size > 1) control(name, name, select);
      return select;
    };
    this.batchSelect = pick("batch", data.B);
    this.headSelect = pick("head", data.H);
    this.reset = button("reset", () => this.change({ ...first, all: this.state.all }), { class: "ax-reset" });
    this.all = button("all controls", () => this.change({ all: !this.state.all }), { class: "ax-all" });
    this.controls.append(make("div", { class: "ax-control" }, this.reset, this.all));
  }

  readScale() {
    const text = this.scaleNumber.value.trim();
    const value = Number(text);
    if (text !== "" && Number.isFinite(value)) return this.change({ scale: value });
    this.notice = `The scale must be a number, got ${text || "nothing"}.`;
    this.render();
  }

  readMask() {
    const kind = this.maskSelect.value;
    const size = (input) => Math.max(0, Math.min(999999, Math.floor(Number(input.value)) || 0));
    this.change({ mask: kind === "window" ? `window:${size(this.before)},${size(this.after)}` : kind });
  }

  // torch's own text, each of its numbers a target. Long axes are printed by their ends.
  buildPrint() {
    const { data, payload } = this;
    const text = payload.text;
    const width = this.data.view.stage === "output" ? data.Dv : data.S;
    const shape = [...(payload.lead || []), data.L, width];
    const isCut = shape.reduce((a, b) => a * b, 1) > 1000;
    let places = [[]];
    for (const size of shape) {
      const ends = isCut && size > 6;
      const axis = ends ? [0, 1, 2, size - 3, size - 2, size - 1] : [...Array(size).keys()];
      places = places.flatMap((place) => axis.map((index) => [...place, index]));
    }
    const end = text.lastIndexOf("]") + 1;
    const parts = text.slice(0, end).split(/(-?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]\d+)?))/);
    const print = make("pre", { class: "ax-print", role: "group", "aria-label": "The tensor's numbers" });
    this.prints = [];
    if (parts.length !== 2 * places.length + 1) places = null;
    parts.forEach((part, n) => {
      if (n % 2 === 0 || !places) return print.append(part);
      const place = places[(n - 1) / 2];
      const [i, j] = place.slice(-2);
      const flat = place.slice(0, -2).reduce((at, index, axis) => at * shape[axis] + index, 0);
      const cell = make("span", {
        class: "ax-cell", role: "button", tabindex: -1, "data-row": i, "data-col": j,
        "data-batch": Math.floor(flat / data.H), "data-head": flat % data.H,
      }, part);
      this.prints.push(cell);
      print.append(cell);
    });
    print.append(text.slice(end));
    if (this.prints.length) this.prints[0].tabIndex = 0;
    return print;
  }
  listen() {
    const cellOf = (event) => event.target.closest && event.target.closest("[data-col]");
    this.grid.addEventListener("pointerover", (event) => this.pointAt(cellOf(event)));
    this.grid.addEventListener("pointerleave", () => this.pointAt(null));
    this.grid.addEventListener("focusin", (event) => this.pointAt(cellOf(event)));
    this.grid.addEventListener("focusout", () => this.pointAt(null));
    this.grid.addEventListener("click", (event) => cellOf(event) && this.select(cellOf(event)));
    // A notebook would take plain keys for its own commands.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
      if (event.key === "Escape" && this.state.select) this.leave();
      else if (cellOf(event)) this.key(event, cellOf(event));
    });
  }

  placeOf(cell) {
    return [Number(cell.dataset.row), Number(cell.dataset.col)];
  }

  key(event, cell) {
    const [i, j] = this.placeOf(cell);
    const [bottom, right] = [this.data.L - 1, this.columns - 1];
    const far = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowUp: [far ? 0 : i - 1, j],
      ArrowDown: [far ? bottom : i + 1, j],
      ArrowLeft: [i, far ? 0 : j - 1],
      ArrowRight: [i, far ? right : j + 1],
      Home: [far ? 0 : i, 0],
      End: [far ? bottom : i, right],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.select(cell);
    } else if (moves[event.key]) {
      event.preventDefault();
      if (this.isPrint) this.stepPrint(cell, event.key, moves[event.key]);
      else this.moveTo(moves[event.key]);
    }
  }

  moveTo([i, j]) {
    this.focus = [Math.max(0, Math.min(i, this.data.L - 1)), Math.max(0, Math.min(j, this.columns - 1))];
    const at = [this.data.L, this.columns].map((size, axis) => {
      const [from, place, span] = [this.state.at[axis], this.focus[axis], this.span(size)];
      return place < from ? place : place >= from + span ? place - span + 1 : from;
    });
    if (at.join() !== this.state.at.join()) this.change({ at });
    this.setTabStop();
    this.focused.focus();
  }

  // In a printed tensor: the neighbour in the row, or the number above or below.
  stepPrint(cell, key, [i, j]) {
    const { batch, head } = cell.dataset;
    const at = this.prints.indexOf(cell);
    const isAt = (c) => c.dataset.batch === batch && c.dataset.head === head;
    const next = key === "ArrowLeft" ? this.prints[at - 1]
      : key === "ArrowRight" ? this.prints[at + 1]
      : this.prints.find((c) => isAt(c) && c.dataset.row === String(i) && c.dataset.col === String(j));
    if (!next) return;
    this.setPrintStop(next);
    next.focus();
  }

  setPrintStop(cell) {
    for (const other of this.prints) other.tabIndex = other === cell ? 0 : -1;
    this.focused = cell;
  }

  pointAt(cell) {
    const place = cell ? this.placeOf(cell) : null;
    if (place && this.isPrint) {
      this.pointed = { batch: Number(cell.dataset.batch), head: Number(cell.dataset.head) };
    }
    if (String(place) === String(this.point) && !this.isPrint) return;
    this.point = place;
    this.light();
    this.renderVectors();
  }

  select(cell) {
    const select = this.placeOf(cell);
    this.focus = select;
    if (!this.isPrint) return this.change({ select });
    this.setPrintStop(cell);
    this.change({ select, batch: Number(cell.dataset.batch), head: Number(cell.dataset.head) });
  }

  leave() {
    this.deselect();
    if (this.focused) this.focused.focus();
  }

  deselect() {
    this.change({ select: null });
  }

  attention(settings) {
    const { batch, head, scale, mask } = settings;
    const name = [batch, head, scale, mask].join();
    if (!this.made) this.made = new Map();
    if (!this.made.has(name)) {
      if (this.made.size > 3) this.made.clear();
      this.made.set(name, new Attention(this.data, settings));
    }
    return this.made.get(name);
  }

  render() {
    if (!this.isPrint) {
      this.renderControls();
      this.renderGrid();
    }
    this.light();
    this.renderVectors();
    this.renderPanel();
  }

  renderControls() {
    const { state, first, data } = this;
    const hide = state.all ? [] : data.view.hide || [];
    const stages = (!state.all && data.view.stages) || STAGES;
    this.stageInputs.forEach((input) => {
      input.checked = input.value === state.stage;
      input.parentNode.hidden = !stages.includes(input.value) && input.value !== state.stage;
    });
    this.strip.hidden = hide.includes("strip");
    const words = FORMULAS[state.stage].split(/[{}]/);
    const colours = { query: "q", key: "k", values: "v" };
    const line = words.map((word, n) => (n % 2 ? token(word, colours[word]) : word));
    this.formula.replaceChildren(make("b", {}, state.stage), " = ", ...line);
    this.formula.hidden = hide.includes("formula");
    for (const box of this.controls.querySelectorAll("[data-control]")) {
      box.hidden = hide.includes(box.dataset.control);
    }
    this.scaleSlider.value = state.scale;
    this.scaleSlider.setAttribute("aria-valuetext", plain(state.scale));
    if (this.notice === "" || document.activeElement !== this.scaleNumber) {
      this.scaleNumber.value = plain(state.scale);
    }
    const isWindow = state.mask.startsWith("window");
    const kind = isWindow ? "window" : state.mask;
    this.maskSelect.value = kind === "none" && !data.keepJson ? "given" : kind;
    this.windowBox.hidden = !isWindow;
    if (isWindow) ({ before: this.before.value, after: this.after.value } = maskJson(state.mask));
    this.batchSelect.value = state.batch;
    this.headSelect.value = state.head;
    const differs = Object.keys(first).some((n) => n !== "all" && String(first[n]) !== String(state[n]));
    this.reset.hidden = !differs;
    const hasMore = data.view.stages || (data.view.hide || []).some((name) => name !== "all");
    this.all.hidden = !hasMore || (data.view.hide || []).includes("all");
    this.all.setAttribute("aria-pressed", String(state.all));
    this.noticeLine.textContent = this.notice;
    this.noticeLine.hidden = !this.notice;
  }

  // The part of the matrix in view, made anew only when its rows or columns change.
  renderGrid() {
    const { data, state } = this;
    const isOutput = state.stage === "output";
    const [rows, cols] = [data.L, this.columns].map((size, axis) =>
      Array.from({ length: this.span(size) }, (_, n) => n + state.at[axis]));
    const key = [isOutput, rows[0], cols[0]].join();
    if (key !== this.gridKey) this.buildGrid(rows, cols, isOutput);
    this.gridKey = key;
    this.grid.setAttribute("aria-label", `${state.stage}: queries in rows, ${isOutput ? "value columns" : "keys"} in columns`);
    const attention = this.attention(state);
    const cells = rows.map((i) => cols.map((j) => attention.cell(state.stage, i, j)));
    const given = this.attention({ ...this.first, batch: state.batch, head: state.head });
    const finite = cells.flat().filter(Number.isFinite);
    // The end of the colours stays where the given settings put it, so that more ink is more.
    const anchors = rows.flatMap((i) => cols.map((j) => given.cell(state.stage, i, j)));
    const most = anchors.filter(Number.isFinite).concat(finite);
    const high = most.reduce((a, b) => Math.max(a, b), 0);
    const low = most.reduce((a, b) => Math.min(a, b), 0);
    const end = Math.max(high, -low) || 1;
    const isWhole = finite.every(Number.isInteger);
    this.write = (x) => fixed(x, isWhole && Math.abs(x) < 1e6 ? 0 : data.places);
    cells.forEach((row, r) => row.forEach((x, c) => {
      const cell = this.cells[r][c];
      const text = this.write(x);
      if (cell.firstChild.data !== text) cell.firstChild.data = text;
      const [back, ink] = x === -Infinity ? PLAIN : heat(x / end);
      if (cell.back === back) return;
      cell.back = back;
      cell.classList.toggle("ax-masked", x === -Infinity);
      cell.style.backgroundColor = back;
      cell.style.color = ink;
    }));
    this.renderLegend(high, low, end, cells.flat().includes(-Infinity));
    this.setTabStop();
  }

  buildGrid(rows, cols, isOutput) {
    const { data } = this;
    const corner = make("th", { class: "ax-corner", scope: "col" }, isOutput ? token("value →", "v") : token("key →", "k"),
      token("query ↓", "q"));
    const side = isOutput ? "v" : "k";
    this.heads = cols.map((j) => {
      const text = isOutput ? String(j) : data.keys[j];
      return make("th", { scope: "col", class: `ax-head ax-${side}`, title: text }, make("bdi", {}, text));
    });
    this.sides = rows.map((i) => make("th", { scope: "row", class: "ax-side ax-q", title: data.queries[i] },
      make("bdi", {}, data.queries[i])));
    this.cells = rows.map((i) => cols.map((j) =>
      make("td", { class: "ax-cell", role: "gridcell", tabindex: -1, "data-row": i, "data-col": j }, "")));
    this.lit = "";
    const head = make("thead", {}, make("tr", { role: "row" }, corner, ...this.heads));
    const lines = this.cells.map((line, r) => make("tr", { role: "row" }, this.sides[r], ...line));
    this.grid.replaceChildren(head, make("tbody", {}, ...lines));
    this.grid.classList.toggle("ax-values", isOutput);
    this.grid.setAttribute("aria-rowcount", data.L + 1);
    this.grid.setAttribute("aria-colcount", this.columns + 1);
    this.root.classList.toggle("ax-wide", cols.length > 8);
    this.renderWindows();
  }

  renderWindows() {
    const { data, state } = this;
    const axes = [["queries", data.L, 0], [state.stage === "output" ? "columns" : "keys", this.columns, 1]];
    const long = axes.filter(([, size]) => size > MOST_SHOWN);
    this.windows.hidden = !long.length;
    if (this.windows.contains(document.activeElement)) return;
    const sliders = long.map(([name, size, axis]) => make("label", {}, `first of the ${name} `, make("input", {
      type: "range", min: 0, max: size - WINDOW, value: state.at[axis],
      oninput: (event) => this.change({ at: this.state.at.map((n, a) => (a === axis ? Number(event.target.value) : n)) }),
    })));
    const shown = long.map(([name, size]) => `${WINDOW} of ${size} ${name}`).join(" and ");
    this.windows.replaceChildren(make("p", {}, `${shown} are shown. Sliders and arrow keys move this window.`), ...sliders);
  }

  setTabStop() {
    const [i, j] = this.focus;
    const [r, c] = [i - this.state.at[0], j - this.state.at[1]];
    if (this.focused) this.focused.tabIndex = -1;
    this.focused = (this.cells[r] && this.cells[r][c]) || this.cells[0][0];
    this.focused.tabIndex = 0;
  }

  renderLegend(high, low, end, hasMasked) {
    const bar = make("span", { class: "ax-bar" });
    const stops = [];
    const from = low < 0 ? low / end : 0;
    const to = high > 0 ? high / end : 0;
    for (let n = 0; n <= 8; n++) stops.push(heat(from + ((to - from) * n) / 8)[0]);
    bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
    this.legend.replaceChildren(this.write(low), bar, this.write(high));
    if (hasMasked) this.legend.append(make("span", { class: "ax-swatch ax-masked" }), "masked");
    this.legend.hidden = !this.state.all && (this.data.view.hide || []).includes("legend");
  }

  // The row and the column of the cell in question.
  light() {
    const place = this.point || this.state.select;
    if (this.isPrint) return this.lightPrint(place);
    const { at, select } = this.state;
    const [r, c] = place ? [place[0] - at[0], place[1] - at[1]] : [-1, -1];
    const lit = [r, c, select].join();
    if (lit === this.lit) return;
    this.lit = lit;
    this.sides.forEach((side, n) => side.classList.toggle("ax-lit", n === r));
    this.heads.forEach((head, n) => head.classList.toggle("ax-lit", n === c));
    this.cells.forEach((line, n) => line.forEach((cell, m) => {
      cell.classList.toggle("ax-row", n === r);
      cell.classList.toggle("ax-col", m === c);
      const isSelected = !!select && select[0] === n + at[0] && select[1] === m + at[1];
      cell.setAttribute("aria-selected", String(isSelected));
    }));
  }

  lightPrint(place) {
    const { select, batch, head } = this.state;
    const where = this.point ? this.pointed : this.state;
    for (const cell of this.prints) {
      const [i, j] = this.placeOf(cell);
      const isIn = (w) => Number(cell.dataset.batch) === w.batch && Number(cell.dataset.head) === w.head;
      cell.classList.toggle("ax-mate", !!place && isIn(where) && place[0] === i);
      const isSelected = !!select && isIn({ batch, head }) && select[0] === i && select[1] === j;
      cell.setAttribute("aria-pressed", String(isSelected));
    }
  }

  // The two rows behind a number: q and k, or the weights and the values.
  renderVectors() {
    const place = this.point || this.state.select;
    const hide = this.state.all ? [] : this.data.view.hide || [];
    const isIn = this.isPrint ? this.state.select : place;
    this.vectors.hidden = !isIn || hide.includes("vectors");
    this.root.classList.toggle("ax-idle", !place);
    const where = this.isPrint && this.point ? { ...this.state, ...this.pointed } : this.state;
    this.hint.hidden = !!this.state.select;
    const hint = ["Point at a number to see what it is made from. Select it to read its arithmetic."];
    this.hint.replaceChildren(...(place ? this.say(place, where) : hint));
    if (!place || this.vectors.hidden) return;
    const attention = this.attention(where);
    const { data } = this;
    const [i, j] = place;
    const line = (label, colour, numbers, names) => make("tr", {},
      make("th", { scope: "row", class: `ax-${colour}` }, ...label),
      ...Array.from(numbers, (x, n) => make("td", { class: `ax-${colour}`, title: names ? names[n] : undefined }, plain(x))));
    const name = (text, variable) => [make("bdi", {}, text), " ", make("i", {}, variable)];
    const table = make("table");
    if (where.stage === "output") {
      table.append(line(name(data.queries[i], "weights"), "q", attention.row(i).dropped, data.keys));
      table.append(line(name(`column ${j}`, "v"), "v", attention.values(j), data.keys));
    } else {
      table.append(line(name(data.queries[i], "q"), "q", data.vector("q", where.batch, where.head, i)));
      table.append(line(name(data.keys[j], "k"), "k", data.vector("k", where.batch, where.head, j)));
    }
    this.vectors.replaceChildren(table);
    // Vectors wider than the page scroll by keyboard only if they can have the focus.
    this.vectors.tabIndex = this.vectors.scrollWidth > this.vectors.clientWidth ? 0 : -1;
  }

  renderPanel() {
    const { select, stage } = this.state;
    this.close.hidden = !select;
    this.root.classList.toggle("ax-open", !!select);
    if (!select) {
      this.sentence.replaceChildren();
      this.tree.replaceChildren();
      this.shown = "";
      return;
    }
    const said = this.say(select, this.state);
    const key = said.map((part) => part.textContent || part).join("") + JSON.stringify(this.state);
    if (key === this.shown) return;
    this.shown = key;
    this.sentence.replaceChildren(...said);
    const workings = new Workings(this.attention(this.state), select[0]);
    this.tree.replaceChildren(this.branch(workings[stage](select[1]), true));
  }

  // One sentence about a number.
  say([i, j], state) {
    const { data } = this;
    const attention = this.attention(state);
    const row = attention.row(i);
    const x = attention.cell(state.stage, i, j);
    const number = make("b", {}, fixed(x, data.places));
    const query = token(data.queries[i], "q");
    if (state.stage === "output") {
      const values = make("bdi", { class: "ax-v" }, `column ${j} of the values`);
      return ["For query ", query, ", ", values, " averages to ", number, "."];
    }
    const key = token(data.keys[j], "k");
    if (row.isDead) return ["The mask keeps nothing for query ", query, ": its weights are 0."];
    if (state.stage === "masked" && !row.keeps[j]) {
      return ["The mask keeps query ", query, " from seeing key ", key, "."];
    }
    if (state.stage === "weights") return ["Query ", query, " gives ", number, " to key ", key, "."];
    if (state.stage === "dropped") {
      if (row.survives && !row.survives[j]) {
        return ["Dropout takes away what query ", query, " gives to key ", key, "."];
      }
      return ["After dropout query ", query, " gives ", number, " to key ", key, "."];
    }
    const kind = state.stage === "scores" ? "score" : "scaled score";
    return ["Query ", query, " and key ", key, ` have the ${kind} `, number, "."];
  }

  branch(term, isOpen) {
    const line = coloured(term.line);
    if (!term.parts) return make("div", { class: "ax-leaf" }, ...line);
    const inside = make("div", { class: "ax-parts" });
    const fill = () => {
      if (!inside.firstChild) inside.append(...term.parts().map((part) => this.branch(part, false)));
    };
    if (isOpen) fill();
    const summary = make("summary", { onclick: fill }, ...line);
    const details = make("details", { open: isOpen, ontoggle: fill }, summary, inside);
    return details;
  }
}

// The address: #x-name?stage=weights&select=1,0. Ordinary anchors stay as they are.
function readAddress(name) {
  const [place, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  if (place !== `x-${name}`) return null;
  const wanted = {};
  for (const part of query.split("&").filter(Boolean)) {
    const [key, raw = ""] = part.split(/=(.*)/s);
    let text = raw;
    try {
      text = decodeURIComponent(raw);
    } catch {
      text = raw;
    }
    if (key === "select" && text === "") wanted.select = null;
    else if (key === "select" || key === "at") wanted[key] = text.split(",").map((n) => (n === "" ? NaN : Number(n)));
    else if (["batch", "head", "scale"].includes(key)) wanted[key] = text.trim() === "" ? NaN : Number(text);
    else wanted[key] = key === "all" ? text === "1" : text;
  }
  return wanted;
}

function writeAddress(name, state, first) {
  const parts = Object.keys(first)
    .filter((key) => String(state[key]) !== String(first[key]))
    .map((key) => `${key}=${encodeURIComponent(key === "all" ? 1 : state[key] ?? "").replace(/%2C/g, ",").replace(/%3A/g, ":")}`);
  const isOurs = readAddress(name) !== null;
  if (!parts.length && !isOurs) return;
  const hash = parts.length ? `#x-${name}?${parts.join("&")}` : "";
  history.replaceState(history.state, "", location.pathname + location.search + hash);
}

const inNotebook = () => !!document.querySelector("#jupyter-config-data, body[data-jp-theme-name]");

function start(element) {
  const name = element.getAttribute("name") || "";
  const script = element.querySelector('script[type="application/json"]');
  if (!script || element.querySelector(".ax-root")) return;
  const fallback = [...element.children].filter((child) => child !== script);
  try {
    let timer = 0;
    const changed = (state, first) => {
      if (inNotebook()) return;
      clearTimeout(timer);
      timer = setTimeout(() => writeAddress(name, state, first), 150);
    };
    const here = inNotebook() ? null : readAddress(name);
    const explorer = new Explorer(element, JSON.parse(script.textContent), { start: here || {}, changed });
    for (const child of fallback) child.hidden = true;
    if (!inNotebook()) {
      if (here) element.scrollIntoView({ block: "nearest" });
      window.addEventListener("hashchange", () => {
        const wanted = readAddress(name);
        if (wanted) explorer.set({ ...explorer.first, ...wanted });
      });
    }
  } catch (error) {
    const why = error instanceof Problem ? error.message : "its data cannot be read";
    element.querySelectorAll(".ax-root").forEach((root) => root.remove());
    element.append(make("p", { class: "ax-notice", role: "status" }, `This explorer cannot start: ${why}.`));
  }
}

class AttentionExplorer extends HTMLElement {
  connectedCallback() {
    if (document.readyState !== "loading") start(this);
    else document.addEventListener("DOMContentLoaded", () => start(this), { once: true });
  }
}

if (!customElements.get("attention-explorer")) {
  customElements.define("attention-explorer", AttentionExplorer);
}

// A live notebook: the state is the model's traits, both ways.
function render({ model, el }) {
  const traits = ["stage", "batch", "head", "scale", "mask", "select"];
  const read = () => Object.fromEntries(traits.map((name) => [name, model.get(name)]));
  const changed = (state) => {
    for (const name of traits) {
      if (String(state[name]) !== String(model.get(name))) model.set(name, state[name]);
    }
    model.save_changes();
  };
  let explorer;
  el.classList.add("ax-host");
  try {
    explorer = new Explorer(el, model.get("payload"), { start: read(), changed });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    el.append(make("p", { class: "ax-notice", role: "status" }, `This explorer cannot start: ${error.message}.`));
    return undefined;
  }
  const update = () => {
    const wanted = read();
    if (!traits.some((name) => String(wanted[name]) !== String(explorer.state[name]))) return;
    explorer.set(wanted);
    changed(explorer.state); // a selection that lies outside the new stage was moved inside
  };
  for (const name of traits) model.on(`change:${name}`, update);
  return () => traits.forEach((name) => model.off(`change:${name}`, update));
}

export default { render };
