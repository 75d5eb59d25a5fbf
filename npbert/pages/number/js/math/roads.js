// The roads of which a gradient is the sum, each over the whole array.

import {partOf} from "./explain.js";
import {range} from "./terms.js";

// [{road, size}], size: √Σ² of what comes back on this road; empty where there is only one.
export function roadsOf(trace, name) {
  const {origins, shape: [rows, columns]} = trace.arrays.get(name);
  const parts = origins.map((origin) => partOf(origin)(0, 0));
  if (parts.length > 1) return parts.map(({road}, index) => ({road, size: Math.hypot(...origins[index].tensor.re)}));
  if (!parts[0]?.roads) return [];
  const partAt = partOf(origins[0]);
  const terms = range(rows * columns, (at) =>
    partAt(Math.floor(at / columns), at % columns).terms.map(({value}) => value));
  return parts[0].terms.map(({label}, index) => ({road: label, size: Math.hypot(...terms.map((cell) => cell[index]))}));
}
