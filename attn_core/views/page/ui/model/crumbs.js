// The path that led to an open number, as buttons that go back.

import { make } from "../dom.js";

const MOST = 6; // of a longer path the first number and the last ones

/**
 * @param {{ name: string, trail: string[] }[]} above the numbers above the open one
 * @param {(trail: string[]) => void} go
 */
export function crumbs(above, go) {
  const all = above.map(({ name, trail }) =>
    make("li", {}, make("button", { type: "button", class: "am-crumb", onclick: () => go(trail) }, name)),
  );
  if (all.length <= MOST) return all;
  return [all[0], make("li", {}, "…"), ...all.slice(1 - MOST)];
}
