// The address: #x-name?stage=weights&select=1,0 opens an explorer in a state. After a semicolon stand
// the states of others, the one that was changed last first. Ordinary anchors stay as they are.

const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// Each explorer that the address names, with the text of its state.
function addressed() {
  const hash = location.hash.slice(1);
  if (!hash.startsWith("x-")) return [];
  return hash.split(/;(?=x-)/).map((part) => {
    const [place, query = ""] = part.split(/\?(.*)/s);
    return { name: place.slice(2), query };
  });
}

/**
 * The explorer to which the address leads.
 *
 * @type {() => string | undefined}
 */
export const linked = () => addressed()[0]?.name;

/**
 * Whether the page is at a step of the way that a reader took in an explorer.
 *
 * @type {(name: string) => boolean}
 */
export const isOnWay = (name) => history.state?.way === name;

/**
 * What an address asks of an explorer; null if it does not name it.
 *
 * @param {string} name
 * @returns {import("../core/state.js").State | null}
 */
export function readAddress(name) {
  const own = addressed().find((each) => each.name === name);
  if (!own) return null;
  return Object.fromEntries(
    own.query
      .split("&")
      .filter(Boolean)
      .map((part) => {
        const [key, raw = ""] = part.split(/=(.*)/s);
        return [key, decoded(raw)];
      }),
  );
}

/**
 * The part of an address that opens a state; nothing for the first one.
 *
 * @param {string} name
 * @param {import("../core/state.js").State} state
 * @param {import("../core/state.js").State} first
 */
export function fragmentOf(name, state, first) {
  const write = (value) => encodeURIComponent(value === true ? 1 : (value ?? "")).replace(/%(2C|3A|2B)/g, unescape);
  // A sentence has no plus sign, and its setting reads one as a space.
  const sentence = (text) => write(text).replaceAll("%20", "+");
  const parts = Object.keys(first)
    .filter((key) => `${state[key]}` !== `${first[key]}`)
    .map((key) => `${key}=${(key === "say" ? sentence : write)(state[key])}`);
  return parts.length ? `#x-${name}?${parts.join("&")}` : "";
}

/**
 * @param {string} name
 * @param {import("../core/state.js").State} state
 * @param {import("../core/state.js").State} first
 * @param {boolean} [isStep] of the reader's way: the way back leads to what was before
 */
export function writeAddress(name, state, first, isStep) {
  const before = addressed();
  const others = before
    .filter((each) => each.name !== name && each.query)
    .map((each) => `x-${each.name}?${each.query}`);
  const own = fragmentOf(name, state, first).slice(1);
  const hash = [own, ...others].filter(Boolean).join(";");
  const hadState = before.some((each) => each.name === name && each.query);
  if (!own && !hadState) return;
  const address = location.pathname + location.search + (hash && `#${hash}`);
  if (isStep) {
    history.replaceState({ way: name }, "");
    history.pushState({ way: name }, "", address);
  } else history.replaceState(history.state, "", address);
}
