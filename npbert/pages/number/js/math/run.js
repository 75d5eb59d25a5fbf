// run: one sentence forward, then backward, as a trace: the loss, every array, every step. Where two guesses are
// compared, backward begins from their difference: what is said here of the loss is then said of it; `goal` names it.

import {maskedWordLoss} from "./bert.js";
import {backwardWith, isBroken, isLeftOut} from "./bugs.js";
import {headIn, withoutHead} from "./heads.js";
import {NamedArray, Recorder, tensorsOf} from "./recorder.js";
import {add, tensorOf} from "./tensor.js";
import {addWords} from "./two_guesses.js";
import {subscript} from "./words.js";

// A model for the page, from what npbert exported.
export function makeModel(data) {
  const tensors = (numbers) => new Map(
    Object.entries(numbers ?? {}).map(([name, {shape, values}]) => [name, tensorOf(shape, values)]));
  const matrices = Object.keys(data.parameters).filter((name) => data.parameters[name].shape.length > 1);
  return {
    config: data.config,
    vocabulary: data.vocabulary,
    parameters: tensors(data.parameters),
    constants: tensors(data.constants), // fixed positions, in a model that has them
    matrices: new Set(matrices), // weight decay is for these alone
  };
}

// Forward, and backward unless `backward` is false. bug: the id of one of BUGS, planted in backward. rival: {masked,
// word}, to compare the label of the masked word with another word.
export function run(model, example, options) {
  const trace = computed(model, example, options);
  const {records} = trace.recorder;
  trace.steps = [...records.map(forwardStep), ...records.toReversed().filter(({back}) => back).map(backwardStep)];
  trace.probabilities = probabilities(trace);
  return trace;
}

// The same without what is only shown: the steps, and the probabilities of the words.
export function computed(model, example, {bug = null, backward = true, rival = null} = {}) {
  const recorder = new Recorder(model, example);
  const loss = maskedWordLoss(recorder, example, rival);
  const trace = {
    loss: loss.tensor.re[0],
    goal: loss.name, // the word for it: loss, or difference
    recorder,
    example,
    bug,
    arrays: new Map(recorder.arrays), // every array by name, with its gradient and its workings
  };
  if (backward) goBack(trace, loss);
  if (backward && rival) addWords(trace);
  return trace;
}

// The chain rule, from ∂loss/∂loss = 1: the steps in reverse order, each given what the one after it returned.
function goBack(trace, loss) {
  const {records} = trace.recorder;
  const first = new NamedArray(gradientOf(loss, loss), tensorOf([1], [1]), loss.tokens, records.length);
  trace.arrays.set(first.name, first);
  records.toReversed().forEach((record, n) => undo(trace, record, records.length + n));
}

// index: of the step that undoes it. record.back: what has come back to the outputs, and what this step brings back.
function undo({bug, arrays, recorder, goal}, record, index) {
  const {operation, inputs, outputs, settings} = record;
  const dys = {}, found = {};
  for (const key in outputs) {
    const dy = arrays.get(outputs[key].gradient);
    if (dy) dys[`d${key}`] = dy;
  }
  const gradients = backwardWith(bug, record)(tensorsOf(dys), tensorsOf({...inputs, ...outputs}), settings);
  for (const key in gradients) {
    const about = aboutFound(record, key, arrays.get(goal));
    const origins = [{record, key, tensor: gradients[key]}];
    found[key] = new NamedArray({...about, origins}, gradients[key], recorder.tokens, index);
    const before = arrays.get(about.name);
    if (before) addTo(before, found[key]); // a tied table: both of its uses add to one gradient
    else arrays.set(about.name, found[key]);
  }
  record.back = {index, bug, dys, found};
}

function addTo(sum, {tensor, madeBy, origins}) {
  sum.soFar ??= [{step: sum.madeBy, values: sum.values}];
  sum.tensor = add(sum.tensor, tensor);
  sum.soFar.push({step: madeBy, values: sum.values});
  sum.origins.push(...origins);
}

