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
  if (power === 31) return rest ? NaN : sign * Infinity;
  return power ? sign * 2 ** (power - 25) * (1024 + rest) : sign * 2 ** -24 * rest;
}

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
  const stored = new Kind(bytes.buffer);
  const numbers = Kind === Uint16Array ? Float64Array.from(stored, half) : Float64Array.from(stored);
  if (!numbers.every(Number.isFinite)) throw new Problem(`${name} must be finite`);
  return { shape: array.shape, numbers };
}

// A mask's JSON form as a rule: (batch, head, row, column) → keeps?
export function keepRule(json, L, S) {
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

export class Data {
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

export function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}
