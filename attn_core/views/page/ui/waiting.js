// Explorers start when they come near: in view, by the Tab key, by a link, on paper. Until then there is
// the table that a page without scripts has.

const ROOM = 800; // pixels above and below what is in view
const waiting = new Map(); // elements in the order of the page, each with what starts it

// What is not seen yet leaves the page its time for what is.
/** @type {(act: () => void) => void} */
const whenIdle = (act) => (window.requestIdleCallback ? requestIdleCallback(act, { timeout: 500 }) : setTimeout(act));

const observer = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target, boundingClientRect: box } of seen) {
      if (!isIntersecting) continue;
      if (isInView(box)) startNow(target);
      else whenIdle(() => startNow(target));
    }
  },
  { rootMargin: `${ROOM}px` },
);

/** @param {DOMRectReadOnly} box */
const isInView = ({ top, bottom }) => top < innerHeight && bottom > 0;

/** @param {Element} element */
function isSeen(element) {
  const [box] = element.getClientRects();
  return !!box && isInView(box);
}

/** @param {Element} element */
export function startNow(element) {
  const start = waiting.get(element);
  waiting.delete(element);
  observer.unobserve(element);
  start?.();
}

/**
 * @param {Element} element
 * @param {() => void} start
 * @param {boolean} [isFirst] the page begins with it, so that nobody needs to ask where it is: that takes long
 */
export function startWhenNear(element, start, isFirst) {
  waiting.set(element, start);
  if (isFirst || (!document.querySelector("[first]") && isSeen(element))) startNow(element);
  else observer.observe(element);
}

// Tab leads to what is next, though it may be far from what is in view.
addEventListener(
  "keydown",
  ({ key }) => {
    if (key !== "Tab") return;
    const here = document.activeElement || document.body;
    const isAfter = (element) => here.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
    const seen = [...waiting.keys()].filter((element) => element.getClientRects().length);
    for (const element of [seen.findLast((each) => !isAfter(each)), seen.find(isAfter)]) if (element) startNow(element);
  },
  true,
);

// Where a still stands beside an explorer, that is what is printed.
addEventListener("beforeprint", () => {
  for (const element of [...waiting.keys()]) if (!element.matches(":has(+ .ax-still)")) startNow(element);
});

/**
 * Where the browser does not see to it: what is in view stays there when something above it grows.
 *
 * @param {Element} element
 * @param {() => void} grow
 */
export function keepPlace(element, grow) {
  if (CSS.supports("overflow-anchor", "auto")) return grow();
  const before = element.getBoundingClientRect();
  grow();
  if (before.bottom <= 0) scrollBy(0, element.getBoundingClientRect().height - before.height);
  return undefined;
}
