// The check: every derivative that backward found, beside what forward alone says.

import {complexStepIn, sixPointsIn} from "./differences.js";
import {largestIn, sumOfSquares} from "./tensor.js";

// A step is small beside the numbers of its array: in a fresh model, where these are about 0.02, the loss bends sooner.
const METHODS = {
  differences: {estimate: sixPointsIn, stepFor: (values) => 3e-3 * Math.max(usualSize(values), 0.02), tolerance: 1e-7},
  complex: {estimate: complexStepIn, stepFor: () => 1e-30, tolerance: 1e-11},
};
const SMALLEST_SHARE = 0.01; // a gradient of nearly 0 is compared with a hundredth of the largest of all,
const SMALLEST = 1e-4; // or with this, where all are small: of a smaller one, a difference of losses has too few digits

// The check, number by number: yields the share that is done, so that a page can do it a little at a time, and returns
// {count, ok, worst, first, perParameter: [{name, parameter, count, worst, ok}], method, tolerance}. An error is
// relative to the derivative. The arrays are in the order in which backward completes their gradients; `first` is the
// first of which it is wrong.
//
// sample: of each array at most so many numbers, spread over it. activations: the arrays on the way, too, so that
// `first` is where a bug is. method: differences or complex.
export function* checking(trace, {sample = Infinity, activations = false, method = "differences"} = {}) {
  const checked = [...trace.arrays.values()].filter(({gradient, parameter}) => gradient && (parameter || activations));
  const largest = Math.max(...checked.map(({gradient}) => largestIn(trace.arrays.get(gradient).values)));
  const scale = Math.max(SMALLEST_SHARE * largest, SMALLEST);
  const total = checked.reduce((sum, {values}) => sum + Math.min(sample, values.length), 0);
  const {estimate, stepFor, tolerance} = METHODS[method];
  const perParameter = [];
  let done = 0;
  for (const {name, parameter, gradient, shape, values} of checked) {
    const count = Math.min(sample, values.length);
    const h = stepFor(values);
    let worst = {error: -1};
    for (let i = 0; i < count; i++, done++) {
      const place = Math.floor(i * values.length / count);
      const where = {name, row: Math.floor(place / shape[1]), column: place % shape[1]};
      const analytic = trace.arrays.get(gradient).values[place], numeric = estimate(trace, where, h);
      const error = Math.abs(analytic - numeric) / Math.max(Math.abs(analytic), Math.abs(numeric), scale);
      if (!(error <= worst.error)) worst = {...where, analytic, numeric, error};
      yield done / total;
    }
    perParameter.push({name, parameter, count, worst, ok: worst.error <= tolerance});
  }
  perParameter.sort((a, b) => completeAt(trace, a.name) - completeAt(trace, b.name));
  return {count: total, method, tolerance, ...verdict(perParameter), perParameter};
}

function verdict(perParameter) {
  const worst = perParameter.map((one) => one.worst).reduce((a, b) => (b.error <= a.error ? a : b)); // NaN is worst
  const first = perParameter.find(({ok}) => !ok);
  return {ok: !first, worst, first: first?.name ?? null};
}

// After which step an array's gradient has all that is added to it
function completeAt(trace, name) {
  const {gradient} = trace.arrays.get(name);
  return trace.steps.findLast(({writes}) => writes.includes(gradient))?.index ?? 0;
}

const usualSize = (values) => Math.sqrt(sumOfSquares(values) / values.length);
