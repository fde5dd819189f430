// The steps that read what the model would say if it ended behind a layer.

/** Their names begin so. @param {number} layer */
export const lensOf = (layer) => `lens.${layer}`;

export const LENS = 3; // words that are named behind each layer
