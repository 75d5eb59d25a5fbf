// What is 0 but for rounding: a float64 has some sixteen digits, so what should be 0 comes out as a tiny number.

import {largestIn} from "../math/index.js";
import {state} from "./state.js";

const ROUNDING = 1e-13; // a derivative that is smaller than this share of the largest of all is 0, but for rounding
const LEAST_CHANGE = 1e-12; // a loss that changes by less than this share of it has not moved

// Is this derivative 0, if float64 had all digits?
export function isRounding(slope) {
  return Math.abs(slope) <= ROUNDING * largestGradient();
}

// Is this array a gradient that is 0 all over, but for rounding?
export function isNearlyNothing(array) {
  return Boolean(array.gradientOf) && !array.soFar && isRounding(largestIn(array.values));
}

// Why a gradient is 0 all over, where it is; "" where it is not.
export function whyNothing(array) {
  if (!isNearlyNothing(array)) {
    return "";
  }
  if (state.bug) {
    return `All of ${array.symbol} is 0, says backward, in which a bug is planted.`;
  }
  const why = array.gradientOf.endsWith("key.bias")
    ? " A bias of K adds the same to a whole row of scores, and softmax does not notice." : "";
  return `All of ${array.symbol} is 0, but for rounding: the ${state.trace.goal} does not move with it.${why}`;
}

// Is this change of the loss so small that it is rounding, or nothing?
export function isNoChange(change) {
  return Math.abs(change) <= LEAST_CHANGE * Math.max(1, Math.abs(state.trace.loss));
}

// Of all gradients of parameters the largest number: sought once in each trace.
function largestGradient() {
  const {trace} = state;
  const sizes = () => [...trace.arrays.values()].filter(({parameter, gradient}) => parameter && gradient)
    .map(({gradient}) => largestIn(trace.arrays.get(gradient).values));
  trace.largestGradient ??= Math.max(...sizes());
  return trace.largestGradient;
}
