// What a payload holds: q, k, v, the mask, the tokens, and where q, k and v come from.

export class Problem extends Error {}

export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const rest = bits & 1023;
  if (power === 31) return NaN; // or an infinity: neither is taken
  return sign * (power ? 2 ** (power - 25) * (1024 + rest) : 2 ** -24 * rest);
}

// A number as an array of its kind holds it, halves in float32.
export const stored = (x, dtype) => (dtype === "float64" ? x : Math.fround(x));

const halves = [];

export function decode(array, name, axes) {
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
  const held = new Kind(bytes.buffer);
  const numbers = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    numbers[n] = Kind === Uint16Array ? (halves[held[n]] ??= half(held[n])) : held[n];
    if (!Number.isFinite(numbers[n])) throw new Problem(`${name} must be finite`);
  }
  return { ...array, data: null, numbers };
}

// A mask's JSON form as a rule that writes 0 into a row of ones where it does not keep.
export function keepRule(json, L, S) {
  const first = S - L;
  const past = (j) => Math.max(0, j);
  switch (json.kind) {
    case "causal":
    case "prefill":
      return (row, b, h, i) => row.fill(0, past(i + first + 1));
    case "window":
      return (row, b, h, i) => row.fill(0, 0, past(i + first - (json.before ?? Infinity)))
        .fill(0, past(i + first + (json.after ?? Infinity) + 1));
    case "padding":
      return (row, b) => row.fill(0, json.lengths[b]);
    case "and": {
      const rules = json.of.map((part) => keepRule(part, L, S));
      return (...row) => rules.forEach((rule) => rule(...row));
    }
    case "dense": {
      const bits = bytesOf(json.bits);
      const [B, H, R, C] = json.shape.map((size) => size > 1);
      return (row, b, h, i) => {
        const start = ((B ? b : 0) * json.shape[1] + (H ? h : 0)) * json.shape[2] + (R ? i : 0);
        for (let j = 0; j < S; j++) {
          const at = start * json.shape[3] + (C ? j : 0);
          if (!((bits[at >> 3] >> (at & 7)) & 1)) row[j] = 0;
        }
      };
    }
    default:
      throw new Problem(`the mask must be of a known kind, got ${json.kind}`);
  }
}

export const SIDES = { q: "query", k: "key", v: "value" };
export const MOST_KEPT = 2 ** 20; // the scores of longer maps are derived again

export class Data {
  constructor(payload) {
    if (!payload || payload.version !== 1) throw new Problem("its version must be 1");
    for (const name in SIDES) this[name] = decode(payload[name], name, 4);
    [this.B, this.H, this.L, this.D] = this.q.shape;
    [this.S, this.Dv] = [this.k.shape[2], this.v.shape[3]];
    const { shape, heads } = this.v;
    const held = heads ? heads.length : this.H;
    const fits = `${this.k.shape}` === `${[this.B, this.H, this.S, this.D]}`;
    if (!fits || `${shape}` !== `${[this.B, held, this.S, this.Dv]}`) {
      throw new Problem("q, k and v must fit each other");
    }
    if (!Number.isFinite(payload.scale)) throw new Problem("its scale must be a number");
    this.scale = payload.scale;
    this.keepJson = payload.keep || null;
    this.dropout = payload.dropout || null;
    this.view = payload.view || {};
    this.places = this.view.places ?? 4;
    const labels = (side, count) => {
      const tokens = payload.tokens?.[side] || [...Array(count).keys()];
      if (tokens.length !== count) throw new Problem(`it must have ${count} tokens for its ${side}`);
      return tokens.map(String);
    };
    this.queries = labels("queries", this.L);
    this.keys = labels("keys", this.S);
    this.headNames = payload.heads?.map(String);
    if (this.headNames && this.headNames.length !== this.H) throw new Problem(`it must name ${this.H} heads`);
    this.overview = payload.overview || null;
    this.source = payload.source && this.readSource(payload.source);
    Object.assign(this, { rows: new Map(), set: new Set(), sizes: {} });
    if (this.keepJson) keepRule(this.keepJson, this.L, this.S);
  }

  readSource(source) {
    const found = {};
    const read = (name, axes) => (found[name] = decode(source[name], name, axes));
    read("x", 3);
    for (const side of Object.values(SIDES)) {
      read(`w_${side}`, 2);
      if (source[`b_${side}`]) read(`b_${side}`, 1);
    }
    return found;
  }

  columns(stage) {
    return stage === "output" ? this.Dv : this.S;
  }

  // Of a large record only one head's values may have been sent.
  hasValues(head) {
    return this.v.heads?.includes(head) ?? true;
  }

  start(name, b, h, i) {
    const { shape, heads } = this[name];
    return ((b * shape[1] + (heads ? heads.indexOf(h) : h)) * shape[2] + i) * shape[3];
  }

  number(name, b, h, i, d) {
    return this[name].numbers[this.start(name, b, h, i) + d];
  }

  // The row of a position in q, k or v.
  vector(name, b, h, i) {
    const start = this.start(name, b, h, i);
    return this[name].numbers.subarray(start, start + this[name].shape[3]);
  }

  // The size of the largest number of q, k or v.
  largest(name) {
    return (this.sizes[name] ??= this[name].numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
  }

  scores(b, h, i) {
    const head = b * this.H + h;
    const rows = this.rows.get(head) || [];
    if (rows[i]) return rows[i];
    const row = this.derived(b, h, i);
    if (this.L * this.S <= MOST_KEPT) {
      rows[i] = row;
      this.rows.set(head, rows);
      if (this.rows.size > 4) this.rows.delete(this.rows.keys().next().value);
    }
    return row;
  }

  derived(b, h, i) {
    const [D, query, keys] = [this.D, this.vector("q", b, h, i), this.k.numbers];
    const row = new Float64Array(this.S);
    for (let j = 0, at = this.start("k", b, h, 0); j < row.length; j++, at += D) {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += query[d] * keys[at + d];
      row[j] = sum;
    }
    return row;
  }

  isSet(name, place) {
    return this.set.has(`${name}${place}`);
  }

  // What a number of q, k or v is made of: a row of x, a column of its matrix, its bias.
  origin(side, b, t, column) {
    const { x, [`w_${SIDES[side]}`]: matrix, [`b_${SIDES[side]}`]: biases } = this.source;
    const [, T, E] = x.shape;
    const w = new Float64Array(E);
    for (let e = 0; e < E; e++) w[e] = matrix.numbers[e * matrix.shape[1] + column];
    const start = (b * T + t) * E;
    return { x: x.numbers.subarray(start, start + E), w, hasBias: !!biases, bias: biases ? biases.numbers[column] : 0 };
  }
}

export function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}
