// Numbers by their place: {name, row, column}, the name of an array of the trace.

import {choose} from "./actions.js";
import {nameOf} from "./labels.js";
import {isNearlyNothing} from "./heatmap.js";
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

// The value that is chosen, or whose gradient is; where there is none, the steepest weight is chosen.
export function chosenValue() {
  const array = state.chosen && state.trace.arrays.get(state.chosen.name);
  if (!array || (array.isGradient && !array.gradientOf)) {
    choose(steepestWeights()[0]);
  }
  const {chosen, trace} = state;
  return {...chosen, name: trace.arrays.get(chosen.name).gradientOf ?? chosen.name};
}

// What backward says of a value: its derivative, or null for what has none (an array on the way that is not kept).
export function derivativeAt({name, row, column}) {
  const {arrays} = state.trace;
  const gradient = arrays.get(arrays.get(name).gradient);
  return gradient ? gradient.values[row * gradient.shape[1] + column] : null;
}

// Of each matrix of the model the weight whose gradient is largest, the steepest of them first.
export function steepestWeights() {
  const {arrays} = state.trace;
  const matrices = [...arrays.values()].filter(({parameter, shape}) => parameter && shape[0] > 1);
  const steepest = matrices.map(({name, gradient, shape}) => {
    const slopes = arrays.get(gradient).values.map(Math.abs);
    const index = slopes.indexOf(Math.max(...slopes));
    return {steepness: slopes[index], place: {name, row: Math.floor(index / shape[1]), column: index % shape[1]}};
  });
  return steepest.sort((a, b) => b.steepness - a.steepness).map(({place}) => place);
}

// Did the reader put this number where it is?
export function isMovedByHand({name, row, column}) {
  return state.changed.some((place) => place.name === name && place.row === row && place.column === column);
}

// Why a gradient is 0 all over, where it is; "" where it is not.
export function whyNothing(array) {
  if (!isNearlyNothing(array)) {
    return "";
  }
  const isKey = array.gradientOf?.endsWith("key.bias");
  const why = isKey
    ? " A bias of K adds the same to a whole row of scores, and softmax does not notice."
    : "";
  return `All of ${array.symbol} is 0, but for rounding: the loss does not move with it.${why}`;
}

// What a gradient of which several steps add was after step `step`; of all else, its values.
export function valuesAfter(array, step) {
  return array.soFar?.findLast((entry) => entry.step <= step)?.values ?? array.values;
}
