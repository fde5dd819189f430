// The explorer: one attention, every stage of it, and the arithmetic of every number.
// One module for the static page (<attention-explorer>), JupyterLab and Colab (anywidget's render).
// It gets q, k and v, never a map, and derives all stages itself in float64: the six formulas
// of stages.py, the masks of masks.py, the bits of dropout.py, the digits of digits.py and the
// sentences of arithmetic.py. Text reaches the page through textContent alone.

const STAGES = ["scores", "scaled", "masked", "weights", "dropped", "output"];
const MOST_SHOWN = 64;
const WINDOW = 48;
const MOST_TERMS = 16;

const WORDS = {
  scores: [["query", "q"], [" · "], ["key", "k"], ["   how well they fit"]],
  scaled: [["score × scale   so that scores don't grow with the width of q and k"]],
  masked: [["the scaled score where the mask keeps, −inf where it does not"]],
  weights: [["exp(masked − row_max) / row_sum   every row adds up to 1"]],
  dropped: [["weight / (1 − p) where it survives dropout, 0 where it does not"]],
  output: [["dropped weights of the row · column of the "], ["values", "v"]],
};

/* Digits: Python's rounding. toFixed is exact but takes ties up; Python takes them to even. */

const isOdd = (digits) => "13579".includes(digits.at(-1));
const below = (x) => x * (1 - Number.EPSILON);

function toFixedEven(x, places) {
  const tie = Math.abs(x * 2 ** (places + 1) % 2) === 1;
  const text = Math.abs(x).toFixed(places);
  const even = tie && isOdd(text) ? below(Math.abs(x)).toFixed(places) : text;
  return (x < 0 ? "-" : "") + even;
}

function toExponentialEven(x, places) {
  const size = Math.abs(x);
  let text = size.toExponential(places);
  const unit = Number(`1e${Number(text.split("e")[1]) - places}`);
  const isTie = size % unit === unit / 2;
  if (isTie && isOdd(text.split("e")[0])) text = below(size).toExponential(places);
  const [digits, power] = text.split("e");
  const exponent = power[0] + power.slice(1).padStart(2, "0");
  return `${x < 0 ? "-" : ""}${digits}e${exponent}`;
}


function fixed(x, places = 4) {
  if (!Number.isFinite(x)) return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
  if (x === 0) return (0).toFixed(places);
  if (Math.abs(x) >= 1e6) return toExponentialEven(x, Math.max(places - 3, 0));
  const text = toFixedEven(x, places);
  return Number(text) === 0 ? toExponentialEven(x, Math.max(places - 3, 0)) : text;
}

function plain(x, places = 4) {
  const text = fixed(x, places);
  if (!text.includes(".") || text.includes("e")) return text;
  if (Number(text) !== x && Math.fround(Number(text)) !== x) return text;
  return text.replace(/0+$/, "").replace(/\.$/, "");
}
