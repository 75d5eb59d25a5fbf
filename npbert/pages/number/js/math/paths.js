// All paths between a number and the loss, as a few stops with roads between them, and how much of ∂loss/∂number flows
// along each road.
//
// Let ȧ be how fast an array a moves with the number: forward finds it, with the number a little to either side. On a
// road from a that brings back the gradient g, Σ g · ȧ flows: all paths that take it bring so much together, though none
// is counted. What flows into a stop flows out of it, and each cut across all roads carries the whole gradient.

import {whatIf} from "./run.js";

// {stops: [{array, gradient, total}], roads: [{from, to, road, gradient, flow}]}. A stop is an array that nearly all
// must pass. `from` and `to` count the stops, and −1 is the number itself. `road` is its name where there are several.
export function pathsOf(trace, place) {
  const {program, arrays, goal} = trace;
  const x = arrays.get(place.name).at(place.row, place.column);
  const h = 1e-4 * Math.max(1, Math.abs(x));
  const [above, below] = [x + h, x - h].map((value) => whatIf(trace, place, value).arrays);
  const flow = (gradient, name) => {
    const [more, less] = [above, below].map((moved) => moved.get(name).values);
    return arrays.get(gradient).values.reduce((sum, g, i) => sum + (g * (more[i] - less[i])) / (2 * h), 0);
  };
  const stopAt = (array, step) => {
    const gradient = `d(${array.name})`;
    return {array, step, gradient, total: flow(gradient, array.name)};
  };
  const passed = program.filter(({kind}) => ["Fork", "Gather", "CrossEntropy", "Difference"].includes(kind));
  const inputOf = ({arrays: named}) => arrays.get(named.x ?? named.logits);
  const found = passed.map((step) => stopAt(inputOf(step), step)).filter(({total}) => total !== 0);
  const stops = [...found, stopAt(arrays.get(goal), null)];

  const whole = arrays.get(`d(${place.name})`);
  const uses = [...new Set(whole.origins.map(({step}) => step))].map((step) => ({
    from: -1,
    to: stops.findIndex((stop) => stop.array.name === place.name || stop.step === null || stop.step.index > step.index),
    road: whole.soFar ? whole.origins.find((origin) => origin.step === step).line.terms[0].label : null,
    gradient: whole.name,
    flow: shareOf(whole, step, place),
  }));
  const others = found.flatMap(({step, array: {name}, gradient}, from) => {
    const ways = step.kind === "Fork" ? step.roads.map((road) => [road, `d(${name}) ${road}`]) : [[null, gradient]];
    return ways.map(([road, back]) => ({from, to: from + 1, road, gradient: back, flow: flow(back, name)}));
  });
  return {stops, roads: [...uses.filter((road) => road.flow !== 0), ...others]};
}

// How much of a gradient one step has added to it.
function shareOf({soFar, values, shape}, step, {row, column}) {
  const at = row * shape[1] + column;
  const after = soFar ?? [{step: step.back, values}];
  const index = after.findIndex((entry) => entry.step === step.back);
  return after[index].values[at] - (after[index - 1]?.values[at] ?? 0);
}