// What is said of the array that backward calls `key`: the gradient of an input or output, or a working of its own.
function aboutFound({operation, inputs, outputs, settings, part}, key, goal) {
  const of = key.startsWith("d") ? inputs[key.slice(1)] ?? outputs[key.slice(1)] : undefined;
  if (of) return gradientOf(of, goal);
  const {symbol, meaning} = operation.workings[withoutHead(key)];
  const {rows} = Object.values(outputs).at(-1);
  const head = headIn(key);
  const ofHead = typeof symbol === "function" ? symbol(settings.heads > 1 ? subscript(head) : "") : symbol;
  const about = {name: `${part}.${key}`, symbol: ofHead, meaning, rows, columns: "one", head};
  return {...about, isGradient: true, gradient: null};
}

function gradientOf({name, symbol, gradient, gradientSymbol, rows, columns, head}, goal) {
  const road = gradient === `d(${name})` ? "" : " on this road";
  const meaning = `How fast the ${goal.name} moves with ${symbol}${road}: ∂${goal.symbol}/∂${symbol}.`;
  const about = {name: gradient, symbol: gradientSymbol, rows, columns, head, meaning};
  return {...about, isGradient: true, gradientOf: name, gradient: null};
}

// ---- the steps, for the page ----

const namesOf = (arrays) => [...new Set(Object.values(arrays).map(({name}) => name))];

// What both ways of a step have in common. kept: what forward keeps on the tape, and backward takes off again. ids: of a
// lookup it keeps which rows were read: how many ids these are. names: what npbert's layer calls the arrays that go in
// and come out, and their gradients, beside their symbols.
function aboutStep({part, operation, inputs, outputs, settings}) {
  const named = Object.entries({...inputs, ...outputs});
  const kept = named.filter(([key]) => operation.keeps.includes(withoutHead(key))).map(([, array]) => array);
  const names = named.filter(([key]) => /^[xyhqkvc]$/.test(key)).flatMap(([key, {symbol, gradientSymbol}]) =>
    [[key, symbol], [`d${key}`, gradientSymbol]]);
  const ids = operation.keepsOf?.(settings).length ?? 0;
  return {kept: namesOf(kept), ids, about: {part, kind: operation.kind, names}};
}

function forwardStep(record) {
  const {index, title, formula, operation, inputs, outputs} = record;
  const {kept, ids, about} = aboutStep(record);
  const writes = operation.kind === "Fork" ? [] : namesOf(outputs);
  return {index, phase: "forward", ...about, title, formula, reads: namesOf(inputs), writes, tape: {keeps: kept, ids}};
}

function backwardStep(record) {
  const {title, operation, inputs, outputs, back: {index, bug, dys, found}} = record;
  const {kept, ids, about} = aboutStep(record);
  const weights = Object.entries(inputs).filter(([, {parameter}]) => parameter);
  return {
    index, phase: "backward", ...about, undoes: record.index,
    title: `back: ${title}`, formula: operation.undoing({...inputs, ...outputs}),
    reads: [...namesOf(dys), ...kept, ...namesOf(Object.fromEntries(weights))], writes: namesOf(found),
    adds: weights.filter(([key]) => found[`d${key}`]).map(([key]) => found[`d${key}`].name),
    leftOut: Object.keys(found).filter((key) => isLeftOut(bug, record, key)).map((key) => found[key].name),
    tape: {takes: kept, ids}, isBroken: isBroken(bug, record),
  };
}

// Of each masked word: where it is, which word was hidden there, and the probability of every word.
function probabilities(trace) {
  const {values, shape: [, words]} = trace.arrays.get("p");
  const {labels} = trace.recorder.records.at(-1).settings;
  return trace.recorder.tokens.masked.map((position, m) =>
    ({position, label: labels[m], values: values.slice(m * words, (m + 1) * words)}));
}
