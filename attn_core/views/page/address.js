// The address: #x-name?stage=weights&select=1,0. Ordinary anchors stay as they are.

export function readAddress(name) {
  const [place, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  if (place !== `x-${name}`) return null;
  const wanted = {};
  for (const part of query.split("&").filter(Boolean)) {
    const [key, raw = ""] = part.split(/=(.*)/s);
    let text = raw;
    try {
      text = decodeURIComponent(raw);
    } catch {
      text = raw;
    }
    if ((key === "select" || key === "at") && text === "") wanted[key] = null;
    else if (key === "select" || key === "at") wanted[key] = text.split(",").map((n) => (n === "" ? NaN : Number(n)));
    else if (["batch", "head", "scale"].includes(key)) wanted[key] = text.trim() === "" ? NaN : Number(text);
    else wanted[key] = key === "all" ? text === "1" : text;
  }
  return wanted;
}

export function writeAddress(name, state, first) {
  const parts = Object.keys(first)
    .filter((key) => String(state[key]) !== String(first[key]))
    .map((key) => `${key}=${encodeURIComponent(key === "all" ? 1 : state[key] ?? "").replace(/%2C/g, ",").replace(/%3A/g, ":")}`);
  const isOurs = readAddress(name) !== null;
  if (!parts.length && !isOurs) return;
  const hash = parts.length ? `#x-${name}?${parts.join("&")}` : "";
  history.replaceState(history.state, "", location.pathname + location.search + hash);
}
