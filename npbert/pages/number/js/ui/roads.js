// The roads of the gradients that this step adds up: which of them is the larger, over the whole array. And of all
// residuals: how much comes back past each block, and how much through it.

import {roadsOf} from "../math/explain.js";
import {goToStep, stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton, show} from "./dom.js";
import {percent, plainNumber} from "./format.js";
import {arrayNamed, partInWords} from "./labels.js";
import {state, watch} from "./state.js";

export function showRoads() {
  watch(["trace"], () => show("forks", ...forks()));
}

// Draw those of a step.
export function drawRoads({phase, writes}) {
  const found = phase === "backward" ? writes.filter((name) => stepThatMakes(name) === state.step) : [];
  const boxes = found.map((name) => [arrayNamed(name), roadsOf(state.trace, name)]).filter(([, roads]) => roads.length);
  show("roads", ...boxes.map(([{symbol, values}, roads]) => roadsBox(symbol, values, roads)));
  byId("residuals").hidden = phase === "update";
}

function roadsBox(symbol, values, roads) {
  const [first, second] = roads.toSorted((a, b) => b.size - a.size);
  const times = plainNumber(first.size / second.size, 3);
  return make(
    "section",
    {"aria-label": `the roads of ${symbol}`},
    make("h3", {}, `${symbol}: which road is the larger?`),
    sizes(roads),
    make(
      "p",
      {class: "quiet"},
      `Most comes back “${first.road}”: ${times} times as much as “${second.road}”, by √Σ² over ` +
        `all numbers. Added up, ${symbol} has ${plainNumber(Math.hypot(...values), 3)}: the roads may point different ways.`,
    ),
  );
}

// Bars of sizes, which have no sign, each with its share of them all.
function sizes(roads) {
  const all = roads.reduce((sum, {size}) => sum + size, 0);
  const terms = roads.map(({road, size}) => ({
    label: road,
    value: size,
    said: `${plainNumber(size, 3)} (${percent(size / all)})`,
    factors: [],
    goes: null,
  }));
  const bars = barsOf({terms, total: null, roads: true});
  bars.classList.add("sizes");
  return bars;
}

// Where the residual forks, the last one first, as backward comes to them.
function forks() {
  const {program, arrays} = state.trace;
  return program
    .filter(({kind}) => kind === "Fork")
    .toReversed()
    .map(({part, arrays: named, roads}) => {
      const [past, ...through] = roads.map((road) => arrays.get(`d(${named.x}) ${road}`).values);
      const together = past.map((_, at) => through.reduce((sum, values) => sum + values[at], 0));
      const step = stepThatMakes(`d(${named.x})`);
      return make(
        "li",
        {},
        makeButton(partInWords(part), () => goToStep(step)),
        sizes([
          {road: "past it", size: Math.hypot(...past)},
          {road: "through it", size: Math.hypot(...together)},
        ]),
      );
    });
}
