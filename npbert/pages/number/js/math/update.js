// The last step of a trace, the update: what the trainer's next step does with every parameter, as arrays that say
// where their numbers come from. None of it is computed before somebody looks.

import {AdamW} from "./adamw.js";
import {computed} from "./run.js";
import {NamedArray} from "./recorder.js";

// By key: the symbol, where w is that of the parameter, and what the array is.
const READ = {
  m_before: ["m before", "The mean of its gradients until now."],
  v_before: ["v before", "The mean of their squares until now."],
};
const MADE = {
  g: ["g", "The gradient of the batch: a mean over its sentences."],
  m: ["m", "The mean of its gradients, this one included."],
  v: ["v", "The mean of their squares, this one included."],
  m_hat: ["m̂", "m, made up for its start at 0."],
  v_hat: ["v̂", "v, made up for its start at 0."],
  decay: ["decay", "A small pull towards 0, for matrices alone."],
  delta: ["Δw", "By how much it moves."],
  new: ["new w", "What it is after the step."],
};
const OF_ALL = {
  norm: ["‖g‖", "How long the gradients of all parameters are together."],
  clip: ["clip", "How much of every gradient is left: 1 is all."],
};
const ONE = {rows: "one", columns: "one", shape: [1, 1]};

// Add it to a trace, or put it in the place of the one that is there. examples: the batch of the trainer's next step.
// In trace.update, `next` gives that step, and `lossAfter` the loss of a sentence when it is done.
export function addUpdate(trace, trainer, examples) {
  const {recorder: {model, arrays, tokens}, bug} = trace;
  const index = trace.steps.findLastIndex(({phase}) => phase !== "update") + 1;
  const parameters = [...arrays.values()].filter(({parameter}) => parameter);
  const next = once(() => trainer.next(examples, {bug}));
  const batch = once(() => next().batch.map((one) => ({...one, isShown: isSameSentence(one.example, trace.example)})));

  const add = (made, {name: of, symbol: w, rows, columns, shape}, tensorOf) =>
    Object.fromEntries(Object.entries(made).map(([key, [symbol, meaning]]) => {
      const name = of ? `${key}(${of})` : key;
      const about = {name, symbol: symbol.replace(/w$/, w), meaning, rows, columns, shape, gradient: null};
      const array = new NamedArray(about, null, tokens, index);
      Object.defineProperty(array, "tensor", {get: () => tensorOf(key)});
      trace.arrays.set(name, array);
      return [key, array];
    }));
  const ofAll = add(OF_ALL, ONE, (key) => next()[key]);
  for (const w of parameters) {
    const outputs = {...ofAll, ...add({...READ, ...MADE}, w, (key) => next().made.get(w.name)[key])};
    const settings = {...trainer.settingsOf(w.name), batch, next};
    const record = {operation: AdamW, inputs: {w, dw: trace.arrays.get(w.gradient)}, outputs, settings};
    for (const [key, array] of Object.entries(outputs)) array.origins = [{record, key}];
  }
  const namesOf = (keys) => parameters.flatMap(({name}) => Object.keys(keys).map((key) => `${key}(${name})`));
  trace.steps[index] = {
    index, phase: "update", part: "parameters", kind: AdamW.kind,
    title: "the update: every parameter moves", formula: AdamW.formula,
    reads: namesOf(READ), writes: [...Object.keys(OF_ALL), ...namesOf(MADE)], tape: {keeps: [], ids: 0},
    names: [["theta", "w"], ["alpha", "lr"], ["g", "clip · g"]],
  };
  const after = once(() => new Map([...next().made].map(([name, made]) => [name, made.new])));
  const lossAfter = once((example) => computed({...model, parameters: after()}, example, {backward: false}).loss);
  const names = parameters.map(({name}) => name);
  trace.update = {t: trainer.steps + 1, lr: trainer.lr, parameters: names, batch, next, lossAfter};
}

// What `make` gives, computed once for each argument, when it is first asked for
function once(make) {
  const made = new Map();
  return (of) => {
    if (!made.has(of)) made.set(of, make(of));
    return made.get(of);
  };
}

const isSameSentence = (a, b) => ["input_ids", "token_type_ids", "labels"].every((key) => String(a[key]) === String(b[key]));
