// Arrays with their names, and what a reader wants to know of each; and formulas computed on them.

import {refsIn} from "./formulas.js";
import {FUNCTIONS} from "./functions.js";

// What is said of most arrays. head: of which head it is, or null. gradientOf: the name of what it is the gradient of.
// isHidden: it only helps to compute. soFar: of a gradient to which several steps add, [{step, values}] after each.
const USUAL = {meaning: "", head: null, gradientOf: null, isHidden: false, soFar: null, madeBy: null};

// about: its symbol, rows and columns (what they are, such as tokens and features), and what else is said of it.
// origins: the formulas that make it, as {step, line}.
export class NamedArray {
  constructor(name, about, shape, values = new Float64Array(shape[0] * shape[1])) {
    Object.assign(this, USUAL, about, {name, shape, values, origins: []});
  }

  at(row, column) {
    return this.values[row * this.shape[1] + column];
  }

  // The same array with other values
  withValues(values) {
    return Object.assign(new NamedArray(this.name, this, this.shape, values), {origins: this.origins});
  }
}

// What `count` letters of an index run along in an array: its rows and columns; or if it is one letter, those of which
// there are several. stride: how far apart in memory two neighbours are.
export function axesFor({rows, columns, shape}, count) {
  const both = [
    {kind: rows, size: shape[0], stride: shape[1]},
    {kind: columns, size: shape[1], stride: 1},
  ];
  return count === 1 && columns !== "one" ? both.slice(1) : both;
}

// From where to where a letter of a formula runs: over an axis of an array, or over the features of one head.
export function rangesOf({arrays, lookups, headSize}, step, refs) {
  const ranges = new Map();
  for (const {name, index} of refs) {
    const axes = axesFor(arrays.get(name), index.length);
    index.forEach(({letter, lookup}, place) => {
      const head = letter.match(/\d+$/)?.[0];
      const size = lookup ? lookups[step.lookups[lookup]].length : axes[place].size;
      if (!(letter in step.indices) && !ranges.has(letter)) {
        ranges.set(letter, head === undefined ? [0, size] : [head * headSize, (Number(head) + 1) * headSize]);
      }
    });
  }
  return ranges;
}

// Where an index leads when its letter is at `at`.
export function placeAt(world, step, {letter, lookup}, at) {
  const place = step.indices[letter] ?? at;
  return lookup ? world.lookups[step.lookups[lookup]][place] : place;
}

// What a constant of a step is: a number as it stands, or by its name.
export const constantIn = (step, name) => step.constants[name] ?? Number(name);

// Compute one formula into the values of its target. terms: those of the line, or some of them.
export function compute(world, step, line, target, terms = line.terms) {
  if (line.way === "max") {
    target.values.fill(-Infinity);
  }
  for (const term of terms) {
    addTerm(world, step, line, target, term);
  }
}

const WRITE = {
  "=": (values, at, x) => {
    values[at] += x;
  },
  last: (values, at, x) => {
    values[at] = x;
  },
  max: (values, at, x) => {
    values[at] = Math.max(values[at], x);
  },
};

// One term of a formula: a loop over each letter, in which the target and every array that is read move on.
function addTerm(world, step, {target, way}, {values}, term) {
  const {refs, loops, stack} = planOf(world, step, target, term);
  const read = refs.map(({name}) => world.arrays.get(name).values);
  const constants = term.factors.filter(({constant}) => constant).map(({constant}) => constantIn(step, constant));
  const scale = constants.reduce((a, b) => a * b, term.sign);
  const factors = evaluators(step, term.factors, read);
  const write = WRITE[way];
  const isPlain = refs.length === 3 && factors.length === 2 && way === "=" && term.factors.every(({args}) => !args);

  function visit(at) {
    let product = scale;
    for (let n = 0; n < factors.length; n++) {
      product *= factors[n](at);
    }
    write(values, at[0], product);
  }

  // The innermost loop of a product of two arrays, which takes most of the time
  function sweepPlain({size, moves: [moveY, moveA, moveB]}, [y, a, b]) {
    const [, left, right] = read;
    for (let n = 0; n < size; n++) {
      values[y + moveY[n]] += scale * left[a + moveA[n]] * right[b + moveB[n]];
    }
  }

  function sweep(depth) {
    const from = stack[depth];
    if (depth === loops.length) {
      visit(from);
    } else if (isPlain && depth === loops.length - 1) {
      sweepPlain(loops[depth], from);
    } else {
      const {size, moves} = loops[depth];
      const to = stack[depth + 1];
      for (let n = 0; n < size; n++) {
        for (let which = 0; which < to.length; which++) {
          to[which] = from[which] + moves[which][n];
        }
        sweep(depth + 1);
      }
    }
  }

  sweep(0);
}

// The loops of a term, and how far each array moves on at every number of theirs. Without a lookup they are the same for
// all sentences of one length, and are kept.
function planOf(world, step, target, term) {
  const key = `${world.lookups.positions?.length} ${world.lookups.masked?.length}`;
  const kept = term.plans?.get(key);
  if (kept) {
    return kept;
  }
  const refs = [target, ...refsIn(term.factors)];
  const indices = refs.flatMap(({name, index}, which) => {
    const axes = axesFor(world.arrays.get(name), index.length);
    return index.map((one, dim) => ({one, which, stride: axes[dim].stride}));
  });
  const starts = refs.map(() => 0);
  for (const {one, which, stride} of indices.filter((index) => index.one.letter in step.indices)) {
    starts[which] += stride * placeAt(world, step, one, 0);
  }
  const loops = [...rangesOf(world, step, refs)].map(([letter, [from, to]]) => {
    const moves = refs.map(() => new Int32Array(to - from));
    for (const {one, which, stride} of indices.filter((index) => index.one.letter === letter)) {
      moves[which].forEach((_, n) => {
        moves[which][n] += stride * placeAt(world, step, one, from + n);
      });
    }
    return {size: to - from, moves};
  });
  const plan = {refs, loops, stack: Array.from({length: loops.length + 1}, () => Int32Array.from(starts))};
  if (!indices.some(({one}) => one.lookup)) {
    term.plans ??= new Map();
    term.plans.set(key, plan);
  }
  return plan;
}

// For each factor but constants, how its number is found when the arrays stand at their places `at`: first the target,
// then each array in order.
function evaluators(step, factors, read) {
  let next = 0;
  const valueOf = ({args, of, constant}) => {
    if (args) {
      const [first, second] = args.map(valueOf);
      const call = FUNCTIONS[of].of;
      return second ? (at) => call(first(at), second(at)) : (at) => call(first(at));
    }
    if (constant) {
      const value = constantIn(step, constant);
      return () => value;
    }
    next += 1;
    const [values, which] = [read[next], next];
    return (at) => values[at[which]];
  };
  return factors.filter(({constant}) => !constant).map(valueOf);
}
