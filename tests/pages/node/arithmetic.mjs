// What the page's arithmetic says, for Python to compare: `node arithmetic.mjs FOLDER_OF_MATH QUESTIONS ANSWERS`.

import {readFileSync, writeFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [folder, questions, answers] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}.js`));
const math = await load("index");
const {complexErf} = await load("erf");
const {shortNumber, percent} = await load("../ui/format");
const asked = JSON.parse(readFileSync(questions));
const [first] = asked.models;
const said = new Set(); // the names of all notes that were needed

// A trace as JSON: arrays by name, steps as they are
function written(trace) {
  const arrays = [...trace.arrays.values()].map(({name, parameter, gradient, shape, values}) =>
    [name, {parameter, gradient, shape, values: [...values]}]);
  return {loss: trace.loss, steps: trace.steps, arrays: Object.fromEntries(arrays), probabilities: trace.probabilities};
}

// explain for every number of every array, or of some: how many there are, and what is wrong with them
function explained(trace, names = trace.arrays.keys()) {
  const wrong = [];
  let count = 0;
  for (const name of names) {
    const {shape: [rows, columns], values} = trace.arrays.get(name);
    for (let place = 0; place < rows * columns; place++, count++) {
      const explanation = math.explain(trace, name, Math.floor(place / columns), place % columns);
      const fault = faultOf(explanation, values[place], trace);
      if (fault) wrong.push(`${name} ${place}: ${fault}`);
    }
  }
  return {count, wrong};
}

function faultOf({formula, terms, total, value, notes}, number, trace) {
  const size = terms.reduce((sum, term) => sum + Math.abs(term.value), 0);
  if (value !== number || !(Math.abs(total - number) <= 1e-12 * size)) return `${total} is not ${number}`;
  if (!formula.includes("=") && terms.length !== 1) return `no formula: ${formula}`;
  if (!notes.length || !notes.every(isSaid) || terms.some(({label}) => label.length === 0)) return "no words";
  for (const {factors, value: product, goes} of terms) {
    const made = factors.reduce((result, factor) => result * factor.value, 1);
    if (factors.length && !(Math.abs(made - product) <= 1e-15 * Math.abs(product))) return "no product of its factors";
    for (const {name, row, column} of [...factors, ...(goes ? [goes] : [])]) {
      if (name !== null && !isThere(trace, name, row, column)) return `leads to ${name} [${row}, ${column}]`;
    }
  }
  return null;
}

function isSaid({name, of}) {
  said.add(name);
  return name in asked.notes && !/undefined|\[object|[{}]/.test(math.noteWith(asked.notes[name], of));
}

function isThere(trace, name, row, column) {
  const array = trace.arrays.get(name);
  return array && row >= 0 && row < array.shape[0] && column >= 0 && column < array.shape[1];
}

// From some gradients on: whether the parts add up, link by link, and the products along the largest to the loss
function chains(trace) {
  const gradients = [...trace.arrays.values()].filter(({isGradient, name}) => isGradient && name !== "d(loss)");
  return gradients.map(({name, shape}) => {
    const place = {name, row: shape[0] - 1, column: shape[1] - 1};
    const {terms, value} = math.explain(trace, name, place.row, place.column);
    const parts = new Map(terms.map(({goes}) => [JSON.stringify(goes), goes]));
    const sizes = terms.reduce((sum, term) => sum + Math.abs(term.value), 0);
    const linked = [...parts.values()].map((goes) => math.chainOf(trace, [place, goes])[1].factor * valueIn(trace, goes));
    const way = [place, ...math.wayToLoss(trace, place)];
    const chain = math.chainOf(trace, way);
    const product = chain.slice(1).reduce((result, {factor}) => result * factor, 1);
    return {
      name, value, sizes, linked: linked.reduce((sum, part) => sum + part, 0), end: way.at(-1).name, product,
      said: chain.at(-1).product, largest: Math.max(0, ...terms.map((term) => Math.abs(term.value))),
      first: way.length > 1 ? Math.abs(chain[1].factor * valueIn(trace, way[1])) : 0,
    };
  });
}

const valueIn = (trace, {name, row, column}) => trace.arrays.get(name).tensor.at(row, column);

function pathsIn(trace, place) {
  const {stops, roads} = math.pathsOf(trace, place);
  const gradient = valueIn(trace, {...place, name: trace.arrays.get(place.name).gradient});
  return {...place, gradient, roads, stops: stops.map(({array, total}) => ({name: array.name, total}))};
}

// The losses of some steps of training from fresh weights, on a sentence with two hidden words and a word that comes twice
function losses(data, bug, steps = 6) {
  const model = math.makeModel(data);
  math.resetParameters(model, 1);
  const trainer = math.makeTrainer(model, {...data.optimizer, lr: 0.02});
  return Array.from({length: steps}, () => trainer.step([data.examples[1]], {bug}).loss);
}

function checkedTrace(trace, options) {
  const work = math.checking(trace, options);
  let next = work.next();
  while (!next.done) next = work.next();
  return next.value;
}

const checked = (model, example, {bug = null, ...options}) => {
  const {count, ok, worst, first, perParameter} = checkedTrace(math.run(model, example, {bug}), options);
  return {count, ok, worst, first, wrong: perParameter.filter((one) => !one.ok).map(({name}) => name)};
};

function answered(data) {
  const model = math.makeModel(data);
  const traces = data.examples.map((example) => math.run(model, example));
  const trainer = math.makeTrainer(model, data.optimizer);
  const answer = {
    traces: traces.map(written),
    explained: traces.slice(...(data === first ? [1, 4] : [2, 3])).map((trace) => explained(trace)), // of others, two sentences
    chains: chains(traces[1]),
    roads: Object.fromEntries([...traces[1].arrays.keys()].map((name) => [name, math.roadsOf(traces[1], name)])),
    paths: asked.followed.filter(({name}) => traces[1].arrays.has(name)).map((place) => pathsIn(traces[1], place)),
    rivalPaths: asked.followed.slice(0, 3).filter(({name}) => traces[1].arrays.has(name)).map((place) =>
      pathsIn(math.run(model, data.examples[1], {rival: asked.rival}), place)),
    unlit: traces[0].steps.filter((step) => math.linesOf(data, step).length === 0),
    differences: checked(model, data.examples[0], {sample: 12}),
    complex: checked(model, data.examples[0], {method: "complex", activations: true}),
  };
  answer.updates = Array.from({length: 3}, () => updated(model, trainer, data.examples));
  answer.trained = Object.fromEntries([...model.parameters].map(([name, {re}]) => [name, [...re]]));
  return answer;
}

// The trainer's next step as arrays and sums, and then made: `isIt` says whether it was the one that was shown
function updated(model, trainer, examples) {
  const trace = math.run(model, examples[0]);
  math.addUpdate(trace, trainer, examples.slice(0, 4));
  const shown = trace.steps.at(-1), names = [...shown.reads, ...shown.writes];
  const elsewhere = math.run(model, examples.at(-1)); // a sentence that is not in the batch
  math.addUpdate(elsewhere, trainer, examples.slice(0, 4));
  // of the first and the last step all numbers, of the other an array
  const sums = trainer.steps % 2 ? explained(elsewhere, ["g(predictions.bias)"]) : explained(trace, names);
  const arrays = Object.fromEntries(names.map((name) => [name, [...trace.arrays.get(name).values]]));
  const losses = [trace.update.next().loss, trace.update.lossAfter(examples[0])];
  const made = trainer.step(examples.slice(0, 4));
  const isIt = [...model.parameters].every(([name, {re}]) => re.every((value, i) => value === arrays[`new(${name})`][i]));
  return {arrays, sums, losses, made, isIt, after: math.run(model, examples[0]).loss};
}

// Two guesses compared, at the second hidden word of a sentence
function compared(data) {
  const trace = math.run(math.makeModel(data), data.examples[1], {rival: asked.rival});
  const check = checkedTrace(trace, {method: "complex", activations: true, sample: 12});
  const byFeature = math.byFeature(trace).reduce((sum, {value}) => sum + value, 0);
  return {trace: written(trace), explained: explained(trace), check, byFeature};
}

function broken(data) {
  const model = math.makeModel(data);
  return Object.fromEntries(math.BUGS.map((bug) => [bug.id, {
    ...bug,
    check: checked(model, data.examples[1], {bug: bug.id, method: "complex", activations: true, sample: 5}),
    losses: losses(data, bug.id),
  }]));
}

// A trace is of the model as it was: what it says after a step of training, and the loss then
function keptWhileTraining(data) {
  const model = math.makeModel(data), [example] = data.examples;
  const trace = math.run(model, example);
  const value = trace.arrays.get(asked.moved.name).values[0];
  math.makeTrainer(model, data.optimizer).step(data.examples);
  const again = math.lossWith(trace, {...asked.moved, row: 0, column: 0}, value);
  return {before: trace.loss, again, after: math.run(model, example).loss};
}

// A model that is certain of the right word: its loss, and all its gradients, are nearly 0
function certain(data) {
  const model = math.makeModel(data), [example] = data.examples;
  const label = example.labels.find((one) => one >= 0);
  const checks = [8, 12, 16, 40].map((bias) => {
    model.parameters.get("predictions.bias").re[label] = bias;
    const {ok, worst} = checked(model, example, {sample: 6});
    return {loss: math.run(model, example).loss, ok, worst, found: !checked(model, example, {sample: 4, bug: "norm-spread"}).ok};
  });
  return checks;
}

// Models that know nothing, with weights so small that a LayerNorm bends the loss within a hundredth
const ignorant = (data) => [0, 1].flatMap((seed) => [0.02, 0.3].map((std) => {
  const model = math.makeModel(data), [example] = data.examples;
  math.resetParameters(model, seed, std);
  const found = (bug) => !checked(model, example, {sample: 4, bug}).ok;
  return {seed, std, check: checked(model, example, {sample: 8}), found: found("norm-spread") && found("softmax-shares")};
}));

function moved(data) {
  const model = math.makeModel(data), [example] = data.examples;
  const {name, row, column} = asked.moved;
  const trace = math.run(model, example);
  return {
    losses: asked.moved.values.map((value) => math.lossWith(trace, {name, row, column}, value)),
    complexLosses: asked.models.map((one) => asked.complex.map((where) =>
      math.lossWith(math.run(math.makeModel(one), one.examples[0], {backward: false}), where, where.value))),
    difference: math.differenceIn(trace, asked.moved, 1e-4),
    complex: math.complexStepIn(trace, asked.moved, 1e-30),
    errors: math.errorsByStep(trace, asked.moved),
    untouched: trace.loss === math.run(model, example).loss,
    kept: keptWhileTraining(data),
  };
}

function fresh(data) {
  const values = (seed) => {
    const model = math.makeModel(data);
    math.resetParameters(model, seed);
    return Object.fromEntries([...model.parameters].map(([name, {re}]) => [name, [...re]]));
  };
  return {one: values(1), again: values(1), another: values(2)};
}

// What a formula says of the number [1, 2] of these arrays
function formulas(data) {
  const trace = math.run(math.makeModel(data), data.examples[1]);
  return Object.fromEntries(asked.formulas.map((name) => [name, math.explain(trace, name, 1, 2).formula]));
}

writeFileSync(answers, JSON.stringify({
  models: asked.models.map(answered),
  compared: asked.models.map(compared),
  broken: broken(first),
  formulas: formulas(first),
  right: losses(first, null),
  explainedWrong: explained(math.run(math.makeModel(first), first.examples[0], {bug: "norm-spread"})).wrong,
  moved: moved(first),
  fresh: fresh(first),
  certain: certain(first),
  ignorant: ignorant(first),
  short: [0.00949, 0.00094, -0.5, 0].map(shortNumber),
  percent: [0.0002, 0.5, 0.9999].map(percent),
  erf: asked.erf.map((x) => complexErf(x, 0)[0]),
  complexErf: asked.complexErf.map(([re, im]) => complexErf(re, im)),
  said: [...said],
}));
