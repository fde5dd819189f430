// What a language model computes, in WebAssembly with SIMD: AssemblyScript, compiled by generate/kernels.js.
//
// Every argument that is a place counts bytes in the memory that the page brings. Numbers are float32, rows lie one
// behind the other, and lengths of rows are multiples of 4, those of stored weights of 32. Each sum has one order,
// which neither the browser nor the count of rows changes: so all browsers get the same bits, and a token that is read
// alone gets those that it has in its sentence. page/core/language/plain_kernels.js has the same functions as plain
// script.

const BLOCK: usize = 32; // weights that share a scale
const Q4_1_BYTES: usize = 20;
const Q8_0_BYTES: usize = 34;
const LANE_BYTES: usize = 16;
const CACHE_LINE: usize = 64;
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
function put(to: usize, step: usize, first: v128, second: v128): usize {
  store<f32>(to, total(first));
  store<f32>(to, total(second), 4);
  return to + step;
}

// @ts-ignore: decorator
@inline
function plus(sum: v128, numbers: v128, x: v128): v128 {
  return f32x4.add(sum, f32x4.mul(numbers, x));
}

// @ts-ignore: decorator
@inline
function addTo(sum: usize, block: v128, scale: v128): void {
  v128.store(sum, plus(v128.load(sum), block, scale));
}

/** Q8_0 weights as numbers: a row of the embedding. */
export function dequantise(weights: usize, count: i32, into: usize): void {
  for (const end = into + (<usize>count << 2); into < end; ) {
    const scale = halves(v128.load16_splat(weights));
    for (let half: usize = 0; half < BLOCK; half += LANE_BYTES) {
      const packed = v128.load(weights + half, 2);
      const low = i16x8.extend_low_i8x16_s(packed), high = i16x8.extend_high_i8x16_s(packed);
      v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low)), scale));
      v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low)), scale), 16);
      v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high)), scale), 32);
      v128.store(into, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high)), scale), 48);
      into += 4 * LANE_BYTES;
    }
    weights += Q8_0_BYTES;
  }
}

/**
 * y[o] = Σ x[i] · weight[o, i], with weights in Q8_0: the scores of a row. A block's scale is applied to its sum.
 *
 * Behind the weights the memory must go on for three rows more. A word of each cache line of the row after the next is
 * read ahead, all at once: half of the time would else be spent on waiting for them, one by one.
 */
export function scores(x: usize, inputs: i32, weights: usize, outputs: i32, y: usize): void {
  const end = x + (<usize>inputs << 2);
  const length = (<usize>inputs / BLOCK) * Q8_0_BYTES;
  for (const last = y + (<usize>outputs << 2); y < last; y += 4) {
    for (let line = weights + 2 * length, to = line + length; line < to; line += 2 * CACHE_LINE) {
      load<i32>(line);
      load<i32>(line, CACHE_LINE);
    }
    let sum = f32x4.splat(0);
    for (let at = x; at < end; ) {
      let block = f32x4.splat(0);
      for (let half: usize = 0; half < BLOCK; half += LANE_BYTES) {
        const packed = v128.load(weights + half, 2);
        const low = i16x8.extend_low_i8x16_s(packed), high = i16x8.extend_high_i8x16_s(packed);
        block = plus(block, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low)), v128.load(at));
        block = plus(block, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low)), v128.load(at, 16));
        block = plus(block, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high)), v128.load(at, 32));
        block = plus(block, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high)), v128.load(at, 48));
        at += 4 * LANE_BYTES;
      }
      sum = plus(sum, block, halves(v128.load16_splat(weights)));
      weights += Q8_0_BYTES;
    }
    store<f32>(y, total(sum));
  }
}

// A weight in Q4_1 is scale · number + least. So each block's products number · x are added, and their sum times the
// scale to the sums of the other blocks; behind all blocks come the products of each least with its block's Σ x.
//
// The 16 bytes of a block are read as four words. A mask takes a number of four bits out of each, as a multiple of 1,
// 2^8, 2^16 or 2^24, without moving it, and x is divided by that beforehand: both are exact, unless x is below 10^-30.
// An *arranged* row has its x in this order, and behind them the sum of each block's x, with zeros up to whole blocks.

// Read from memory, since a browser makes a constant anew in each round of a loop.
const MASKS = memory.data<u32>([
  0xf, 0xf, 0xf, 0xf, 0xf00, 0xf00, 0xf00, 0xf00,
  0xf0000, 0xf0000, 0xf0000, 0xf0000, 0xf000000, 0xf000000, 0xf000000, 0xf000000,
], 16);
const BLOCK_BYTES: usize = 4 * BLOCK; // as float32

/** Bytes of the sums of a row's blocks. */
// @ts-ignore: decorator
@inline
function sumsBytes(inputs: i32): usize {
  return ((<usize>inputs / BLOCK + BLOCK - 1) & ~(BLOCK - 1)) << 2;
}

