// What computes a language model in a page: WebAssembly with SIMD, or plain script where a browser has none.

import { say } from "../../words/words.js";
import { bytesOf } from "../arrays.js";
import { Problem } from "../problem.js";
import { PlainKernels } from "./plain_kernels.js";

const PAGE_BYTES = 2 ** 16; // the unit of WebAssembly's memory

/**
 * The functions of attn_core/views/kernels/kernels.ts, which describes them. Places count bytes in `memory`.
 *
 * @typedef {object} Kernels
 * @property {ArrayBuffer} memory
 * @property {number} start the first byte that the kernels do not use themselves
 * @property {(weights: number, count: number, into: number) => void} dequantise
 * @property {(x: number, inputs: number, weights: number, outputs: number, y: number) => void} scores
 * @property {(x: number, rows: number, inputs: number, weights: number, outputs: number, spare: number,
 *   y: number) => void} matmul
 * @property {(x: number, rows: number, width: number, gain: number, eps: number, y: number) => void} rmsNorm
 * @property {(table: number, positions: number, headDim: number, rates: number) => void} rotaryTable
 * @property {(x: number, rows: number, heads: number, headDim: number, table: number) => void} rotate
 * @property {(q: number, k: number, v: number, rows: number, first: number, heads: number, kvHeads: number,
 *   headDim: number, hidden: number, spare: number, y: number) => void} attend
 * @property {(gate: number, up: number, count: number) => void} swiglu
 * @property {(x: number, y: number, count: number) => void} add
 */

/**
 * Kernels with so much memory, and what they use of it themselves.
 *
 * @param {number} bytes
 * @param {string} compiled KERNELS of views/built/kernels.js; "": plain script
 * @returns {Promise<Kernels>}
 */
export async function loadKernels(bytes, compiled) {
  const binary = bytesOf(compiled);
  try {
    const module = await compiledOf(binary);
    return module ? await simdKernels(bytes, module) : new PlainKernels(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Problem(say("tooLittleMemory", { megabytes: Math.ceil(bytes / 1e6) }));
  }
}

/**
 * Nothing where the browser knows no SIMD, or the page's security policy forbids WebAssembly.
 *
 * @param {Uint8Array<ArrayBuffer>} binary
 */
async function compiledOf(binary) {
  try {
    return globalThis.WebAssembly?.validate(binary) ? await WebAssembly.compile(binary) : null;
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) return null;
    throw error;
  }
}

/**
 * @param {number} bytes
 * @param {WebAssembly.Module} module
 * @returns {Promise<Kernels>}
 */
async function simdKernels(bytes, module) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) + 1 });
  const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
  const made = /** @type {any} */ (exports);
  return { ...made, memory: memory.buffer, start: Math.ceil(made.start() / 16) * 16 };
}
