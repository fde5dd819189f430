// Heads by layers, where their names say which layer a head is of.

/** @typedef {{ h: number, layer: string, head: string }} Named a head with its place, its layer and its number there */

/**
 * Heads that are named by their layer, "layer 3, head 5", in layers of equally many; or nothing.
 *
 * @param {string[]} names
 * @returns {Named[][] | null}
 */
export function layersOf(names) {
  /** @type {Map<string, Named[]>} */
  const byLayer = new Map();
  for (const [h, name] of names.entries()) {
    const [, layer, head] = /^(\D*\d+\D*?)[,，] *\D*(\d+)\D*$/.exec(name) || [];
    if (!layer) return null;
    byLayer.set(layer, [...(byLayer.get(layer) || []), { h, layer, head }]);
  }
  const layers = [...byLayer.values()];
  const isInOrder = layers.flat().every(({ h }, n) => h === n);
  return isInOrder && layers.every(({ length }) => length === layers[0].length) ? layers : null;
}

/**
 * The heads that are shown with one: those of its layer, or all where there are no layers.
 *
 * @param {import("./data.js").Data} data
 * @param {number} head
 * @returns {Named[]}
 */
export function headsBeside({ H, headNames }, head) {
  const layers = headNames && layersOf(headNames);
  if (layers) return layers.find((heads) => heads.some(({ h }) => h === head)) ?? [];
  return [...Array(H).keys()].map((h) => ({ h, layer: "", head: headNames?.[h] ?? String(h) }));
}
