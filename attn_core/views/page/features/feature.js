// What an explorer can do besides showing a stage. A feature brings settings, controls, what follows from
// them for the numbers, and what it draws; here is one that does nothing.

export class Feature {
  static fits(explorer) {
    return !explorer.isPrint;
  }

  settings = {}; // see core/state.js
  onRequest = []; // names of controls that are shown only where they are asked for

  constructor(explorer) {
    this.explorer = explorer;
  }

  // Adds its controls, and its elements to the explorer's.
  build(_controls) {}

  // What an attention is made of ({ data, settings, formulas }) in a state of the explorer.
  derive(made, _state) {
    return made;
  }

  // A state without what is wrong on purpose.
  unspoiled(state) {
    return state;
  }

  // The state that the one that is shown is compared with, if not all as given.
  original() {
    return null;
  }

  // The state whose arithmetic is written out for this one.
  explained(state) {
    return state;
  }

  // What the sentence about a number tells: { attention, more }, more being said after it.
  compared(_place, _state) {
    return null;
  }

  // Phrases for what the reader changed, its own before those of the list.
  changes(list) {
    return list;
  }

  draw(_shown, _original) {}

  // Sentences above the matrix, once it is drawn; its own before those of the list.
  says(list) {
    return list;
  }

  // The row and the column of a place.
  light(_place) {}

  get isWide() {
    return false;
  }

  // True if it takes a cell that the reader chose, which is then not selected.
  takes(_place) {
    return false;
  }

  // The input that a number of q, k or v is, if it is one.
  inputAt(_part, _place) {
    return undefined;
  }

  // The panel has drawn its vectors, or a line at the end of the arithmetic.
  vectorsDrawn(_element) {}
  leafDrawn(_term, _line) {}
}
