// The roads of the gradients that this step adds up: which of them is the larger, over the whole array.

import {roadsOf} from "../math/index.js";
import {stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make} from "./dom.js";
import {percent, plainNumber, roundedNumber} from "./format.js";
import {state, watch} from "./state.js";

// Draw them, and again with every step.
export function showRoads() {
  watch(["trace", "step"], drawRoads);
}

function drawRoads() {
  const {trace, step} = state;
  const {phase, writes} = trace.steps[step];
  const added = phase === "backward" ? writes.filter((name) => stepThatMakes(name) === step) : [];
  const found = added.map((name) => [trace.arrays.get(name), roadsOf(trace, name)]).filter(([, roads]) => roads.length);
  byId("roads").replaceChildren(...found.map(([array, roads]) => roadsBox(array, roads)));
}

function roadsBox({symbol, values}, roads) {
  const all = roads.reduce((sum, {size}) => sum + size, 0);
  const terms = roads.map(({road, size}) =>
    ({label: road, value: size, said: `${plainNumber(size)} (${percent(size / all)})`, factors: [], goes: null}));
  const [first, second] = roads.toSorted((a, b) => b.size - a.size);
  const times = plainNumber(roundedNumber(first.size / second.size, 3));
  const text = `Most comes back “${first.road}”: ${times} times as much as “${second.road}”, by √Σ² over all numbers. `
    + `Added up, ${symbol} has ${plainNumber(Math.hypot(...values))}.`;
  return make("section", {"aria-label": `the roads of ${symbol}`},
    make("h3", {}, `${symbol}: which road is the larger?`),
    barsOf({terms, total: null, roads: true}),
    make("p", {class: "quiet"}, text),
  );
}
