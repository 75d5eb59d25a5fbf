// Numbers by their place: {name, row, column}, the name of an array of the trace.

import {complexStepIn} from "../math/index.js";
import {choose} from "./actions.js";
import {bestOf, nameOf} from "./labels.js";
import {isRounding} from "./nothing.js";
import {state} from "./state.js";

// The number at a place.
export function valueAt({name, row, column}) {
  const array = state.trace.arrays.get(name);
  return array.values[row * array.shape[1] + column];
}

// What the number at a place is called.
export function titleOf({name, row, column}) {
  return nameOf(state.trace.arrays.get(name), row, column);
}

// Can this number be moved, and the loss then be another one?
export function isMovable({name}) {
  const {arrays, recorder, goal} = state.trace;
  const value = arrays.get(name).gradientOf ?? name;
  return recorder.arrays.has(value) && value !== goal;
}

// The value that is chosen, or whose gradient is; where it cannot be moved, the steepest weight is chosen.
export function chosenValue() {
  if (!state.chosen || !isMovable(state.chosen)) {
    choose(steepestWeights(1)[0]);
  }
  const {chosen, trace} = state;
  return {...chosen, name: trace.arrays.get(chosen.name).gradientOf ?? chosen.name};
}

// What backward says of a value: its derivative, or null for what has none (an array on the way that is not kept).
export function derivativeAt({name, row, column}) {
  const {gradient} = state.trace.arrays.get(name);
  return gradient ? valueAt({name: gradient, row, column}) : null;
}

// How the loss really moves with a value, whatever backward says: by the complex step, which asks forward alone.
export function trueSlopeAt(place) {
  return complexStepIn(state.trace, place);
}

// Is what backward says the true slope, but for rounding?
export function isSlope(said, truth) {
  const isNothing = isRounding(said) && isRounding(truth);
  return isNothing || Math.abs(said - truth) <= 1e-9 * Math.max(Math.abs(said), Math.abs(truth));
}

// Of all matrices of the model the `count` weights whose gradients are largest, the steepest first.
export function steepestWeights(count) {
  const {arrays} = state.trace;
  const matrices = [...arrays.values()].filter(({parameter, shape}) => parameter && shape[0] > 1);
  const steepest = matrices.flatMap(({name, gradient, shape}) => {
    const slopes = arrays.get(gradient).values.map(Math.abs);
    return bestOf(slopes, count).map((index) =>
      ({steepness: slopes[index], place: {name, row: Math.floor(index / shape[1]), column: index % shape[1]}}));
  });
  return steepest.sort((a, b) => b.steepness - a.steepness).slice(0, count).map(({place}) => place);
}

// Did the reader put this number where it is?
export function isMovedByHand({name, row, column}) {
  return state.changed.some((place) => place.name === name && place.row === row && place.column === column);
}

// What a gradient of which several steps add was after step `step`; of all else, its values.
export function valuesAfter(array, step) {
  return array.soFar?.findLast((entry) => entry.step <= step)?.values ?? array.values;
}
