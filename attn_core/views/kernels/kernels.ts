// What a language model computes, in WebAssembly with SIMD: AssemblyScript, compiled by generate/kernels.js.
//
// Every argument that is a place counts bytes in the memory that the page brings. Numbers are float32, rows lie one
// behind the other, and lengths of rows are multiples of 4, those of stored weights of 32. Each sum has one order,
// which neither the browser nor the count of rows changes: so all browsers get the same bits, and a token that is read
// alone gets those that it has in its sentence. page/core/language/plain_kernels.js has the same functions as plain
// script.

const BLOCK: usize = 32; // weights that share a scale
const Q4_1: i32 = 4;
const Q4_1_BYTES: usize = 20;
const Q8_0_BYTES: usize = 34;
const LANE_BYTES: usize = 16;
const TILE: i32 = 4; // rows that share what was loaded of a matrix

/** The first byte of the memory that nothing here uses. */
export function start(): usize {
  return __heap_base;
}

/** The float16 numbers of the first two words, each in a lane. */
// @ts-ignore: decorator
@inline
function halves(words: v128): v128 {
  const bits = i32x4.extend_low_i16x8_u(words);
  const sign = i32x4.shl(v128.and(bits, i32x4.splat(0x8000)), 16);
  const rest = i32x4.shl(v128.and(bits, i32x4.splat(0x7fff)), 13);
  return f32x4.mul(v128.or(sign, rest), f32x4.splat(5.192296858534828e33)); // 2^112: the exponents' other bias
}

// @ts-ignore: decorator
@inline
function total(lanes: v128): f32 {
  const first = f32x4.extract_lane(lanes, 0) + f32x4.extract_lane(lanes, 1);
  return first + (f32x4.extract_lane(lanes, 2) + f32x4.extract_lane(lanes, 3));
}

// @ts-ignore: decorator
@inline
function weightsQ4(numbers: v128, scale: v128, least: v128): v128 {
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(numbers), scale), least);
}

// The places of four bytes of sixteen, as whole numbers: read from memory, since a browser makes a constant anew in
// each round of a loop.
const SPREAD = memory.data<u8>([
  0, 128, 128, 128, 1, 128, 128, 128, 2, 128, 128, 128, 3, 128, 128, 128,
  4, 128, 128, 128, 5, 128, 128, 128, 6, 128, 128, 128, 7, 128, 128, 128,
  8, 128, 128, 128, 9, 128, 128, 128, 10, 128, 128, 128, 11, 128, 128, 128,
  12, 128, 128, 128, 13, 128, 128, 128, 14, 128, 128, 128, 15, 128, 128, 128,
], 16);

/** Four of sixteen bytes as whole numbers, by the offset of their places: one instruction, not two that extend them. */
// @ts-ignore: decorator
@inline
function spread(packed: v128, offset: usize): v128 {
  return i8x16.swizzle(packed, v128.load(SPREAD + offset));
}

// @ts-ignore: decorator
@inline
function putQ4(numbers: v128, scale: v128, least: v128, into: usize): void {
  v128.store(into, weightsQ4(spread(numbers, 0), scale, least));
  v128.store(into, weightsQ4(spread(numbers, 16), scale, least), 16);
  v128.store(into, weightsQ4(spread(numbers, 32), scale, least), 32);
  v128.store(into, weightsQ4(spread(numbers, 48), scale, least), 48);
}

// @ts-ignore: decorator
@inline
function putQ8(numbers: v128, scale: v128, into: usize): void {
  const low = i16x8.extend_low_i8x16_s(numbers);
  const high = i16x8.extend_high_i8x16_s(numbers);
  v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low)), scale));
  v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low)), scale), 16);
  v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high)), scale), 32);
  v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high)), scale), 48);
}

