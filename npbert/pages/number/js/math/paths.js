// All paths between a number and the loss, as a few stops with roads between them, and how much of ∂loss/∂number flows
// along each road.
//
// Let ȧ be how fast an array a moves with the number: forward finds it, with the number a little to either side. On a
// road from a that brings back the gradient g, Σ g · ȧ flows: all paths that take it bring so much together, though none
// is counted. What flows into a stop flows out of it, and each cut across all roads carries the whole gradient.

import {whatIf} from "./run.js";

const FORKS = ["Fork", "Gather"];

// {stops: [{array, gradient, total}], roads: [{from, to, road, gradient, flow}]}. A stop is an array that nearly all
// must pass. `from` and `to` count the stops, and −1 is the number itself. `road` is its name where there are several.
export function pathsOf(trace, place) {
  const {program, arrays, goal} = trace;
  const array = arrays.get(place.name);
  const x = array.at(place.row, place.column);
  const h = 1e-4 * Math.max(1, Math.abs(x));
  const [above, below] = [x + h, x - h].map((value) => whatIf(trace, place, value).arrays);
  const flow = (gradient, name) =>
    arrays
      .get(gradient)
      .values.reduce(
        (sum, value, i) => sum + (value * (above.get(name).values[i] - below.get(name).values[i])) / (2 * h),
        0,
      );

  const passed = program.filter(({kind, index}) => index === program.length - 1 || FORKS.includes(kind));
  const inputOf = ({arrays: named}) => arrays.get(named.x ?? named.logits);
  const stops = [...passed.map((step) => ({step, array: inputOf(step)})), {step: null, array: arrays.get(goal)}]
    .map((stop) => ({...stop, gradient: `d(${stop.array.name})`}))
    .map((stop) => ({...stop, total: flow(stop.gradient, stop.array.name)}))
    .filter(({total, step}) => total !== 0 || step === null);

  const whole = arrays.get(`d(${place.name})`);
  const uses = [...new Set(whole.origins.map(({step}) => step))].map((step) => ({
    from: -1,
    to: stops.findIndex((stop) => stop.array.name === place.name || stop.step === null || stop.step.index > step.index),
    road: whole.soFar ? whole.origins.find((origin) => origin.step === step).line.terms[0].label : null,
    gradient: whole.name,
    flow: shareOf(whole, step, place),
  }));
  const others = stops.slice(0, -1).flatMap(({step, array: {name}, gradient}, from) => {
    const ways = step.kind === "Fork" ? step.roads.map((road) => [road, `d(${name}) ${road}`]) : [[null, gradient]];
    return ways.map(([road, back]) => ({from, to: from + 1, road, gradient: back, flow: flow(back, name)}));
  });
  return {stops, roads: [...uses.filter((road) => road.flow !== 0), ...others]};
}

// How much of a gradient one step has added to it.
function shareOf({soFar, values, shape}, step, {row, column}) {
  const at = row * shape[1] + column;
  const index = soFar?.findIndex((entry) => entry.step === step.back) ?? -1;
  return index < 0
    ? (soFar?.[0] ?? {values}).values[at]
    : soFar[index].values[at] - (soFar[index - 1]?.values[at] ?? 0);
}
