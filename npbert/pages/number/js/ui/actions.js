// What a reader can do. Every button, key and drag ends in one of these.

import {run} from "../math/run.js";
import {probabilitiesIn, stepsOf} from "../math/steps.js";
import {addUpdate, batchAt, makeTrainer} from "../math/train.js";
import {arrayNamed, bestOf, steepestWeight} from "./labels.js";
import {change, state} from "./state.js";

// Compute the sentence again, forward and backward, with the model as it is now; and what the next step would do.
export function runAgain(changes) {
  const trace = traceOf(changes);
  change({earlier: null, ...changes, trace, moved: null, step: Math.min(state.step, trace.steps.length - 1)});
}

// The trace of the state with these changes made to it; nothing is drawn yet. `right`: the one without a bug.
export function traceOf(changes) {
  Object.assign(state, changes);
  const {model, example, bug, rival} = state;
  const trace = run(model, example, {bug, rival});
  trace.right = bug ? run(model, example, {rival}) : trace;
  trace.steps = stepsOf(trace);
  trace.probabilities = probabilitiesIn(trace, trace.arrays);
  planUpdate(trace);
  return trace;
}

// The trainer's next step, as the last of a trace; where two words are compared, there is no loss to go by.
function planUpdate(trace) {
  if (!state.rival) {
    addUpdate(trace, state.trainer, nextBatch());
  }
}

export const nextBatch = () => batchAt(state.data.examples, state.trainer.steps);

// A trainer that remembers nothing yet.
export function newTrainer(lr) {
  return makeTrainer(state.model, {...state.data.optimizer, lr});
}

export function setRate(lr) {
  state.trainer.lr = lr;
  planUpdate(state.trace);
  change({rate: lr});
}

// Show step `number`, or the nearest that there is.
export function goToStep(number) {
  const step = Math.max(0, Math.min(number, state.trace.steps.length - 1));
  if (step !== state.step) {
    change({step});
  }
}

// Another sentence: an example of the data, or one that was made here.
export function chooseSentence(example) {
  const sentence = state.data.examples.indexOf(example);
  runAgain({trail: [], rival: null, example, sentence: Math.max(0, sentence)});
}

export const maskId = () => state.data.vocabulary.indexOf("[MASK]");

// A line that the reader has typed, as an example; or the words that the vocabulary lacks. Without a [MASK], its last
// word is hidden; what is right for a [MASK] is what the model guesses.
export function exampleOfLine(line) {
  const {model, data} = state;
  const {vocabulary, config} = data;
  const words = line.replaceAll("[MASK]", " [MASK] ").split(/\s+/).filter(Boolean);
  const ids = words.map((word) => Math.max(vocabulary.indexOf(word), vocabulary.indexOf(word.toLowerCase())));
  const unknown = words.filter((_, n) => ids[n] < 0);
  const most = Math.min(16, config.max_position_embeddings) - 2;
  if (!words.length || unknown.length || words.length > most) {
    return {unknown, most};
  }
  const input_ids = [vocabulary.indexOf("[CLS]"), ...ids, vocabulary.indexOf("[SEP]")];
  const token_type_ids = input_ids.map(() => 0);
  const labels = input_ids.map((id) => (id === maskId() ? 0 : -100));
  const example = {text: line, line, input_ids, token_type_ids, labels, given: labels, isGuessed: true};
  if (!ids.includes(maskId())) {
    return hidden(example, ids.length);
  }
  const trace = run(model, example, {backward: false});
  for (const {position, values} of probabilitiesIn(trace, trace.arrays)) {
    labels[position] = bestOf(values, 1)[0];
  }
  return example;
}

// The example in which the word at this place is hidden, and no other.
export function hidden(example, position) {
  const shown = example.input_ids.map((id, n) => (example.labels[n] >= 0 ? example.labels[n] : id));
  const labels = shown.map((id, n) => (n === position ? id : -100));
  const input_ids = shown.with(position, maskId());
  return {...example, hides: position, input_ids, labels, given: labels, isGuessed: false};
}

// With another answer for a hidden word: the loss is then that of this word.
export const answered = (example, position, word) => ({...example, labels: example.labels.with(position, word)});

// Compare the answer of a hidden word with another word, {masked, word}: backward then begins from the difference of
// their logits, and this is followed. null: it begins from the loss again.
export function compareWith(rival) {
  runAgain({rival, view: "step", trail: [], step: rival ? state.trace.program.length - 1 : state.step});
}

// Follow this number: a new trail begins.
export function choose(place) {
  change({trail: [place], moved: null});
}

// From the number that is followed go on to one that it is made of, or to several, each made of the next: the stage
// shows the step that makes the last. Where that has an `example`, it is a number of this sentence, which comes on top.
export function follow(...places) {
  const {example = null, ...place} = places.pop();
  const isOfAll = ({name}) => !["tokens", "masked"].includes(arrayNamed(name).rows);
  const trail = example ? state.trail.filter(isOfAll) : state.trail;
  if (example) {
    chooseSentence(example);
  }
  goTo(place, [...trail, ...places, place]);
}

// The parameter whose update is shown: that of the followed number, or the steepest.
export const updatedParameter = () => (state.chosen && parameterOf(state.chosen)) ?? steepestWeight().name;

// The name of the parameter that a number, its gradient or a part of its update belongs to; or null.
export function parameterOf({name}) {
  const parameter = name.match(/^\w+\((.+)\)$/)?.[1] ?? name;
  return state.trace.update?.parameters.includes(parameter) ? parameter : null;
}

export const goBackTo = (index) => goTo(state.trail[index], state.trail.slice(0, index + 1));

function goTo(place, trail) {
  const step = stepThatMakesNumber(place) ?? state.step;
  change({trail, step, moved: null});
}

// The last step that writes an array, or adds to it; for a parameter the first that reads it; null for an unknown.
export function stepThatMakes(name) {
  const found = arrayNamed(name).madeBy ?? state.trace.steps.findIndex(({reads}) => reads.includes(name));
  return found >= 0 ? found : null;
}

// The same for one number: to the row of a table that is used twice, it may be an earlier step that adds, or `here`.
export function stepThatMakesNumber({name, row, column}, here = null) {
  const {soFar, shape} = arrayNamed(name);
  const at = row * shape[1] + column;
  const added = soFar?.filter(({values}, index) => values[at] !== (soFar[index - 1]?.values[at] ?? 0)) ?? [];
  return (added.find(({step}) => step === here) ?? added.at(-1))?.step ?? stepThatMakes(name);
}

// What a gradient to which several steps add was after step `step`; of all else, its values.
export const valuesAfter = (array, step) =>
  array.soFar?.findLast((entry) => entry.step <= step)?.values ?? array.values;