/** Weights as numbers; gives the place behind them. kind: 4 for Q4_1, 8 for Q8_0. */
export function dequantise(kind: i32, weights: usize, count: i32, into: usize): usize {
  const end = into + (<usize>count << 2);
  if (kind == Q4_1) {
    for (; into < end; into += 4 * BLOCK) {
      const pair = halves(v128.load32_zero(weights));
      const scale = v128.shuffle<f32>(pair, pair, 0, 0, 0, 0);
      const least = v128.shuffle<f32>(pair, pair, 1, 1, 1, 1);
      const packed = v128.load(weights, 4);
      putQ4(v128.and(packed, i8x16.splat(15)), scale, least, into);
      putQ4(i8x16.shr_u(packed, 4), scale, least, into + 64);
      weights += Q4_1_BYTES;
    }
  } else {
    for (; into < end; into += 4 * BLOCK) {
      const scale = halves(v128.load16_splat(weights));
      putQ8(v128.load(weights, 2), scale, into);
      putQ8(v128.load(weights, 18), scale, into + 64);
      weights += Q8_0_BYTES;
    }
  }
  return weights;
}

/** sum + four numbers times four weights: of `packed`, which has theirs in the low half of each byte. */
// @ts-ignore: decorator
@inline
function plusQ4(sum: v128, x: v128, packed: v128, offset: usize, scale: v128, least: v128): v128 {
  return f32x4.add(sum, f32x4.mul(x, weightsQ4(spread(packed, offset), scale, least)));
}

/** What `matmul` gives of one row of Q4_1 weights, which then need not be stored as numbers: a further token. */
function matmulOfRow(x: usize, inputs: i32, weights: usize, outputs: i32, y: usize): void {
  const end = x + (<usize>inputs << 2);
  const length = (<usize>inputs / BLOCK) * Q4_1_BYTES;
  for (let o = 0; o < outputs; o += 2) {
    let sum0 = f32x4.splat(0), sum1 = sum0;
    for (let at = x; at < end; at += 4 * BLOCK) {
      const pairs = halves(v128.load32_lane(weights + length, v128.load32_zero(weights), 1));
      const scale0 = v128.shuffle<f32>(pairs, pairs, 0, 0, 0, 0), least0 = v128.shuffle<f32>(pairs, pairs, 1, 1, 1, 1);
      const scale1 = v128.shuffle<f32>(pairs, pairs, 2, 2, 2, 2), least1 = v128.shuffle<f32>(pairs, pairs, 3, 3, 3, 3);
      const packed0 = v128.load(weights, 4), packed1 = v128.load(weights + length, 4);
      const low0 = v128.and(packed0, i8x16.splat(15)), low1 = v128.and(packed1, i8x16.splat(15));
      for (let offset: usize = 0; offset < 64; offset += LANE_BYTES) {
        const numbers = v128.load(at + offset);
        sum0 = plusQ4(sum0, numbers, low0, offset, scale0, least0);
        sum1 = plusQ4(sum1, numbers, low1, offset, scale1, least1);
      }
      const high0 = i8x16.shr_u(packed0, 4), high1 = i8x16.shr_u(packed1, 4);
      for (let offset: usize = 0; offset < 64; offset += LANE_BYTES) {
        const numbers = v128.load(at + offset, 64);
        sum0 = plusQ4(sum0, numbers, high0, offset, scale0, least0);
        sum1 = plusQ4(sum1, numbers, high1, offset, scale1, least1);
      }
      weights += Q4_1_BYTES;
    }
    y = put(y, 8, sum0, sum1);
    weights += length;
  }
}

/**
 * y[r, o] = Σ x[r, i] · weight[o, i], two outputs at a time.
 *
 * x: [rows, inputs]. weights: [outputs, inputs], stored. spare: place for 2 · inputs numbers. y: [rows, outputs].
 * outputs must be even.
 */
