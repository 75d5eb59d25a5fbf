/* The number that is moved or checked: always a value, never a gradient. */

import {choose} from "./actions.js";
import {state} from "./state.js";

/** The value that is chosen, or whose gradient is; where none is, the weight that moves the loss most is chosen. */
export function chosenValue() {
  if (!state.chosen) {
    choose(steepestWeight());
  }
  const {chosen, trace} = state;
  return {...chosen, name: trace.arrays.get(chosen.name)?.gradientOf ?? chosen.name};
}

/** What backward says of a value: its derivative, or null for what has none (an array on the way that is not kept). */
export function derivativeAt({name, row, column}) {
  const {arrays} = state.trace;
  const gradient = arrays.get(arrays.get(name).gradient);
  return gradient ? gradient.values[row * gradient.shape[1] + column] : null;
}

/** The weight (in no table, of no bias) whose gradient is largest. */
export function steepestWeight() {
  const {arrays} = state.trace;
  let [best, most] = [null, -1];
  for (const array of arrays.values()) {
    if (!array.parameter || !["features", "intermediate"].includes(array.rows)) {
      continue;
    }
    arrays.get(array.gradient).values.forEach((value, index) => {
      if (Math.abs(value) > most) {
        most = Math.abs(value);
        best = {name: array.name, row: Math.floor(index / array.shape[1]), column: index % array.shape[1]};
      }
    });
  }
  return best;
}
