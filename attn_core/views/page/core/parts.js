// What few pages need stands in scripts of its own: here each puts what it brings, once it has run.

/** By the name of the script. @type {Record<string, any>} */
export const parts = {};
/** Further kinds of matrix, as classes like ui/grid.js: the first that fits the data is taken. @type {any[]} */
export const views = [];
/** What explorers can do besides, as classes: see features/feature.js. @type {any[]} */
export const features = [];