export function matmul(
  kind: i32, x: usize, rows: i32, inputs: i32, weights: usize, outputs: i32, spare: usize, y: usize,
): void {
  if (rows == 1 && kind == Q4_1) return matmulOfRow(x, inputs, weights, outputs, y);
  const length = <usize>inputs << 2;
  const step = <usize>outputs << 2;
  const end = spare + length;
  for (let o = 0; o < outputs; o += 2) {
    weights = dequantise(kind, weights, inputs << 1, spare);
    let from = x;
    let to = y + (<usize>o << 2);
    let r = 0;
    for (; r + TILE <= rows; r += TILE) {
      let a0 = f32x4.splat(0), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
      let a = from;
      let b = a + length;
      let c = b + length;
      let d = c + length;
      for (let w = spare; w < end; w += LANE_BYTES) {
        const w0 = v128.load(w);
        const w1 = v128.load(w + length);
        let numbers = v128.load(a);
        a0 = f32x4.add(a0, f32x4.mul(numbers, w0));
        a1 = f32x4.add(a1, f32x4.mul(numbers, w1));
        numbers = v128.load(b);
        b0 = f32x4.add(b0, f32x4.mul(numbers, w0));
        b1 = f32x4.add(b1, f32x4.mul(numbers, w1));
        numbers = v128.load(c);
        c0 = f32x4.add(c0, f32x4.mul(numbers, w0));
        c1 = f32x4.add(c1, f32x4.mul(numbers, w1));
        numbers = v128.load(d);
        d0 = f32x4.add(d0, f32x4.mul(numbers, w0));
        d1 = f32x4.add(d1, f32x4.mul(numbers, w1));
        a += LANE_BYTES;
        b += LANE_BYTES;
        c += LANE_BYTES;
        d += LANE_BYTES;
      }
      to = put(to, step, a0, a1);
      to = put(to, step, b0, b1);
      to = put(to, step, c0, c1);
      to = put(to, step, d0, d1);
      from = d;
    }
    for (; r < rows; r++) {
      let a0 = f32x4.splat(0), a1 = a0;
      for (let w = spare; w < end; w += LANE_BYTES) {
        const numbers = v128.load(from);
        a0 = f32x4.add(a0, f32x4.mul(numbers, v128.load(w)));
        a1 = f32x4.add(a1, f32x4.mul(numbers, v128.load(w + length)));
        from += LANE_BYTES;
      }
      to = put(to, step, a0, a1);
    }
  }
}

// @ts-ignore: decorator
@inline
function put(to: usize, step: usize, first: v128, second: v128): usize {
  store<f32>(to, total(first));
  store<f32>(to, total(second), 4);
  return to + step;
}

/** y = x / √(mean of x² + eps) · gain, row by row. */
export function rmsNorm(x: usize, rows: i32, width: i32, gain: usize, eps: f32, y: usize): void {
  const length = <usize>width << 2;
  for (let r = 0; r < rows; r++) {
    let squares = f32x4.splat(0);
    for (let at: usize = 0; at < length; at += LANE_BYTES) {
      const numbers = v128.load(x + at);
      squares = f32x4.add(squares, f32x4.mul(numbers, numbers));
    }
    const factor = f32x4.splat(<f32>1 / sqrt<f32>(total(squares) / <f32>width + eps));
    for (let at: usize = 0; at < length; at += LANE_BYTES) {
      v128.store(y + at, f32x4.mul(f32x4.mul(v128.load(x + at), factor), v128.load(gain + at)));
    }
    x += length;
    y += length;
  }
}

/**
 * The cosines and sines by which positions rotate: for each position the cosine of each column's pair, then its sine,
 * with − for the first of a pair, which is 2i and 2i + 1.
 *
 * rates: float64, the radians by which each pair rotates from a position to the next.
 */
export function rotaryTable(table: usize, positions: i32, headDim: i32, rates: usize): void {
  const length = <usize>headDim << 2;
  for (let position = 0; position < positions; position++) {
    for (let column = 0; column < headDim; column += 2) {
      const angle = <f64>position * load<f64>(rates + (<usize>column << 2));
      const cos = <f32>Math.cos(angle);
      const sin = <f32>Math.sin(angle);
      const at = table + (<usize>column << 2);
      store<f32>(at, cos);
      store<f32>(at, cos, 4);
      store<f32>(at + length, -sin);
      store<f32>(at + length, sin, 4);
    }
    table += 2 * length;
  }
}

/** Rotates rows of heads in place; table: of the first row's position. */
export function rotate(x: usize, rows: i32, heads: i32, headDim: i32, table: usize): void {
  const length = <usize>headDim << 2;
  for (let r = 0; r < rows; r++) {
    for (let h = 0; h < heads; h++) {
      for (let at: usize = 0; at < length; at += LANE_BYTES) {
        const pairs = v128.load(x + at);
        const others = v128.shuffle<f32>(pairs, pairs, 1, 0, 3, 2);
        const along = f32x4.mul(pairs, v128.load(table + at));
        v128.store(x + at, f32x4.add(along, f32x4.mul(others, v128.load(table + length + at))));
      }
      x += length;
    }
    table += 2 * length;
  }
}

