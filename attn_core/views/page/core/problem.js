// What the data or a reader asks for and cannot have, in a sentence.

export class Problem extends Error {}
