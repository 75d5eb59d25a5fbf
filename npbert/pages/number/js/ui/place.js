// Numbers by their place: {name, row, column}, the name of an array of the trace.

import {choose} from "./actions.js";
import {nameOf} from "./labels.js";
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

// The value that is chosen, or whose gradient is; where there is none, a weight of the first layer is chosen.
export function chosenValue() {
  const array = state.chosen && state.trace.arrays.get(state.chosen.name);
  if (!array || (array.isGradient && !array.gradientOf)) {
    choose(steepestWeight());
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

// Of the weights of the first layer, that whose gradient is largest: many steps lie between it and the loss.
export function steepestWeight() {
  const {arrays} = state.trace;
  const isOne = ({name, parameter, shape}) => parameter && name.includes(".layers.0.") && shape[0] > 1;
  const places = [...arrays.values()].filter(isOne).flatMap(({name, gradient, shape}) =>
    Array.from(arrays.get(gradient).values, (slope, index) => ({
      steepness: Math.abs(slope),
      place: {name, row: Math.floor(index / shape[1]), column: index % shape[1]},
    })),
  );
  return places.reduce((best, other) => (other.steepness > best.steepness ? other : best)).place;
}
