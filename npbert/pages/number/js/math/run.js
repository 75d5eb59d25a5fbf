// run: one sentence forward, then backward, as a trace: the loss, every array, every step. Where two guesses are
// compared, backward begins from their difference: what is said here of the loss is then said of it; `goal` names it.

import {maskedWordLoss} from "./bert.js";
import {isLeftOut, spoiled} from "./bugs.js";
import {headIn, NamedArray, Recorder, tensorsOf, withoutHead} from "./recorder.js";
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
export function run(model, example, {bug = null, backward = true, rival = null} = {}) {
  const recorder = new Recorder(model, example);
  const loss = maskedWordLoss(recorder, example, rival);
  const trace = {
    loss: loss.tensor.re[0],
    goal: loss.name, // the word for it: loss, or difference
    recorder,
    example,
    bug,
    steps: recorder.records.map(forwardStep),
    named: new Map(recorder.arrays), // every array, with its gradient and its workings
    origins: new Map(), // name → where it was made: the step, what its operation calls it, what it brings of a gradient
  };
  for (const record of recorder.records) {
    if (record.operation.kind === "Fork") continue; // nothing is made: all roads are x itself
    for (const [key, array] of Object.entries(record.outputs)) trace.origins.set(array.name, [{record, key}]);
  }
  if (backward) goBack(trace, recorder.records, loss, bug);
  if (backward && rival) addWords(trace);
  trace.arrays = new Map([...trace.named.values()].map((array) => [array.name, asPlainObject(array, trace)]));
  trace.probabilities = probabilities(trace);
  return trace;
}

// The chain rule, from ∂loss/∂loss = 1: the steps in reverse order, each given what the one after it returned.
function goBack(trace, records, loss, bug) {
  const first = new NamedArray(gradientOf(loss, loss), tensorOf([1], [1]), loss.tokens, trace.steps.length);
  trace.named.set(first.name, first);
  trace.origins.set(first.name, []);
  for (const record of records.toReversed()) undo(trace, record, bug);
}

function undo(trace, record, bug) {
  const {operation, inputs, outputs, settings} = record;
  const dys = {}; // what has come back to the outputs
  for (const key in outputs) {
    const dy = trace.named.get(outputs[key].gradientName);
    if (dy) dys[`d${key}`] = dy;
  }
  const given = tensorsOf(dys), read = {...tensorsOf(inputs), ...tensorsOf(outputs)};
  const gradients = spoiled(bug, record, given, read, operation.backward(given, read, settings));
  const index = trace.steps.length;
  const writes = [], adds = [], leftOut = [];
  for (const key in gradients) {
    const array = new NamedArray(aboutFound(record, key, trace), gradients[key], trace.recorder.tokens, index);
    const before = trace.named.get(array.name);
    if (before) addTo(before, array, index); // a tied table: both of its uses add to one gradient
    else trace.named.set(array.name, array);
    trace.origins.set(array.name, [...(trace.origins.get(array.name) ?? []), {record, key, tensor: array.tensor}]);
    writes.push(array.name);
    if (isLeftOut(bug, record, key)) leftOut.push(array.name);
    if (inputs[key.slice(1)]?.parameter) adds.push(array.name);
  }
  trace.steps.push({...backwardStep(record, index, dys, writes, adds), leftOut});
}

function addTo(sum, array, index) {
  sum.soFar ??= [{step: sum.madeBy, values: sum.tensor.re}];
  sum.tensor = add(sum.tensor, array.tensor);
  sum.soFar.push({step: index, values: sum.tensor.re});
}

// What is said of the array that backward calls `key`: the gradient of an input or output, or a working of its own.
function aboutFound({operation, inputs, outputs, settings, part}, key, {named, goal}) {
  const of = key.startsWith("d") ? inputs[key.slice(1)] ?? outputs[key.slice(1)] : undefined;
  if (of) return gradientOf(of, named.get(goal));
  const {symbol, meaning} = operation.workings[withoutHead(key)];
  const {rows} = Object.values(outputs).at(-1);
  const head = headIn(key);
  const ofHead = typeof symbol === "function" ? symbol(settings.heads > 1 ? subscript(head) : "") : symbol;
  const about = {name: `${part}.${key}`, symbol: ofHead, meaning, rows, columns: "one", head};
  return {...about, isGradient: true, gradientName: null};
}

