// run: one sentence forward, then backward, as a trace: the loss, every array, every step. The chain rule is the one
// loop of `goBack`: the steps in reverse order, each of which reads the gradients of what it made.

import {axesFor, compute, NamedArray} from "./arrays.js";
import {boundStep, programOf, readsOf, refsIn} from "./formulas.js";

// A model for the page, from what npbert exported.
export function makeModel(data) {
  const numbers = (given) => new Map(Object.entries(given).map(([name, one]) => [name, matrixOf(one)]));
  const {config, vocabulary, parameters, constants} = data;
  const program = programOf(data);
  // constants: fixed positions, in a model that has them
  return {config, vocabulary, program, parameters: numbers(parameters), constants: numbers(constants)};
}

function matrixOf({shape, values}) {
  const isMatrix = shape.length > 1;
  return {shape: isMatrix ? shape : [1, ...shape], isMatrix, values: Float64Array.from(values)};
}

// Forward, and backward unless `backward` is false. bug: the id of one to plant in backward. rival: {masked, word}, to
// compare the answer of the hidden word with another word: backward then begins from the difference of their logits,
// and `goal` names that in place of the loss.
export function run(model, example, {bug = null, rival = null, backward = true} = {}) {
  const trace = beginning(model, example, bug, rival);
  trace.program.forEach((step) => forwardStep(trace, step));
  if (backward) {
    goBack(trace);
  }
  return trace;
}

// The loss, and all arrays, if one number were another: forward goes on from there, and nothing of the trace changes.
export function whatIf(trace, {name, row, column}, value) {
  const array = trace.arrays.get(name);
  const changed = array.withValues(array.values.slice());
  changed.values[row * array.shape[1] + column] = value;
  const world = {...trace, arrays: new Map(trace.arrays).set(name, changed), fixed: name};
  const reader = trace.program.findIndex(({forward}) => readsOf(forward).includes(name));
  const first = array.madeBy ?? (reader < 0 ? trace.program.length : reader);
  trace.program.slice(first).forEach((step) => forwardStep(world, step));
  return {loss: world.arrays.get(trace.goal).values[0], arrays: world.arrays};
}

function beginning(model, example, bug, rival) {
  const {program, vocabulary, config} = model;
  const {input_ids: ids} = example;
  const masked = example.labels.flatMap((label, n) => (label >= 0 ? [n] : []));
  const labels = example.labels.filter((label) => label >= 0);
  const headSize = config.hidden_size / config.num_attention_heads;
  const constants = {
    "1/D": 1 / config.hidden_size,
    D: config.hidden_size,
    eps: config.layer_norm_eps,
    "1/M": 1 / masked.length,
    "1/√d": 1 / Math.sqrt(headSize),
    "1/N": 1 / ids.length,
  };
  const steps = rival ? [...program.steps.slice(0, -1), differenceStep(program, rival, labels)] : program.steps;
  const goal = rival ? "difference" : "loss";
  const arrays = new ArraysByName();
  for (const [name, {shape, values}] of [...model.parameters, ...model.constants]) {
    const about = {...program.arrays.get(name), parameter: model.parameters.has(name)};
    arrays.set(name, new NamedArray(name, about, shape, values)); // training gives the model others, and writes into none
  }
  return {
    model,
    example,
    bug,
    rival,
    goal,
    masked,
    headSize,
    arrays,
    lookups: {...example, positions: ids.map((_, n) => n), masked, labels},
    words: ids.map((id) => vocabulary[id]),
    program: steps.map((step, index) => ({...step, index, constants})),
    get loss() {
      return this.arrays.get(goal).values[0];
    },
  };
}

// δ = logits[m, a] − logits[m, b], in place of the loss
function differenceStep(program, {masked, word}, labels) {
  const meaning = "How far one guess is ahead of another: the difference of their logits.";
  program.arrays.set("difference", {...program.arrays.get("loss"), symbol: "δ", meaning});
  return boundStep(program, {
    kind: "Difference",
    part: "difference",
    title: "the difference: how far one guess is ahead of the other",
    arrays: {...program.steps.at(-1).arrays, loss: "difference"},
    indices: {place: masked, one: labels[masked], other: word},
  });
}

// What `world.fixed` names is as it was put, and is not computed.
function forwardStep(world, step) {
  const begun = new Set();
  for (const line of step.forward.filter(({target}) => target.name !== world.fixed)) {
    const {name} = line.target;
    const before = world.arrays.get(name);
    if (!begun.has(name)) {
      world.arrays.set(name, before ? before.withValues(before.values.map(() => 0)) : arrayOf(world, step, line));
    }
    begun.add(name);
    const array = world.arrays.get(name);
    if (!world.fixed) {
      array.origins.push({step, line});
      array.madeBy = step.index;
    }
    compute(world, step, line, array);
  }
}