/** e^x to 2 units of the last place for x from −87 to 88, beyond which it is that of the end: Cephes' polynomial. */
// @ts-ignore: decorator
@inline
function exp(x: v128): v128 {
  x = f32x4.max(f32x4.min(x, f32x4.splat(88)), f32x4.splat(-87));
  const power = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504088896341)));
  let rest = f32x4.sub(x, f32x4.mul(power, f32x4.splat(0.693359375)));
  rest = f32x4.add(rest, f32x4.mul(power, f32x4.splat(2.12194440e-4)));
  let sum = f32x4.splat(1.9875691500e-4);
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1.3981999507e-3));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(8.3334519073e-3));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(4.1665795894e-2));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(1.6666665459e-1));
  sum = f32x4.add(f32x4.mul(sum, rest), f32x4.splat(5.0000001201e-1));
  sum = f32x4.add(f32x4.add(f32x4.mul(sum, f32x4.mul(rest, rest)), rest), f32x4.splat(1));
  const scale = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(power), i32x4.splat(127)), 23);
  return f32x4.mul(sum, scale);
}

/**
 * Causal attention of new rows to all keys so far.
 *
 * q: [rows, heads, headDim]. k, v: [first + rows, kvHeads, headDim], of the cache. first: the position of row 0.
 * hidden: how many of the first tokens only themselves may see. spare: place for first + rows + 4 numbers.
 * y: as q.
 */
export function attend(
  q: usize, k: usize, v: usize, rows: i32, first: i32, heads: i32, kvHeads: i32, headDim: i32, hidden: i32,
  spare: usize, y: usize,
): void {
  const length = <usize>headDim << 2;
  const step = length * kvHeads;
  const group = heads / kvHeads;
  const scale: f32 = <f32>1 / sqrt<f32>(<f32>headDim);
  for (let r = 0; r < rows; r++) {
    const position = first + r;
    const from = min(hidden, position);
    const count = position - from + 1;
    const end = spare + (<usize>count << 2);
    for (let h = 0; h < heads; h++) {
      const column = length * (h / group) + step * from;
      let key = k + column;
      let largest: f32 = -Infinity;
      for (let at = spare; at < end; at += 4) {
        let sum = f32x4.splat(0);
        for (let d: usize = 0; d < length; d += LANE_BYTES) {
          sum = f32x4.add(sum, f32x4.mul(v128.load(q + d), v128.load(key + d)));
        }
        const score = total(sum) * scale;
        store<f32>(at, score);
        largest = max(largest, score);
        key += step;
      }
      for (let at = spare; at < end; at += LANE_BYTES) {
        v128.store(at, exp(f32x4.sub(v128.load(at), f32x4.splat(largest))));
      }
      let sum: f32 = 0;
      for (let at = spare; at < end; at += 4) sum += load<f32>(at);
      const divisor = f32x4.splat(sum);
      for (let d: usize = 0; d < length; d += LANE_BYTES) {
        let value = v + column + d;
        let mixed = f32x4.splat(0);
        for (let at = spare; at < end; at += 4) {
          mixed = f32x4.add(mixed, f32x4.mul(v128.load32_splat(at), v128.load(value)));
          value += step;
        }
        v128.store(y + d, f32x4.div(mixed, divisor));
      }
      q += length;
      y += length;
    }
  }
}

/** gate = gate / (1 + e^−gate) · up, number by number. */
export function swiglu(gate: usize, up: usize, count: i32): void {
  const one = f32x4.splat(1);
  for (const end = gate + (<usize>count << 2); gate < end; gate += LANE_BYTES) {
    const numbers = v128.load(gate);
    const silu = f32x4.div(numbers, f32x4.add(one, exp(f32x4.neg(numbers))));
    v128.store(gate, f32x4.mul(silu, v128.load(up)));
    up += LANE_BYTES;
  }
}

/** x = x + y, number by number. */
export function add(x: usize, y: usize, count: i32): void {
  for (const end = x + (<usize>count << 2); x < end; x += LANE_BYTES) {
    v128.store(x, f32x4.add(v128.load(x), v128.load(y)));
    y += LANE_BYTES;
  }
}
