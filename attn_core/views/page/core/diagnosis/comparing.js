// Tables as { shape, cells }: when two are the same, and what is done to compare them.

import { Refused, shown } from "./pasted.js";

export const BESIDE = "beside";

// The heads [*, H, L, Dv] of a merged output, for each way in which it may have been merged.
export function headsOf({ shape, cells }, output) {
  if (output.length < 3 || output.at(-3) === 1) return {};
  const [H, L, Dv] = output.slice(-3);
  const fits = (...size) => String(bare({ shape: [...output.slice(0, -3), ...size] }).shape) === String(shape);
  const asHeads = (made) => ({ shape: output, cells: made });
  if (fits(H * L, Dv)) return { "heads-along-tokens": asHeads(cells) };
  if (!fits(L, H * Dv)) return {};
  const beside = Float64Array.from(cells, (_, n) => {
    const [d, i, h, b] = [n % Dv, Math.floor(n / Dv) % L, Math.floor(n / (L * Dv)) % H, Math.floor(n / (H * L * Dv))];
    return cells[((b * L + i) * H + h) * Dv + d];
  });
  return { [BESIDE]: asHeads(beside), "heads-merged-by-view": asHeads(cells) };
}

export const sameShape = (a, b) => String(a.shape) === String(b.shape);

export function bare({ shape, cells }) {
  const first = shape.findIndex((size, axis) => size !== 1 || axis === shape.length - 2);
  return { shape: shape.slice(first), cells };
}

// Half of the last decimal, if all numbers have three to five; else 0.
export function slackOf(cells) {
  const finite = cells.filter(Number.isFinite);
  const has = (places) =>
    finite.every((cell) => {
      const units = cell * 10 ** places;
      return Math.abs(units - Math.round(units)) <= Math.min(Math.abs(units) * Number.EPSILON, 0.05) + 1e-9;
    });
  const places = finite.length > 3 && !has(2) && [3, 4, 5].find(has);
  return places ? 0.5 * 10 ** -places : 0;
}

export function fits(yours, right) {
  const shapes = [...new Set(right.map((one) => shown(one.shape)))];
  if (shapes.includes(shown(yours.shape)) || shapes.includes(shown(transposed(yours).shape))) return;
  throw new Refused(`yours must have the shape of a stage, ${shapes.join(" or ")}, got ${shown(yours.shape)}`);
}

// A 1 for each cell that differs by more than slack, and a base and a share of its size.
// `empty`: masked cells; where a row has none, nan is as good as 0.
export function differing(yours, { shape, cells, sizes, room: [base, share], empty }, slack) {
  const width = shape.at(-1);
  const keys = empty ? empty.shape.at(-1) : 0;
  const isEmpty = (row) => empty?.cells.subarray(row * keys, (row + 1) * keys).every((cell) => cell === -Infinity);
  return Uint8Array.from(yours.cells, (cell, n) => {
    if (cell === cells[n] || Math.abs(cell - cells[n]) < slack + base + share * Math.abs(sizes[n])) return 0;
    return Number.isNaN(cell) && (Number.isNaN(cells[n]) || isEmpty(Math.floor(n / width))) ? 0 : 1;
  });
}

export function rowsOf(differs, shape) {
  const width = shape.at(-1);
  return Array.from({ length: differs.length / width }, (_, row) =>
    differs.subarray(row * width, (row + 1) * width).includes(1),
  );
}

export function placeOf(n, shape) {
  const place = [];
  for (const size of [...shape].reverse()) {
    place.unshift(n % size);
    n = Math.floor(n / size);
  }
  return place;
}

export function rowName(row, shape) {
  const place = placeOf(row, shape.slice(0, -1));
  const lead = place.length > 1 ? ` of [${place.slice(0, -1).join(", ")}]` : "";
  return `row ${place.at(-1)}${lead}`;
}

export function transposed({ shape, cells }) {
  const [L, S] = shape.slice(-2);
  const turned = Float64Array.from(cells, (_, n) => {
    const [start, rest] = [Math.floor(n / (L * S)) * L * S, n % (L * S)];
    return cells[start + (rest % L) * S + Math.floor(rest / L)];
  });
  return { shape: [...shape.slice(0, -2), S, L], cells: turned };
}

// The one number that turns the stage into yours, if there is one that zeros don't fit too.
export function factorOf(yours, one, slack) {
  let [both, own] = [0, 0];
  one.cells.forEach((cell, n) => {
    if (!Number.isFinite(cell) || !Number.isFinite(yours.cells[n])) return;
    both += yours.cells[n] * cell;
    own += cell * cell;
  });
  const factor = both / own;
  if (!own || factor <= 0) return null;
  const times = (cells) => cells.map((cell) => cell * factor);
  const zeros = { cells: yours.cells.map((cell) => (Number.isFinite(cell) ? 0 : cell)) };
  const [base, share] = one.room;
  const made = { ...one, cells: times(one.cells), sizes: times(one.sizes), room: [base * factor, share] };
  const differ = (from) => differing(from, made, 2 * slack).includes(1);
  return !differ(yours) && differ(zeros) ? factor : null;
}
