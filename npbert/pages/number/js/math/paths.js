// All paths between a number and the loss, as a few stops with roads between them, and how much of ∂loss/∂number flows
// along each road.
//
// Let ȧ be how fast an array a moves with the number: the complex step finds it for all arrays in one forward. On a road
// from a that brings back the gradient g, Σ g · ȧ flows: all paths that take this road bring so much together, though
// none is counted. What flows into a stop flows out of it, and each cut across all roads carries the whole gradient.

import {partOf} from "./explain.js";
import {movedBy} from "./recorder.js";

const TINY = 1e-30;

// {stops: [{array, gradient, total}], roads: [{from, to, road, gradient, flow}]}. A stop is an array that nearly all
// must pass: what forks, what is gathered for the predictions, what the last step reads, and what backward begins at.
// `from` and `to` count the stops, and −1 is the number itself. `road` is its name where there are several.
export function pathsOf(trace, place) {
  const {records} = trace.recorder;
  const {tensor, gradient: whole} = trace.arrays.get(place.name);
  const turned = tensor.with(place.row, place.column, {re: tensor.at(place.row, place.column), im: TINY});
  const moved = movedBy(records, place.name, turned);
  const flow = (gradient, {name}) => trace.arrays.get(gradient).tensor.re.reduce(
    (sum, value, i) => sum + value * (moved.get(name)?.im[i] ?? 0) / TINY, 0);

  const passed = records.filter((one, n) => n === records.length - 1 || /Fork|Gather/.test(one.operation.kind));
  const stops = [
    ...passed.map((record) => ({record, array: Object.values(record.inputs)[0]})),
    {record: null, array: trace.arrays.get(trace.goal)},
  ].map((stop) => ({...stop, gradient: stop.array.gradient, total: flow(stop.array.gradient, stop.array)}))
    .filter(({total, record}) => total !== 0 || record === null);

  const first = trace.arrays.get(whole).origins.map((origin) => ({
    from: -1,
    to: stops.findIndex(({array, record}) =>
      array.name === place.name || record === null || record.index > origin.record.index),
    road: partOf(origin)(0, 0).road ?? null,
    gradient: whole,
    flow: origin.tensor.at(place.row, place.column),
  }));
  const others = stops.slice(0, -1).flatMap(({record, array, gradient}, from) => {
    const ways = record.operation.kind === "Fork" ? Object.values(record.outputs) : [{gradient}];
    return ways.map(({gradient: back}, n) =>
      ({from, to: from + 1, road: record.settings.roads?.[n] ?? null, gradient: back, flow: flow(back, array)}));
  });
  return {stops, roads: [...first.filter((road) => road.flow !== 0), ...others]};
}
