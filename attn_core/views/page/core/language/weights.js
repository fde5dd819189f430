// The weights of a language model in the kernels' memory: they come one after the other, in any order.

import { brief, say } from "../../words/words.js";
import { Problem } from "../problem.js";
import { isWhole } from "../state.js";

export class Weights {
  /**
   * @param {import("./shape.js").Shape} shape
   * @param {ReturnType<import("./shape.js").Shape["places"]>} places
   * @param {ArrayBuffer} memory
   */
  constructor(shape, places, memory) {
    this.shape = shape;
    this.places = places;
    this.memory = memory;
    this.hasRow = new Uint8Array(shape.vocabulary);
    this.rowsMissing = shape.vocabulary;
    this.hasLayer = new Uint8Array(shape.layers);
    this.hasNorm = false;
  }

  /**
   * Rows of the embedding, which are also those of the unembedding.
   *
   * @param {number} first the token of the first row
   * @param {Uint8Array} bytes Q8_0
   */
  addRows(first, bytes) {
    const { rowBytes, vocabulary } = this.shape;
    const rows = bytes.length / rowBytes;
    if (!isWhole(rows, vocabulary + 1) || !isWhole(first, vocabulary - rows + 1)) {
      throw new Problem(
        say("noRowsOf", { count: vocabulary, width: rowBytes, first: brief(first), got: bytes.length }),
      );
    }
    this.put(this.places.embedding + first * rowBytes, bytes);
    for (let id = first; id < first + rows; id++) {
      this.rowsMissing -= 1 - this.hasRow[id];
      this.hasRow[id] = 1;
    }
  }

  /**
   * @param {number} layer
   * @param {Uint8Array} bytes its parts in the order of shape.js: norms float32, matrices Q4_1
   */
  addLayer(layer, bytes) {
    const { layers, layerBytes } = this.shape;
    if (!isWhole(layer, layers)) throw new Problem(say("noLayerOf", { last: layers - 1, layer: brief(layer) }));
    checkBytes(bytes, layerBytes, "theLayer", { layer });
    this.put(this.places.layers[layer], bytes);
    this.hasLayer[layer] = 1;
  }

  /** @param {Uint8Array} bytes of the norm behind the last layer, float32 */
  addNorm(bytes) {
    checkBytes(bytes, this.shape.normBytes, "theNorm");
    this.put(this.places.norm, bytes);
    this.hasNorm = true;
  }

  /**
   * @param {number} at
   * @param {Uint8Array} bytes
   */
  put(at, bytes) {
    new Uint8Array(this.memory, at, bytes.length).set(bytes);
  }

  /** What scores need besides the layers, as long as it is not there; "": nothing. */
  get missing() {
    if (!this.hasNorm) return say("theNorm");
    return this.rowsMissing ? say("theRows") : "";
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} wanted
 * @param {string} key of the words for what they are
 * @param {Record<string, number>} [places]
 */
function checkBytes(bytes, wanted, key, places) {
  if (bytes?.length === wanted) return;
  throw new Problem(say("wrongBytes", { name: say(key, places), wanted, count: brief(bytes?.length) }));
}
