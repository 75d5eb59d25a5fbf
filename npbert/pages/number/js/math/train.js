// Training: steps of AdamW in the page, as npbert has it, on whole batches. The next step is also the last of a trace,
// the update, as arrays of which every number says where it comes from.

import {compute, NamedArray} from "./arrays.js";
import {boundStep, NO_INDEX} from "./formulas.js";
import {run} from "./run.js";

const IN_A_BATCH = 8;
const ANYWHERE = [{letter: "r"}, {letter: "c"}];
const NUMBER = {rows: "one", columns: "one", shape: [1, 1]};
const UPDATED = ["g", "m_before", "v_before", "m", "v", "m_hat", "v_hat", "decay", "delta", "new"];

// The sentences of step 0, 1, …: they take turns.
export function batchAt(examples, step) {
  const count = Math.min(IN_A_BATCH, examples.length);
  return Array.from({length: count}, (_, place) => examples[(step * count + place) % examples.length]);
}

// `next` says what the next step is, down the mean loss of all hidden words of the examples, and changes nothing: the
// loss and the sentences as they are before it, and all arrays of AdamW by name. `step` makes it, and returns its loss.
export function makeTrainer(model, settings) {
  const zeros = () => new Map([...model.parameters].map(([name, {values}]) => [name, values.map(() => 0)]));
  const kept = {m_before: zeros(), v_before: zeros()};
  const names = [...model.parameters.keys()];
  const steps = names.map((name) => boundStep(model.program, stepOf(name)));
  const trainer = {
    steps: 0,
    lr: settings.lr,

    next(examples, {bug = null} = {}) {
      const batch = sharesOf(examples).map((one) => ({...one, trace: run(model, one.example, {bug})}));
      const world = {arrays: new Map(), lookups: {}, model};
      names.forEach((name) => addGradient(world, name, batch));
      addNorm(world, names, settings.max_grad_norm);
      names.forEach((name, n) => {
        const decay = model.parameters.get(name).isMatrix ? settings.weight_decay : 0;
        addUpdated(world, {...steps[n], constants: constantsOf(settings, trainer, decay)}, name, kept);
      });
      return {loss: batch.reduce((sum, {share, trace}) => sum + share * trace.loss, 0), batch, arrays: world.arrays};
    },

    step(examples, options) {
      const {loss, arrays} = trainer.next(examples, options);
      model.parameters = parametersAfter(model, arrays);
      for (const name of names) {
        kept.m_before.set(name, arrays.get(`m(${name})`).values);
        kept.v_before.set(name, arrays.get(`v(${name})`).values);
      }
      trainer.steps += 1;
      return loss;
    },
  };
  return trainer;
}

// The parameters after the step that these arrays are.
const parametersAfter = ({parameters}, arrays) =>
  new Map([...parameters].map(([name, one]) => [name, {...one, values: arrays.get(`new(${name})`).values}]));

function stepOf(name) {
  const own = Object.fromEntries(UPDATED.map((key) => [key, `${key}(${name})`]));
  return {kind: "AdamW", part: "parameters", arrays: {w: name, norm: "norm", clip: "clip", ...own}};
}

function constantsOf({betas: [beta1, beta2], eps, max_grad_norm}, {steps, lr}, decay) {
  return {
    "β₁": beta1,
    "1−β₁": 1 - beta1,
    "1/(1−β₁ᵗ)": 1 / (1 - beta1 ** (steps + 1)),
    "β₂": beta2,
    "1−β₂": 1 - beta2,
    "1/(1−β₂ᵗ)": 1 / (1 - beta2 ** (steps + 1)),
    "−lr": -lr,
    λ: decay,
    eps,
    max_grad_norm,
  };
}

// Each sentence with its share in the loss: by how many hidden words it has.
function sharesOf(examples) {
  const counts = examples.map(({labels}) => labels.filter((label) => label >= 0).length);
  const total = counts.reduce((a, b) => a + b);
  return examples.map((example, index) => ({example, share: counts[index] / total}));
}

// Add an array of the update, with the rows and columns of another.
function add({arrays, model}, name, key, {rows, columns, shape}, values) {
  const [symbol, meaning] = model.program.formulas.AdamW[key].split(" | ");
  arrays.set(name, new NamedArray(name, {symbol, meaning, rows, columns}, shape, values));
}

// Add the array that a formula makes, and return it.
function addMade(world, step, line, like) {
  const {name, local} = line.target;
  add(world, name, local, like);
  const array = world.arrays.get(name);
  array.origins.push({step, line});
  return array;
}

const addComputed = (world, step, line, like) => compute(world, step, line, addMade(world, step, line, like));

