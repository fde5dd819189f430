// What few pages need stands in scripts of its own: here each puts what it gives, once it has run.

export const parts = {};
