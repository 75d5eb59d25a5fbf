// What the page shows at the moment, and who draws it again when that changes.

export const state = {
  data: null, // what export.py wrote
  model: null, // its parameters, which training changes
  trainer: null, // steps of AdamW, and what it remembers of them
  isFresh: false, // it began from random numbers, not from those that came
  stepsTrained: 0, // in the page
  sentence: 0, // which of the data's examples it began with
  example: null, // what is shown: text, input_ids, token_type_ids, labels; those it came with, `given`, the model may have guessed
  trace: null, // one forward and backward of the model on it
  earlier: null, // the trace before the training that the reader asked for last
  moved: null, // while a number is moved: {place, value, loss, arrays}, as forward then has them
  step: 0, // which of trace.steps is on the stage
  trail: [], // {name, row, column}: the numbers on the way to the one that is followed, itself the last
  get chosen() {
    return this.trail.at(-1) ?? null; // the number that is followed
  },
  bug: null, // the id of the planted bug
  rival: null, // {masked, word}: the word that the answer of a hidden word is compared with, in place of the loss
  view: "step", // which tab is open
  tour: null, // where on a guided tour: its name, and the stop's number, "table:2"
  quiz: null, // {kind, seed}, and once it is answered, isAnswered
  outside: "", // the address before the tour or the quiz: who leaves it is there again
  allWords: false, // show every word of the vocabulary, or only those that matter here
};

const watchers = [];

// draw(state) is called whenever one of these names changes.
export function watch(names, draw) {
  watchers.push({names, draw});
}

// Change the state, and draw again what depends on what changed.
export function change(changes) {
  Object.assign(state, changes);
  for (const {names, draw} of watchers) {
    if (names.some((name) => name in changes)) {
      draw(state);
    }
  }
}