const stepWith = ({model}, constants, arrays = {}) => ({
  ...NO_INDEX,
  kind: "AdamW",
  said: model.program.formulas.AdamW,
  constants,
  arrays,
});
const scalar = (local) => ({name: local, local, index: []});

// The gradient of the batch: a term for each sentence.
function addGradient(world, name, batch) {
  const constants = {};
  const terms = batch.map(({example, share, trace}, n) => {
    const dw = trace.arrays.get(`d(${name})`);
    const key = `sentence ${n}: ${dw.name}`;
    world.arrays.set(key, Object.assign(dw.withValues(dw.values), {example}));
    constants[`share ${n}`] = share;
    return {sign: 1, label: `“${example.text}”`, factors: [{constant: `share ${n}`}, {name: key, index: ANYWHERE}]};
  });
  const target = {name: `g(${name})`, local: "g", index: ANYWHERE};
  world.arrays.set(name, batch[0].trace.arrays.get(name));
  const {values} = addMade(world, stepWith(world, constants), {target, way: "=", terms}, world.arrays.get(name));
  for (const {share, trace} of batch) {
    // as compute would, in a quarter less of a step's time
    trace.arrays.get(`d(${name})`).values.forEach((value, at) => {
      values[at] += share * value;
    });
  }
}

// ‖g‖ over all parameters, a term for each; and how much of every gradient is left.
function addNorm(world, names, max_grad_norm) {
  const sumOfSquares = (name) => world.arrays.get(`g(${name})`).values.reduce((sum, value) => sum + value ** 2, 0);
  const squares = names.map(sumOfSquares);
  const constants = {"1/‖g‖": 1 / (Math.sqrt(squares.reduce((a, b) => a + b, 0)) || 1), max_grad_norm};
  const terms = names.map((name, n) => {
    constants[`Σ g² of ${name}`] = squares[n];
    return {sign: 1, label: name, factors: [{constant: `Σ g² of ${name}`}, {constant: "1/‖g‖"}]};
  });
  const step = stepWith(world, constants, {norm: "norm", clip: "clip"});
  addComputed(world, step, {target: scalar("norm"), way: "=", terms}, NUMBER);
  const factors = [{of: "clipped", args: [scalar("norm"), {constant: "max_grad_norm"}]}];
  addComputed(world, step, {target: scalar("clip"), way: "=", terms: [{sign: 1, label: null, factors}]}, NUMBER);
}

function addUpdated(world, step, name, kept) {
  const w = world.arrays.get(name);
  for (const key of ["m_before", "v_before"]) {
    add(world, `${key}(${name})`, key, w, kept[key].get(name));
  }
  step.forward.forEach((line) => addComputed(world, step, line, w));
}

// Add the update to a trace as its last step, or put it in the place of the one that is there. examples: the batch of
// the trainer's next step. None of it is computed before somebody looks.
export function addUpdate(trace, trainer, examples) {
  const {model} = trace;
  const index = trace.steps.findLastIndex(({phase}) => phase !== "update") + 1;
  trace.steps[index] = {
    index,
    phase: "update",
    part: "parameters",
    kind: "AdamW",
    title: "the update: every parameter moves",
    formula: model.program.formulas.AdamW.shown,
    reads: [],
    writes: [],
    kept: [],
    ids: 0,
  };
  const addAll = () => {
    const found = trainer.next(examples, {bug: trace.bug});
    for (const [name, array] of found.arrays) {
      if (!trace.arrays.has(name)) {
        trace.arrays.set(name, Object.assign(array, {madeBy: name.startsWith("sentence") ? null : index}));
      }
    }
    return found;
  };
  let made = null; // until it is first asked for
  const next = () => (made ??= addAll());
  const after = () => ({...model, parameters: parametersAfter(model, next().arrays)});
  const lossAfter = (example) => run(after(), example, {backward: false}).loss;
  trace.arrays.later = (name) => next().arrays.get(name);
  trace.update = {t: trainer.steps + 1, lr: trainer.lr, parameters: [...model.parameters.keys()], next, lossAfter};
}

// The parameters of a model that knows nothing.
export function resetParameters(model, seed) {
  const uniform = uniformNumbers(seed);
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()); // Box & Muller 1958
  const first = (name, {isMatrix}) => (isMatrix ? model.config.initializer_range * normal() : Number(/gamma$/.test(name)));
  const begun = ([name, one]) => [name, {...one, values: one.values.map(() => first(name, one))}];
  model.parameters = new Map([...model.parameters].map(begun));
}

// Numbers above 0, up to 1, the same for the same seed. (mulberry32, Tommy Ettinger's.)
export function uniformNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (((bits ^ (bits >>> 14)) >>> 0) + 1) / 2 ** 32;
  };
}
