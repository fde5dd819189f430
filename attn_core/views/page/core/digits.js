// How numbers are written: the rule of digits.py.

/**
 * toFixed and toExponential round exactly, but take a tie up where Python takes it to even.
 * x has its tie after p decimals exactly if x·2^(p+1) is odd.
 *
 * @type {(size: number, p: number) => boolean}
 */
export const isTie = (size, p) => (size * 2 ** (p + 1)) % 2 === 1;
/** @type {(text: string) => string} */
export const toEven = (text) =>
  text.replace(/^([\d.]*)([13579])(?=e|$)/, (_, start, digit) => `${start}${Number(digit) - 1}`);

/**
 * @param {number} size
 * @param {number} places
 */
export function decimals(size, places) {
  const text = size.toFixed(places);
  return isTie(size, places) ? toEven(text) : text;
}

/**
 * @param {number} size
 * @param {number} places
 */
export function scientific(size, places) {
  const p = places - Number(size.toExponential().split("e")[1]);
  const unit = Number(`1e${-p}`);
  let text = size.toExponential(places);
  // 9.5 went up to 10.
  if (!text.startsWith("1e") && (p < 0 ? size % unit === unit / 2 : isTie(size, p))) text = toEven(text);
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

/**
 * @param {number} x
 * @param {number} [places] decimals
 * @param {number} [most] larger numbers are written with an exponent
 */
export function fixed(x, places = 4, most = 1e6) {
  if (!Number.isFinite(x)) return `${x}`.toLowerCase().replace("inity", "");
  const size = Math.abs(x);
  let text = size < most ? decimals(size, places) : "";
  if (size && !Number(text)) text = scientific(size, Math.max(places - 3, 0));
  return x < 0 ? `-${text}` : text;
}

/**
 * The same without zeros at the end, where nothing is lost.
 *
 * @param {number} x
 * @param {number} [places]
 * @param {number} [most]
 */
export function plain(x, places, most) {
  const text = fixed(x, places, most);
  const isAll = Number(text) === x || Math.fround(Number(text)) === x;
  return isAll && /\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
}

/**
 * In a line of arithmetic, beside the number that it is multiplied by.
 *
 * @param {number} x
 * @param {number} beside
 */
export function written(x, beside = 0) {
  const [size, other] = [x, beside].map(Math.abs);
  if (size >= 1e11 && size < Infinity) return x.toExponential();
  return plain(x, other < 1000 ? 4 : 4 + `${Math.floor(Math.min(other, 1e6))}`.length, 1e11);
}
