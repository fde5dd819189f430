// What an explorer can do besides showing a stage. A feature brings settings, controls, what follows from
// them for the numbers, and what it draws; here is one that does nothing.

/**
 * @typedef {import("../core/attention.js").Attention} Attention
 * @typedef {import("../core/state.js").State} State
 *
 * @typedef {object} Made what an attention is made of
 * @property {import("../core/data.js").Data} data
 * @property {import("../core/attention.js").Settings} settings
 * @property {Record<string, import("../core/formulas.js").Formula>} [formulas]
 * @property {import("../core/difference.js").Runs} [runs]
 */

export class Feature {
  /** @param {any} explorer */
  static fits(explorer) {
    return !explorer.isPrint;
  }

  /** @type {import("../core/state.js").Settings} */
  settings = {};
  /** @type {string[]} names of controls that are shown only where they are asked for */
  onRequest = [];

  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
  }

  /**
   * Adds its controls, and its elements to the explorer's.
   *
   * @param {import("../ui/controls.js").Controls} _controls
   */
  build(_controls) {}

  /** The explorer shows other data from now on. */
  take() {}

  /**
   * What an attention is made of ({ data, settings, formulas }) in a state of the explorer.
   *
   * @param {Made} made
   * @param {State} _state
   * @returns {Made}
   */
  derive(made, _state) {
    return made;
  }

  /**
   * A state without what is wrong on purpose.
   *
   * @param {State} state
   */
  unspoiled(state) {
    return state;
  }

  /**
   * The state that the one that is shown is compared with, if not all as given.
   *
   * @returns {State | null}
   */
  original() {
    return null;
  }

  /**
   * The state whose arithmetic is written out for this one.
   *
   * @param {State} state
   */
  explained(state) {
    return state;
  }

  /**
   * What the sentence about a number tells: { attention, more }, more being said after it.
   *
   * @param {number[]} _place
   * @param {State} _state
   * @returns {{ attention: Attention, more: string[] } | null}
   */
  compared(_place, _state) {
    return null;
  }

  /**
   * Phrases for what the reader changed, its own before those of the list.
   *
   * @param {string[]} list
   */
  changes(list) {
    return list;
  }

  /**
   * @param {Attention} _shown
   * @param {Attention} _original
   */
  draw(_shown, _original) {}

  /**
   * Sentences above the matrix, once it is drawn; its own before those of the list.
   *
   * @param {string[]} list
   */
  says(list) {
    return list;
  }

  /**
   * The row and the column of a place.
   *
   * @param {number[] | null} _place
   */
  light(_place) {}

  get isWide() {
    return false;
  }

  /**
   * True if it takes a cell that the reader chose, which is then not selected.
   *
   * @param {number[]} _place
   * @returns {boolean}
   */
  takes(_place) {
    return false;
  }

  /**
   * The input that a number of q, k or v is, if it is one.
   *
   * @param {string} _part
   * @param {number[]} _place
   * @returns {string | undefined}
   */
  inputAt(_part, _place) {
    return undefined;
  }

  /**
   * The panel has drawn its vectors, or a line at the end of the arithmetic.
   *
   * @param {Element} _element
   */
  vectorsDrawn(_element) {}
  /**
   * @param {import("../core/workings.js").Term} _term
   * @param {Element} _line
   */
  leafDrawn(_term, _line) {}
}

/** A feature that changes what weights follow from: it needs weights that follow from something. */
export class Change extends Feature {
  static fits(explorer) {
    return Feature.fits(explorer) && !explorer.data.given;
  }
}