function arrange(x: usize, rows: i32, inputs: i32, into: usize): void {
  for (let r = 0; r < rows; r++) {
    let sums = into + (<usize>inputs << 2);
    const next = sums + sumsBytes(inputs);
    for (const end = sums; into < end; ) {
      let sum = f32x4.splat(0);
      for (let half = 0; half < 2; half++) {
        const a = v128.load(x), b = v128.load(x, 16), c = v128.load(x, 32), d = v128.load(x, 48);
        const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5), cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
        v128.store(into, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
        v128.store(into, f32x4.mul(v128.shuffle<f32>(ab, cd, 2, 3, 6, 7), f32x4.splat(1.0 / 0x100)), 16);
        const ba = v128.shuffle<f32>(a, b, 2, 6, 3, 7), dc = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
        v128.store(into, f32x4.mul(v128.shuffle<f32>(ba, dc, 0, 1, 4, 5), f32x4.splat(1.0 / 0x10000)), 32);
        v128.store(into, f32x4.mul(v128.shuffle<f32>(ba, dc, 2, 3, 6, 7), f32x4.splat(1.0 / 0x1000000)), 48);
        sum = f32x4.add(sum, f32x4.add(f32x4.add(a, b), f32x4.add(c, d)));
        x += 4 * LANE_BYTES;
        into += 4 * LANE_BYTES;
      }
      store<f32>(sums, total(sum));
      sums += 4;
    }
    for (; sums < next; sums += 4) store<f32>(sums, 0);
    into = next;
  }
}

/** The numbers in a byte of each word, 0 to 3: of its low half, times what its mask says. */
// @ts-ignore: decorator
@inline
function masked(packed: v128, byte: usize): v128 {
  return f32x4.convert_i32x4_s(v128.and(packed, v128.load(MASKS + byte * LANE_BYTES)));
}

/**
 * The numbers of a row of weights in the order of an arranged row, then each block's least; gives the next row.
 *
 * scales: of the blocks that this makes; of those of leasts it is 1.
 */
function unpack(weights: usize, inputs: i32, into: usize, scales: usize): usize {
  let least = into + (<usize>inputs << 2);
  const next = least + sumsBytes(inputs);
  for (const end = least; into < end; ) {
    const pair = halves(v128.load32_zero(weights));
    let packed = v128.load(weights, 4);
    for (let half = 0; half < 2; half++) {
      v128.store(into, masked(packed, 0));
      v128.store(into, masked(packed, 1), 16);
      v128.store(into, masked(packed, 2), 32);
      v128.store(into, masked(packed, 3), 48);
      packed = i32x4.shr_u(packed, 4);
      into += 4 * LANE_BYTES;
    }
    v128.store32_lane(scales, pair, 0);
    v128.store32_lane(least, pair, 1);
    scales += 4;
    least += 4;
    weights += Q4_1_BYTES;
  }
  for (; least < next; least += 4) store<f32>(least, 0);
  for (; into < next; into += BLOCK_BYTES) {
    store<f32>(scales, 1);
    scales += 4;
  }
  return weights;
}

/** What `matmul` gives of one arranged row, without weights being stored as numbers: a further token. */
function matmulOfRow(x: usize, inputs: i32, weights: usize, outputs: i32, spare: usize, y: usize): void {
  const sums = x + (<usize>inputs << 2);
  const size = sumsBytes(inputs);
  const length = (<usize>inputs / BLOCK) * Q4_1_BYTES;
  for (let at = spare; at < spare + 2 * size; at += LANE_BYTES) v128.store(at, f32x4.splat(0));
  for (let o = 0; o < outputs; o += 2) {
    let sum0 = f32x4.splat(0), sum1 = sum0;
    let least = spare;
    for (let at = x; at < sums; ) {
      const pairs = halves(v128.load32_lane(weights + length, v128.load32_zero(weights), 1));
      let packed0 = v128.load(weights, 4), packed1 = v128.load(weights + length, 4);
      let block0 = f32x4.splat(0), block1 = block0;
      for (let half = 0; half < 2; half++) {
        let numbers = v128.load(at);
        block0 = plus(block0, masked(packed0, 0), numbers);
        block1 = plus(block1, masked(packed1, 0), numbers);
        numbers = v128.load(at, 16);
        block0 = plus(block0, masked(packed0, 1), numbers);
        block1 = plus(block1, masked(packed1, 1), numbers);
        numbers = v128.load(at, 32);
        block0 = plus(block0, masked(packed0, 2), numbers);
        block1 = plus(block1, masked(packed1, 2), numbers);
        numbers = v128.load(at, 48);
        block0 = plus(block0, masked(packed0, 3), numbers);
        block1 = plus(block1, masked(packed1, 3), numbers);
        packed0 = i32x4.shr_u(packed0, 4);
        packed1 = i32x4.shr_u(packed1, 4);
        at += 4 * LANE_BYTES;
      }
      sum0 = plus(sum0, block0, v128.shuffle<f32>(pairs, pairs, 0, 0, 0, 0));
      sum1 = plus(sum1, block1, v128.shuffle<f32>(pairs, pairs, 2, 2, 2, 2));
      v128.store32_lane(least, pairs, 1);
      v128.store32_lane(least + size, pairs, 3);
      least += 4;
      weights += Q4_1_BYTES;
    }
    for (let at: usize = 0; at < size; ) {
      let block0 = f32x4.splat(0), block1 = block0;
      for (const next = at + BLOCK_BYTES; at < next; at += LANE_BYTES) {
        const numbers = v128.load(sums + at);
        block0 = plus(block0, v128.load(spare + at), numbers);
        block1 = plus(block1, v128.load(spare + size + at), numbers);
      }
      sum0 = f32x4.add(sum0, block0);
      sum1 = f32x4.add(sum1, block1);
    }
    y = put(y, 8, sum0, sum1);
    weights += length;
  }
}

