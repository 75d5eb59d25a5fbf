// Arrays with their names, and what a reader wants to know of each; and formulas computed on them.

import {FUNCTIONS} from "./functions.js";

// rows, columns: what they are, such as tokens and features. head: of which head it is, or null. gradientOf: the name of
// what it is the gradient of. isHidden: it only helps to compute. origins: the formulas that make it, as {step, line}.
// soFar: of a gradient to which several steps add, [{step, values}] after each; or null.
export class NamedArray {
  constructor(name, about, shape, values = new Float64Array(shape[0] * shape[1])) {
    this.name = name;
    this.shape = shape;
    this.values = values;
    this.symbol = about.symbol;
    this.meaning = about.meaning ?? "";
    this.rows = about.rows;
    this.columns = about.columns;
    this.head = about.head ?? null;
    this.parameter = about.parameter ?? false;
    this.isGradient = about.isGradient ?? false;
    this.gradientOf = about.gradientOf ?? null;
    this.isHidden = about.isHidden ?? false;
    this.soFar = about.soFar ?? null;
    this.origins = [];
    this.madeBy = about.madeBy ?? null;
  }

  at(row, column) {
    return this.values[row * this.shape[1] + column];
  }

  // The same array with other values
  withValues(values) {
    return Object.assign(new NamedArray(this.name, this, this.shape, values), {origins: this.origins});
  }

  // A copy in which one number is another.
  with(row, column, value) {
    const copy = this.withValues(this.values.slice());
    copy.values[row * this.shape[1] + column] = value;
    return copy;
  }
}

// How far apart in memory two neighbours along each index of an array are.
export function stridesOf({rows, columns, shape}, count) {
  if (count === 2) {
    return [shape[1], 1];
  }
  return count === 0 ? [] : [columns === "one" ? shape[1] : 1];
}

// From where to where a letter of a formula runs: over an axis of an array, or over the features of one head.
export function rangesOf(world, step, refs) {
  const ranges = new Map();
  for (const {name, index} of refs) {
    const array = world.arrays.get(name);
    index.forEach(({letter, lookup}, place) => {
      if (letter in (step.indices ?? {}) || ranges.has(letter)) {
        return;
      }
      const axis = index.length === 1 && array?.columns !== "one" ? 1 : place;
      const size = lookup ? world.lookups[step.lookups[lookup]].length : array?.shape[axis];
      const head = letter.match(/\d+$/)?.[0];
      if (head !== undefined) {
        ranges.set(letter, [head * world.headSize, (Number(head) + 1) * world.headSize]);
      } else if (size !== undefined) {
        ranges.set(letter, [0, size]);
      }
    });
  }
  return ranges;
}

// Where an index leads when its letter is at `at`.
export function placeAt(world, step, {letter, lookup}, at) {
  const place = step.indices?.[letter] ?? at;
  return lookup ? world.lookups[step.lookups[lookup]][place] : place;
}

// What a constant of a step is: a number as it stands, or by its name.
export const constantIn = (step, name) => step.constants?.[name] ?? Number(name);

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
  const scale = term.factors.reduce(
    (product, one) => (one.constant ? product * constantIn(step, one.constant) : product),
    term.sign,
  );
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

  function sweep(depth) {
    const {size, moves} = loops[depth];
    const from = stack[depth];
    const to = stack[depth + 1];
    if (isPlain && depth === loops.length - 1) {
      const [moveY, moveA, moveB] = moves;
      const [, left, right] = read;
      const [y, a, b] = [from[0], from[1], from[2]];
      for (let n = 0; n < size; n++) {
        values[y + moveY[n]] += scale * left[a + moveA[n]] * right[b + moveB[n]];
      }
      return;
    }
    for (let n = 0; n < size; n++) {
      for (let which = 0; which < to.length; which++) {
        to[which] = from[which] + moves[which][n];
      }
      if (depth + 1 < loops.length) {
        sweep(depth + 1);
      } else {
        visit(to);
      }
    }
  }

  if (loops.length) {
    sweep(0);
  } else {
    visit(stack[0]);
  }
}

// The loops of a term, and how far each array moves on at every number of theirs. Without a lookup they are the same for
// all sentences of one length, and are kept.
function planOf(world, step, target, term) {
  const key = `${world.lookups.positions?.length} ${world.lookups.masked?.length}`;
  const kept = term.plans?.get(key);
  if (kept) {
    return kept;
  }
  const refs = [target, ...refsOf(term.factors)];
  const ranges = [...rangesOf(world, step, refs)];
  const indices = refs.flatMap(({name, index}, which) => {
    const strides = stridesOf(world.arrays.get(name), index.length);
    return index.map((one, dim) => ({one, which, stride: strides[dim]}));
  });
  const starts = refs.map(() => 0);
  for (const {one, which, stride} of indices.filter(({one: {letter}}) => letter in (step.indices ?? {}))) {
    starts[which] += stride * placeAt(world, step, one, 0);
  }
  const loops = ranges.map(([letter, [from, to]]) => {
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

// The arrays of all factors, in order, those within functions too.
export const refsOf = (factors) => factors.flatMap((one) => (one.args ? refsOf(one.args) : one.constant ? [] : [one]));

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
