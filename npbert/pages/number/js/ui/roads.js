// The roads of the gradients that this step adds up: which of them is the larger, over the whole array. And of all
// residuals: how much comes back past each block, and how much through it.

import {roadsOf} from "../math/index.js";
import {stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton} from "./dom.js";
import {percent, plainNumber, roundedNumber} from "./format.js";
import {partInWords} from "./labels.js";
import {bugAt} from "./notes.js";
import {said} from "./said.js";
import {state, watch} from "./state.js";
import {stepTo} from "./strip.js";

// Draw them, and again with every step.
export function showRoads() {
  watch(["trace", "step"], drawRoads);
  watch(["trace"], () => byId("forks").replaceChildren(...forks().map(forkRow)));
}

function drawRoads() {
  const {trace, step} = state;
  const {phase, writes} = trace.steps[step];
  const added = phase === "backward" ? writes.filter((name) => stepThatMakes(name) === step) : [];
  const found = added.map((name) => [trace.arrays.get(name), roadsOf(trace, name)]).filter(([, roads]) => roads.length);
  byId("roads").replaceChildren(...found.map(([array, roads]) => roadsBox(array, roads)));
}

function roadsBox({name, symbol, values}, roads) {
  const [first, second] = roads.toSorted((a, b) => b.size - a.size);
  const times = plainNumber(roundedNumber(first.size / second.size, 3));
  const fork = forks().find(({gradient, through}) => gradient === name && through.length > 1);
  const [past, through] = (fork?.sizes ?? []).map(plainNumber);
  const sentences = [
    said("roads.most", {first, second, times}),
    fork ? said("roads.block", {past, through}) : "",
    said("roads.sum", {symbol, size: plainNumber(Math.hypot(...values))}),
    bugAt(state.trace.steps[state.step]) ? said("roads.bug") : "",
  ];
  return make("section", {"aria-label": `the roads of ${symbol}`},
    make("h3", {}, `${symbol}: which road is the larger?`),
    barsOf({terms: shares(roads), total: null, roads: true}),
    make("p", {class: "quiet"}, sentences.filter(Boolean).join(" ")),
  );
}

// Sizes as the terms of bars, each with its share of them all.
function shares(roads) {
  const all = roads.reduce((sum, {size}) => sum + size, 0);
  return roads.map(({road, size}) =>
    ({label: road, value: size, said: `${plainNumber(size)} (${percent(size / all)})`, factors: [], goes: null}));
}

// Where the residual forks, the last one first, as backward comes to them: what comes back past the block, and through
// it, be that one road or several.
function forks() {
  const {recorder, arrays} = state.trace;
  const records = recorder.records.filter(({operation}) => operation.kind === "Fork").toReversed();
  return records.map(({part, inputs: {x}, outputs}) => {
    const [past, ...through] = Object.values(outputs).map(({gradient}) => arrays.get(gradient).values);
    const together = past.map((_, at) => through.reduce((sum, values) => sum + values[at], 0));
    return {part, gradient: x.gradient, through, sizes: [past, together].map((values) => Math.hypot(...values))};
  });
}

function forkRow({part, gradient, sizes: [past, through]}) {
  const step = stepThatMakes(gradient);
  const button = makeButton(`Step ${step + 1}: ${partInWords(part)}`, () => stepTo(step));
  const roads = [{road: "past it", size: past}, {road: "through it", size: through}];
  return make("li", {}, button, barsOf({terms: shares(roads), total: null, roads: true}));
}
