// How numbers are written: the rule of digits.py.

export const isOdd = (text) => "13579".includes(text[text.length - 1]);
export const justBelow = (x) => x * (1 - Number.EPSILON);

// toFixed and toExponential round exactly, but take a tie up where Python takes it to even.
// x has its tie after p decimals exactly if x·2^(p+1) is odd.
export const isTie = (size, p) => (size * 2 ** (p + 1)) % 2 === 1;

export function decimals(size, places) {
  const text = size.toFixed(places);
  return isTie(size, places) && isOdd(text) ? justBelow(size).toFixed(places) : text;
}

export function scientific(size, places) {
  const p = places - Number(size.toExponential().split("e")[1]);
  const unit = Number(`1e${-p}`);
  let text = size.toExponential(places);
  if (p < 0 ? size % unit === unit / 2 : isTie(size, p)) {
    const lower = justBelow(size).toExponential(places);
    if (!isOdd(lower.split("e")[0])) text = lower;
  }
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

export function fixed(x, places = 4) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
  const size = Math.abs(x);
  let text = size < 1e6 ? decimals(size, places) : "";
  if (size >= 1e6 || (size > 0 && Number(text) === 0)) {
    text = scientific(size, Math.max(places - 3, 0));
  }
  return x < 0 ? `-${text}` : text;
}

export function plain(x, places = 4) {
  const text = fixed(x, places);
  if (!text.includes(".") || text.includes("e")) return text;
  if (Number(text) !== x && Math.fround(Number(text)) !== x) return text;
  return text.replace(/0+$/, "").replace(/\.$/, "");
}
