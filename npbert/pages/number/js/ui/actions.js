// What a reader can do. Every button, key and drag ends in one of these.

import {addUpdate, batchAt, makeTrainer, run} from "../math/index.js";
import {maskedPositions} from "./labels.js";
import {change, state} from "./state.js";

// Compute the sentence again, forward and backward, with the model as it is now; and what the next step would do.
export function runAgain(changes = {}) {
  const trace = traceOf(changes);
  change({...changes, trace, step: Math.min(state.step, trace.steps.length - 1)});
}

// The trace of the state with these changes made to it; nothing is drawn yet.
export function traceOf(changes) {
  Object.assign(state, changes);
  const trace = run(state.model, state.example, {bug: state.bug, rival: state.rival});
  planUpdate(trace);
  return trace;
}

// The trainer's next step, as the last of a trace; where two words are compared, there is no loss to go by.
function planUpdate(trace) {
  if (!state.rival) {
    addUpdate(trace, state.trainer, nextBatch());
  }
}

// The sentences of the trainer's next step.
export function nextBatch() {
  return batchAt(state.data.examples, state.trainer.steps);
}

// A trainer that remembers nothing yet, at the learning rate of the one before it.
export function newTrainer() {
  const {optimizer} = state.data;
  return makeTrainer(state.model, {...optimizer, lr: state.trainer?.lr ?? optimizer.lr});
}

// Another learning rate.
export function setRate(lr) {
  state.trainer.lr = lr;
  planUpdate(state.trace);
  change({rate: lr});
}

// Show the update of this parameter.
export function chooseParameter(parameter) {
  forget();
  change({parameter});
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
  runAgain({rival: null, ...startOf(state.data.examples.indexOf(example))});
}

// A sentence as it came, by its number.
export function startOf(sentence) {
  const example = state.data.examples[sentence];
  return {sentence, example: {...example, labels: [...example.labels]}};
}

// Another answer for a hidden word: the loss is then that of this word. Where this was the word that the answer is
// compared with, the two change places.
export function chooseAnswer(position, word) {
  const {rival, example} = state;
  const isSame = rival?.word === word && maskedPositions()[rival.masked] === position;
  const swapped = isSame ? {...rival, word: example.labels[position]} : rival;
  runAgain({example: {...example, labels: example.labels.with(position, word)}, rival: swapped});
}

// Compare the answer of a masked word with another word, {masked, word}: backward then begins from the difference of
// their logits, and this is followed. null: it begins from the loss again.
export function compareWith(rival) {
  const chosen = rival && {name: "difference", row: 0, column: 0};
  const start = {view: "step", chosen, trail: [chosen], step: stepThatMakes(state.trace.goal)};
  runAgain({rival, ...(rival ? start : {chosen, trail: []})});
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
  runAgain({trainer: newTrainer(), changed: [], stepsTrained: 0, trainedWith: new Set(), isFresh: false});
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
  change({chosen: place, trail: [place], parameter: parameterOf(place) ?? state.parameter});
}

// From the number that is followed go on to one that it is made of, or to several, each made of the next: the stage
// shows the step that makes the last. Where that has an `example`, it is a number of this sentence, which comes on top.
export function follow(...places) {
  const {example = null, ...place} = places.pop();
  const {arrays} = state.trace;
  const isOfAll = ({name}) => !["tokens", "masked"].includes(arrays.get(name).rows);
  const trail = example ? state.trail.filter(isOfAll) : state.trail;
  if (example) {
    chooseSentence(example);
  }
  goTo(place, [...trail, ...places, place]);
}

// The name of the parameter that a number, its gradient or a part of its update belongs to; or null.
export function parameterOf({name}) {
  const parameter = name.match(/^\w+\((.+)\)$/)?.[1] ?? name;
  return state.trace.update?.parameters.includes(parameter) ? parameter : null;
}

// Back to an earlier number of the trail.
export function goBackTo(index) {
  goTo(state.trail[index], state.trail.slice(0, index + 1));
}

function goTo(place, trail) {
  const step = stepThatMakesNumber(place) ?? state.step;
  change({chosen: place, trail, step, parameter: parameterOf(place) ?? state.parameter});
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
