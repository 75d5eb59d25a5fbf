// What a reader can do. Every button, key and drag ends in one of these.

import {run} from "../math/index.js";
import {change, state} from "./state.js";

// Compute the sentence again, forward and backward, with the model as it is now.
export function runAgain(changes = {}) {
  Object.assign(state, changes);
  const trace = run(state.model, state.example, {bug: state.bug});
  change({...changes, trace, step: Math.min(state.step, trace.steps.length - 1)});
}

// Show step `number`, or the nearest that there is.
export function goToStep(number) {
  const step = Math.max(0, Math.min(number, state.trace.steps.length - 1));
  if (step !== state.step) {
    change({step});
  }
}

// Another sentence: an example of the data.
export function chooseSentence(example) {
  forget();
  runAgain(startOf(state.data.examples.indexOf(example)));
}

// A sentence as it came, by its number.
export function startOf(sentence) {
  const example = state.data.examples[sentence];
  return {sentence, example: {...example, labels: [...example.labels]}};
}

// Another answer for a hidden word: the loss is then that of this word.
export function chooseAnswer(position, word) {
  const {example} = state;
  runAgain({example: {...example, labels: example.labels.with(position, word)}});
}

// Plant a bug in the backward, or take it out: null.
export function plantBug(bug) {
  runAgain({bug});
}

// Put a number of a parameter where the reader wants it: the model is then another.
export function putNumber(place, value) {
  const {name, row, column} = place;
  const others = state.changed.filter((other) => other.name !== name || other.row !== row || other.column !== column);
  putNumbers([...others, {...place, value}]);
  runAgain({changed: state.changed});
}

// Put these numbers of parameters, {name, row, column, value}, and every other that was moved back where it was.
export function putNumbers(places) {
  state.changed.toReversed().forEach((place) => putInto(place, place.was));
  state.changed = places.map((place) => ({...place, was: putInto(place, place.value)}));
}

// Returns the number that was there.
function putInto({name, row, column}, value) {
  const {re, shape} = state.model.parameters.get(name);
  const was = re[row * shape[1] + column];
  re[row * shape[1] + column] = value;
  return was;
}

// The model as it came, again.
export function takeModelBack() {
  restore(state.model, state.exported);
  runAgain({changed: [], stepsTrained: 0, trainedWith: new Set(), isFresh: false});
}

// A copy of all parameters, by name.
export function valuesOf(model) {
  return new Map([...model.parameters].map(([name, tensor]) => [name, Float64Array.from(tensor.re)]));
}

// Put such a copy back.
export function restore(model, values) {
  for (const [name, tensor] of model.parameters) {
    tensor.re.set(values.get(name));
  }
}

// Follow this number: a new trail begins.
export function choose(place) {
  change({chosen: place, trail: [place]});
}

// From the number that is followed go on to one that it is made of: the stage shows the step that makes it.
export function follow(place) {
  goTo(place, [...state.trail, place]);
}

// Back to an earlier number of the trail.
export function goBackTo(index) {
  goTo(state.trail[index], state.trail.slice(0, index + 1));
}

function goTo(place, trail) {
  const step = stepThatMakesNumber(place) ?? state.step;
  change({chosen: place, trail, step});
}

// Follow no number.
export function forget() {
  if (state.chosen) {
    change({chosen: null, trail: []});
  }
}

// The last step that writes an array, or adds to it; for a parameter the first that reads it; null for an unknown.
export function stepThatMakes(name) {
  const {steps} = state.trace;
  const makes = steps.findLastIndex((step) => step.writes.includes(name) || (step.adds ?? []).includes(name));
  const found = makes >= 0 ? makes : steps.findIndex((step) => step.reads.includes(name));
  return found >= 0 ? found : null;
}

// The same for one number: to the row of a table that is used twice, it may be an earlier step that adds.
export function stepThatMakesNumber({name, row, column}) {
  const {soFar, shape} = state.trace.arrays.get(name);
  const at = row * shape[1] + column;
  const added = soFar?.filter(({values}, index) => values[at] !== (soFar[index - 1]?.values[at] ?? 0)) ?? [];
  return added.at(-1)?.step ?? stepThatMakes(name);
}

// Is this array of the trace known when this step is done?
export function isKnown(name, step) {
  const {steps, arrays} = state.trace;
  const isMade = arrays.get(name).madeBy !== null || arrays.get(name).gradientOf !== null;
  return !isMade || stepThatMakes(name) <= step || steps[step].reads.includes(name);
}