/**
 * y[r, o] = Σ x[r, i] · weight[o, i], two outputs at a time.
 *
 * x: [rows, inputs]. weights: [outputs, inputs], in Q4_1. spare: place for rows + 3 arranged rows. y: [rows, outputs].
 * outputs must be even.
 */
export function matmul(
  x: usize, rows: i32, inputs: i32, weights: usize, outputs: i32, spare: usize, y: usize,
): void {
  const length = (<usize>inputs << 2) + sumsBytes(inputs);
  const second = spare + length; // of the two rows of weights
  const sums = second + length; // of a tile, in memory: they and the blocks are more than there are registers
  const scales = sums + 2 * TILE * LANE_BYTES;
  const arranged = sums + length;
  const apart = length / BLOCK; // bytes of the scales of a row
  arrange(x, rows, inputs, arranged);
  if (rows == 1) return matmulOfRow(arranged, inputs, weights, outputs, spare, y);
  const step = <usize>outputs << 2;
  for (let o = 0; o < outputs; o += 2) {
    weights = unpack(unpack(weights, inputs, spare, scales), inputs, second, scales + apart);
    let a = arranged;
    let to = y + (<usize>o << 2);
    let r = 0;
    for (; r + TILE <= rows; r += TILE) {
      for (let sum = sums; sum < scales; sum += LANE_BYTES) v128.store(sum, f32x4.splat(0));
      const b = a + length, c = b + length, d = c + length;
      for (let at: usize = 0, scale = scales; at < length; scale += 4) {
        let w0 = v128.load(spare + at), w1 = v128.load(second + at);
        let numbers = v128.load(a + at);
        let a0 = f32x4.mul(numbers, w0), a1 = f32x4.mul(numbers, w1);
        numbers = v128.load(b + at);
        let b0 = f32x4.mul(numbers, w0), b1 = f32x4.mul(numbers, w1);
        numbers = v128.load(c + at);
        let c0 = f32x4.mul(numbers, w0), c1 = f32x4.mul(numbers, w1);
        numbers = v128.load(d + at);
        let d0 = f32x4.mul(numbers, w0), d1 = f32x4.mul(numbers, w1);
        const next = at + BLOCK_BYTES;
        for (at += LANE_BYTES; at < next; at += LANE_BYTES) {
          w0 = v128.load(spare + at);
          w1 = v128.load(second + at);
          numbers = v128.load(a + at);
          a0 = plus(a0, numbers, w0);
          a1 = plus(a1, numbers, w1);
          numbers = v128.load(b + at);
          b0 = plus(b0, numbers, w0);
          b1 = plus(b1, numbers, w1);
          numbers = v128.load(c + at);
          c0 = plus(c0, numbers, w0);
          c1 = plus(c1, numbers, w1);
          numbers = v128.load(d + at);
          d0 = plus(d0, numbers, w0);
          d1 = plus(d1, numbers, w1);
        }
        const scale0 = v128.load32_splat(scale), scale1 = v128.load32_splat(scale + apart);
        addTo(sums, a0, scale0);
        addTo(sums + 16, a1, scale1);
        addTo(sums + 32, b0, scale0);
        addTo(sums + 48, b1, scale1);
        addTo(sums + 64, c0, scale0);
        addTo(sums + 80, c1, scale1);
        addTo(sums + 96, d0, scale0);
        addTo(sums + 112, d1, scale1);
      }
      for (let sum = sums; sum < scales; sum += 2 * LANE_BYTES) to = put(to, step, v128.load(sum), v128.load(sum, 16));
      a = d + length;
    }
    for (; r < rows; r++) {
      let sum0 = f32x4.splat(0), sum1 = sum0;
      let w = spare;
      for (let scale = scales; w < second; scale += 4) {
        let block0 = f32x4.splat(0), block1 = block0;
        for (const next = w + BLOCK_BYTES; w < next; w += LANE_BYTES) {
          const numbers = v128.load(a);
          block0 = plus(block0, numbers, v128.load(w));
          block1 = plus(block1, numbers, v128.load(w + length));
          a += LANE_BYTES;
        }
        sum0 = plus(sum0, block0, v128.load32_splat(scale));
        sum1 = plus(sum1, block1, v128.load32_splat(scale + apart));
      }
      to = put(to, step, sum0, sum1);
    }
  }
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
