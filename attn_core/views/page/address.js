// The address: #x-name?stage=weights&select=1,0. Ordinary anchors stay as they are.

const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export function readAddress(name) {
  const [place, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  if (place !== `x-${name}`) return null;
  return Object.fromEntries(query.split("&").filter(Boolean).map((part) => {
    const [key, raw = ""] = part.split(/=(.*)/s);
    return [key, decoded(raw)];
  }));
}

// The part of an address that opens a state; nothing for the first one.
export function fragmentOf(name, state, first) {
  const write = (value) => encodeURIComponent(value === true ? 1 : value ?? "").replace(/%(2C|3A|2B)/g, unescape);
  const parts = Object.keys(first).filter((key) => `${state[key]}` !== `${first[key]}`)
    .map((key) => `${key}=${write(state[key])}`);
  return parts.length ? `#x-${name}?${parts.join("&")}` : "";
}

export function writeAddress(name, state, first) {
  const hash = fragmentOf(name, state, first);
  if (!hash && !location.hash.startsWith(`#x-${name}?`)) return;
  history.replaceState(history.state, "", location.pathname + location.search + hash);
}