// The chain rule, from ∂loss/∂loss = 1.
function goBack(world) {
  const {program, arrays, goal} = world;
  const first = new NamedArray(`d(${goal})`, aboutGradient(world, arrays.get(goal)), [1, 1], Float64Array.of(1));
  first.madeBy = program.length;
  arrays.set(first.name, first);
  program.toReversed().forEach((step, n) => undo(world, step, program.length + n));
}

// index: of the step that undoes it. A planted bug changes the numbers; their origins are those of the right formulas.
function undo(world, step, index) {
  step.back = index;
  const before = new Map();
  for (const line of step.broken[world.bug]?.lines ?? step.backward) {
    const {name} = line.target;
    const array = world.arrays.get(name) ?? arrayOf(world, step, line);
    world.arrays.set(name, array);
    if (!before.has(name)) {
      before.set(name, array.values.slice());
    }
    compute(world, step, line, array);
  }
  for (const [name, values] of before) {
    const array = world.arrays.get(name);
    if (array.origins.length) {
      // a tied table: both of its uses add to one gradient
      array.soFar ??= [{step: array.madeBy, values}];
      array.soFar.push({step: index, values: array.values.slice()});
    }
    array.origins.push(...step.backward.filter(({target}) => target.name === name).map((line) => ({step, line})));
    array.madeBy = index;
  }
}

// ---- what is said of arrays ----

function arrayOf(world, step, line) {
  const {shape, ...about} = aboutArray(world, step, line);
  return new NamedArray(line.target.name, about, shape);
}

function aboutArray(world, step, {target, terms}) {
  const [, of, road] = target.name.match(/^d\((.*?)\)(?: (.*))?$/) ?? [];
  if (of) {
    return aboutGradient(world, world.arrays.get(of), road);
  }
  const {arrays, heads} = world.model.program;
  const known = arrays.get(target.name);
  if (known) {
    const symbol = known.symbol + (known.head !== null && heads > 1 ? subscript(known.head + 1) : "");
    return {...known, symbol, shape: [known.rows, known.columns].map((axis) => sizeOf(world, axis))};
  }
  const local = target.local.replace(/\d+$/, "");
  const [symbol, meaning = ""] = step.said[local]?.split(" | ") ?? [local];
  const [, head] = target.local.match(/(\d+)$/) ?? [];
  const [rows, columns = {kind: "one", size: 1}] = target.index.map(({letter}) => axisOf(world, terms, letter));
  return {
    symbol,
    meaning,
    rows: rows.kind,
    columns: columns.kind,
    head: head === undefined ? null : Number(head),
    isHidden: !meaning,
    isGradient: step.backward.some((line) => line.target.name === target.name),
    shape: [rows.size, columns.size],
  };
}

function aboutGradient({goal, arrays}, {name, symbol, rows, columns, head, shape, isHidden}, road = "") {
  const {symbol: of} = arrays.get(goal);
  const meaning = `How fast the ${goal} moves with ${symbol}${road && " on this road"}: ∂${of}/∂${symbol}.`;
  const about = {symbol: `d${symbol}${road && ` ${road}`}`, rows, columns, head, shape, meaning, isHidden};
  return {...about, isGradient: true, gradientOf: name};
}

const subscript = (number) => String(number).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);

function sizeOf({model: {config}, example, masked}, axis) {
  const sizes = {
    one: 1,
    tokens: example.input_ids.length,
    masked: masked.length,
    features: config.hidden_size,
    intermediate: config.intermediate_size,
    vocabulary: config.vocab_size,
  };
  return sizes[axis];
}

// What a letter of a formula runs over, and how far: the rows or columns of the first array that has it.
function axisOf({arrays}, terms, letter) {
  const refs = terms.flatMap(({factors}) => refsIn(factors));
  const isIt = (one) => one.letter === letter && !one.lookup;
  const {name, index} = refs.find((ref) => ref.index.some(isIt));
  return axesFor(arrays.get(name), index.length)[index.findIndex(isIt)];
}

// Arrays by name. Those of the update are `later`: computed when the first of them is asked for.
class ArraysByName extends Map {
  get(name) {
    const isOfUpdate = this.later && !this.has(name) && /^(?!d\()\w+\(|^norm$|^clip$/.test(name);
    return isOfUpdate ? this.later(name) : super.get(name);
  }
}
