// What the page's arithmetic says, for Python to compare: `node arithmetic.mjs FOLDER_OF_MATH QUESTIONS ANSWERS`.

import {readFileSync, writeFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [folder, questions, answers] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}.js`));
const {explain} = await load("explain");
const {pathsOf} = await load("paths");
const {makeModel, run, whatIf} = await load("run");
const {stepsOf} = await load("steps");
const {addUpdate, makeTrainer, resetParameters} = await load("train");
const asked = JSON.parse(readFileSync(questions));

const numbersOf = (arrays) =>
  Object.fromEntries(arrays.map(({name, shape, values}) => [name, {shape, values: [...values]}]));

// explain for one in `each` numbers of these arrays: how many these are, and what is wrong with them
function explained(trace, arrays, each = asked.each) {
  const wrong = [];
  let count = 0;
  for (const {
    name,
    shape: [, columns],
    values,
    isHidden,
  } of arrays) {
    for (let at = 0; !isHidden && at < values.length; at += each, count++) {
      const found = explain(trace, name, Math.floor(at / columns), at % columns);
      const fault = faultOf(found, trace);
      if (fault) wrong.push(`${name} ${at}: ${fault}`);
    }
  }
  return {count, wrong};
}

function faultOf({formula, terms, total, value, notes, origin}, trace) {
  const size = terms.reduce((sum, term) => sum + Math.abs(term.value), 0);
  if (!(Math.abs(total - value) <= 1e-12 * size)) return `${total} is not ${value}`;
  if (!formula.includes("=") && terms.length !== 1) return `no formula: ${formula}`;
  const said = [formula, ...notes, ...terms.map(({label}) => label)];
  if ((!notes.length && !origin) || said.some((text) => !text || /undefined|null|[{}$]/.test(text)))
    return `words: ${said}`;
  for (const {factors, value: product, goes} of terms) {
    const made = factors.reduce((result, factor) => result * factor.value, 1);
    if (factors.length && !(Math.abs(made - product) <= 1e-14 * Math.abs(product))) return "no product of its factors";
    const cells = [...factors, ...(goes ? [goes] : [])].filter(({name}) => name !== null);
    if (cells.some(({name, row, column}) => trace.arrays.get(name)?.at(row, column) === undefined))
      return "leads nowhere";
  }
  return null;
}

function losses(data, bug, steps = 6) {
  const model = makeModel(data);
  resetParameters(model, 1);
  const trainer = makeTrainer(model, {...data.optimizer, lr: 0.02});
  return Array.from({length: steps}, () => trainer.step([data.examples[1]], {bug}));
}

// The trainer's next step as arrays and sums, and then made
function updated(model, trainer, examples) {
  const trace = run(model, examples[0]);
  trace.steps = stepsOf(trace);
  addUpdate(trace, trainer, examples.slice(0, 4));
  const {arrays, loss} = trace.update.next();
  const shown = [...arrays.values()].filter(({name}) => /^(?!d\()\w+\(|^norm$|^clip$/.test(name));
  const sums = explained(trace, shown);
  const after = trace.update.lossAfter(examples[0]);
  const made = trainer.step(examples.slice(0, 4));
  return {arrays: numbersOf(shown), sums, loss, made, losses: [after, run(model, examples[0]).loss]};
}

function answered(data) {
  const model = makeModel(data);
  const traces = data.examples.map((example) => run(model, example));
  const steps = traces.map(stepsOf);
  const rival = run(model, data.examples[1], {rival: asked.rival});
  const [, second] = traces;
  const answer = {
    traces: traces.map((trace, n) => ({
      loss: trace.loss,
      steps: steps[n].map(({of, ...step}) => step),
      arrays: numbersOf([...trace.arrays.values()].filter(({isHidden}) => !isHidden)),
    })),
    explained: explained(second, second.arrays.values()),
    rival: {
      loss: rival.loss,
      arrays: numbersOf([...rival.arrays.values()]),
      explained: explained(
        rival,
        [...rival.arrays.values()].filter(({name}) => /logits|difference/.test(name)),
      ),
    },
    paths: asked.followed
      .filter(({name}) => second.arrays.has(`d(${name})`))
      .map((place) => {
        const {stops, roads} = pathsOf(second, place);
        const gradient = second.arrays.get(`d(${place.name})`).at(place.row, place.column);
        return {...place, gradient, roads, stops: stops.map(({array, total}) => ({name: array.name, total}))};
      }),
    moved: asked.moved.map((place) => whatIf(traces[0], place, place.value).loss),
    unlit: steps[0].filter(({phase, kind, part}) => !(data.source.steps[`${phase} ${kind} ${part}`] ?? []).length),
  };
  const trainer = makeTrainer(model, data.optimizer);
  answer.updates = Array.from({length: asked.updates}, () => updated(model, trainer, data.examples));
  return answer;
}

// What a bug changes: the gradients that are others than the right ones, the first on the way back, and training
function broken(data, id) {
  const model = makeModel(data);
  const [right, wrong] = [null, id].map((bug) => run(model, data.examples[1], {bug}));
  const isOther = ({name, values, isHidden}) =>
    !isHidden && values.some((value, at) => Math.abs(value - wrong.arrays.get(name).values[at]) > 1e-9);
  const others = [...right.arrays.values()].filter(isOther).toSorted((a, b) => a.madeBy - b.madeBy);
  return {first: others[0].name, losses: losses(data, id), explained: explained(wrong, [wrong.arrays.get(others[0].name)], 1).wrong};
}

const [first] = asked.models;
writeFileSync(
  answers,
  JSON.stringify({
    models: asked.models.map(answered),
    broken: Object.fromEntries(
      Object.keys(first.formulas)
        .filter((name) => name.startsWith("bug "))
        .filter((_, number) => number % asked.bugs === 0)
        .map((name) => [name.slice(4), broken(first, name.slice(4))]),
    ),
    formulas: Object.fromEntries(
      asked.formulas.map((name) => [name, explain(run(makeModel(first), first.examples[1]), name, 1, 2).formula]),
    ),
  }),
);
