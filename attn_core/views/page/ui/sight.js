// What a press changes may be out of sight: then the page scrolls to it, no farther than it takes, and so that what was
// pressed stays in sight as long as there is room.

const EDGE = 8; // pixels between what is shown and the edge
const LEAST = 64; // pixels of what is shown: a sentence of two lines; with less room, what was pressed leaves
const FINGER = 44; // pixels of what was pressed, if that is something large

/** @type {{ target: Element, below: number } | null} what was pressed last, and how far below its top */
let pressed = null;

addEventListener(
  "pointerup",
  ({ target, clientY }) => {
    pressed = target instanceof Element ? { target, below: clientY - target.getBoundingClientRect().top } : null;
  },
  true,
);
addEventListener(
  "keydown",
  ({ target }) => {
    pressed = target instanceof Element ? { target, below: 0 } : null;
  },
  true,
);

/** @typedef {{ top: number, bottom: number }} Span from above to below, on the screen */

/** @returns {Span | null} */
function pressedSpan() {
  if (!pressed?.target.isConnected) return null;
  const box = pressed.target.getBoundingClientRect();
  const top = box.top + Math.max(0, pressed.below - FINGER);
  return { top, bottom: Math.min(box.bottom, top + FINGER) };
}

/**
 * In which box an element is scrolled: that of the page, or of a notebook.
 *
 * @param {Element} element
 */
function scrollerOf(element) {
  for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return document.scrollingElement ?? document.documentElement;
}

/** What of a box is seen, without what the page lays over its top. @param {Element} scroller @returns {Span} */
function seenOf(scroller) {
  const isPage = scroller === document.scrollingElement;
  const { top, bottom } = isPage ? { top: 0, bottom: innerHeight } : scroller.getBoundingClientRect();
  const covered = Number.parseFloat(getComputedStyle(scroller).scrollPaddingTop) || 0;
  return { top: Math.max(0, top) + covered + EDGE, bottom: Math.min(innerHeight, bottom) - EDGE };
}

/**
 * How far down, or up, it takes to see all of a box, or as much from its top as there is room for.
 *
 * @param {Span} box
 * @param {Span} seen
 * @param {Span | null} held stays in sight
 */
function wayTo(box, seen, held) {
  if (box.bottom > seen.bottom) {
    const most = Math.min(box.top, held?.top ?? Infinity) - seen.top;
    return Math.max(0, Math.min(box.bottom - seen.bottom, most));
  }
  const most = (held?.bottom ?? -Infinity) - seen.bottom;
  return Math.min(0, Math.max(box.top - seen.top, most));
}

/**
 * Shows what a press changed.
 *
 * @param {Element} element
 * @param {number} [least] pixels from its top that are more important than what was pressed
 */
export function bringIntoSight(element, least = LEAST) {
  const box = element.getBoundingClientRect();
  if (!box.height) return;
  const scroller = scrollerOf(element);
  const seen = seenOf(scroller);
  const held = wayTo(box, seen, pressedSpan());
  const start = box.top - held;
  const isSeen = start > seen.top - 1 && start + Math.min(box.height, least) <= seen.bottom;
  const top = isSeen ? held : wayTo(box, seen, null);
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
  if (top) scroller.scrollBy({ top, behavior });
}
