// Roads: by which a gradient comes back. Of the arrays of this step, which is the larger; and of one number, how much of
// its gradient flows along each on the way from the loss.

import {roadsOf} from "../math/explain.js";
import {pathsOf} from "../math/paths.js";
import {goToStep, stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton, show} from "./dom.js";
import {percent, plainNumber, signedNumber} from "./format.js";
import {arrayNamed, gradientOf, isMovable, isRounding, partInWords, titleOf, valueAt, valueOf} from "./labels.js";
import {state, watch} from "./state.js";

export function showRoads() {
  byId("paths").addEventListener("toggle", drawPaths);
  watch(["trace", "trail"], drawPaths);
}

// Draw those of a step.
export function drawRoads({phase, writes}) {
  const found = phase === "backward" ? writes.filter((name) => stepThatMakes(name) === state.step) : [];
  const boxes = found.map((name) => [arrayNamed(name), roadsOf(state.trace, name)]).filter(([, roads]) => roads.length);
  show("roads", ...boxes.map(([{symbol, values}, roads]) => roadsBox(symbol, values, roads)));
}

function roadsBox(symbol, values, roads) {
  const [first, second] = roads.toSorted((a, b) => b.size - a.size);
  const text =
    `Most comes back “${first.road}”: ${plainNumber(first.size / second.size, 3)} times as much as “${second.road}”, ` +
    `by √Σ² over all numbers. Added up, ${symbol} has ${plainNumber(Math.hypot(...values), 3)}: the roads may point ` +
    "different ways.";
  return make(
    "section",
    {"aria-label": `the roads of ${symbol}`},
    make("h3", {}, `${symbol}: which road is the larger?`),
    sizes(roads),
    make("p", {class: "quiet"}, text),
  );
}

// Bars of sizes, each with its share of them all.
function sizes(roads) {
  const all = roads.reduce((sum, {size}) => sum + size, 0);
  const terms = roads.map(({road, size}) => ({
    label: road,
    value: size,
    said: `${plainNumber(size, 3)} (${percent(size / all)})`,
    factors: [],
    goes: null,
  }));
  return barsOf({terms, total: null});
}

// All paths of the followed number, while they are unfolded: the stops on the way, and the roads between them.
function drawPaths() {
  const {chosen, trace} = state;
  const place = chosen && isMovable(chosen) ? valueOf(chosen) : null;
  byId("paths").hidden = !place || !trace.arrays.has(`d(${place.name})`);
  if (!byId("paths").open || byId("paths").hidden) {
    return;
  }
  const {stops, roads} = pathsOf(trace, place);
  const isNothing = stops.every(({total}) => isRounding(total));
  show("paths-total", isNothing ? "0" : signedNumber(valueAt(gradientOf(place))));
  const roadsFrom = (stop) => barsOf({terms: roads.filter(({from}) => from === stop).map(termOf(stops)), total: null});
  const parts = stops.map((stop, n) => make("li", {}, stopButton(stop), n < stops.length - 1 ? roadsFrom(n) : null));
  show("paths-drawn", ...(isNothing ? [] : [make("li", {}, titleOf(place), roadsFrom(-1)), ...parts]));
}

// A road as a bar; one that passes stops by says where it leads.
const termOf =
  (stops) =>
  ({from, to, road, flow}) => {
    const label = [road ?? "straight on", to > from + 1 ? `on to ${stops[to].array.symbol}` : ""]
      .filter(Boolean)
      .join(", ");
    return {label, value: flow, factors: [], goes: null};
  };

function stopButton({array: {name, symbol}, gradient, total}) {
  const [layer] = name.match(/encoder\.layers\.\d+/) ?? [""];
  const title = [symbol, partInWords(layer)].filter(Boolean).join(", ");
  return makeButton(`${title}: ${signedNumber(total, 3)}`, () => goToStep(stepThatMakes(gradient)));
}