function gradientOf({name, symbol, gradientName, gradientSymbol, rows, columns, head}, goal) {
  const isWhole = gradientName === `d(${name})`;
  const road = isWhole ? "" : " on this road";
  const meaning = `How fast the ${goal.name} moves with ${symbol}${road}: ∂${goal.symbol}/∂${symbol}.`;
  return {
    name: gradientName, symbol: gradientSymbol, rows, columns, head, meaning,
    isGradient: true, gradientOf: name, gradientName: null,
  };
}

// ---- the trace as plain objects, for the page ----

const namesOf = (arrays) => [...new Set(arrays.map((array) => array.name))];

// What forward keeps on the tape, and backward takes off again
function keptBy({operation, inputs, outputs}) {
  const kept = [];
  for (const arrays of [inputs, outputs]) {
    for (const key in arrays) if (operation.keeps.includes(withoutHead(key))) kept.push(arrays[key]);
  }
  return namesOf(kept);
}

// Of a lookup it keeps which rows were read: how many ids these are
const idsKeptBy = ({operation, settings}) => operation.keepsOf?.(settings).length ?? 0;

// What npbert's layer calls the arrays that go in and come out, and their gradients, beside their symbols
function namesInCode(inputs, outputs) {
  const values = Object.entries({...inputs, ...outputs}).filter(([key]) => /^[xyhqkvc]$/.test(key));
  return values.flatMap(([key, {symbol, gradientSymbol}]) => [[key, symbol], [`d${key}`, gradientSymbol]]);
}

function forwardStep(record) {
  const {index, part, title, formula, operation, inputs, outputs} = record;
  const writes = operation.kind === "Fork" ? [] : namesOf(Object.values(outputs));
  const reads = namesOf(Object.values(inputs));
  const {kind} = operation;
  const tape = {keeps: keptBy(record), ids: idsKeptBy(record)};
  const names = namesInCode(inputs, outputs);
  return {index, phase: "forward", part, kind, title, formula, reads, writes, tape, names};
}

function backwardStep(record, index, dys, writes, adds) {
  const {part, title, operation, inputs, outputs} = record;
  const weights = namesOf(Object.values(inputs).filter(({parameter}) => parameter));
  const takes = keptBy(record);
  return {
    index, phase: "backward", part, kind: operation.kind,
    title: `back: ${title}`, formula: operation.undoing({...inputs, ...outputs}),
    reads: [...namesOf(Object.values(dys)), ...takes, ...weights], writes, adds, undoes: record.index,
    tape: {takes, ids: idsKeptBy(record)}, names: namesInCode(inputs, outputs),
  };
}

export function asPlainObject(array, trace) {
  const {name, symbol, rows, columns, head, meaning, parameter, madeBy, gradientName} = array;
  const gradient = gradientName && trace.named.has(gradientName) ? gradientName : null;
  return {
    name, symbol, rows, columns, head, meaning, parameter, madeBy, gradient,
    get shape() { return array.tensor.shape; },
    get values() { return array.tensor.re; },
    gradientOf: array.gradientOf, isGradient: array.isGradient,
    soFar: array.soFar ?? null, // of what several steps add to: [{step, values}], what it was after each
  };
}

// Of each masked word: where it is, which word was hidden there, and the probability of every word.
function probabilities(trace) {
  const {tensor} = trace.named.get("p");
  const {labels} = trace.recorder.records.at(-1).settings;
  return trace.recorder.tokens.masked.map((position, m) => ({
    position, label: labels[m], values: tensor.re.slice(m * tensor.columns, (m + 1) * tensor.columns),
  }));
}
