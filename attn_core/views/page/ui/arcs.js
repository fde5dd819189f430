// The way of an arc from one word to another, wherever the lines of a text put them.

const TALLEST = 120; // pixels
const LOOP = { wide: 13, high: 30 }; // pixels

/**
 * From one word to another in its row, or back to itself: above it, as far as the row above leaves room. To a word in
 * another row: from below the upper one, so that neighbouring rows are not crossed.
 *
 * @typedef {{ x: number, top: number, bottom: number }} Box
 * @type {(from: Box, to: Box, room: number) => string}
 */
export function arc(from, to, room) {
  if (from === to) {
    const { x, top } = from;
    const high = top - LOOP.high;
    return `M${x} ${top} C${x - LOOP.wide * 2} ${high} ${x + LOOP.wide * 2} ${high} ${x} ${top}`;
  }
  if (from.bottom <= to.top) return joined(from.x, from.bottom, to.x, to.top);
  if (to.bottom <= from.top) return joined(from.x, from.top, to.x, to.bottom);
  const high = Math.min(room, 14 + Math.abs(to.x - from.x) * 0.32);
  const peak = from.top - high * 1.3;
  return `M${from.x} ${from.top} C${from.x} ${peak} ${to.x} ${peak} ${to.x} ${to.top}`;
}

/** @type {(x: number, y: number, toX: number, toY: number) => string} */
export function joined(x, y, toX, toY) {
  const half = (y + toY) / 2;
  return `M${x} ${y} C${x} ${half} ${toX} ${half} ${toX} ${toY}`;
}

/** What is free above a word: above the first row, or up to the one before. @type {(box: Box, all: Box[]) => number} */
export function roomAbove({ top }, all) {
  const above = all.filter(({ bottom }) => bottom <= top).map(({ bottom }) => bottom);
  return (above.length ? top - Math.max(...above) : TALLEST) - 8;
}

/**
 * Where a word is in the box of the arcs.
 *
 * @type {(around: DOMRect, word: Element) => Box}
 */
export function boxIn(around, word) {
  const { left, width, top, bottom } = word.getBoundingClientRect();
  return { x: left + width / 2 - around.left, top: top - around.top, bottom: bottom - around.top };
}
