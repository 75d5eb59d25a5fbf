// All paths from a number to the loss, as a ladder: a bar for each stop, and between two of them a line for each road, as
// thick as what flows along it. Each is a button, in the order in which one goes.

import {pathsOf} from "../math/paths.js";
import {goToStep, stepThatMakes} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {signedNumber} from "./format.js";
import {gradientOf, isMovable, isRounding, partInWords, titleOf, valueAt, valueOf} from "./labels.js";
import {change, state, watch} from "./state.js";

const COLUMNS = 8;
const THICKEST = 16; // pixels

// Draw them while they are unfolded, and again when another number is followed or the numbers change.
export function showPaths() {
  byId("paths").addEventListener("toggle", ({target}) => state.paths === target.open || change({paths: target.open}));
  watch(["trace", "chosen", "paths"], drawPaths);
}

function drawPaths() {
  const {chosen, trace, paths} = state;
  const place = chosen && isMovable(chosen) ? valueOf(chosen) : null;
  byId("paths").hidden = !place || !trace.arrays.has(`d(${place.name})`);
  byId("paths").open = paths;
  if (paths && !byId("paths").hidden) {
    const found = pathsOf(trace, place);
    const isNothing = found.stops.every(({total}) => isRounding(total));
    show("paths-total", isNothing ? "0" : signedNumber(valueAt(gradientOf(place))));
    show("paths-drawn", ...(isNothing ? [] : ladder(titleOf(place), found)));
  }
}

function ladder(title, {stops, roads}) {
  const largest = Math.max(...roads.map(({flow}) => Math.abs(flow)));
  const isPassed = (stop) => roads.some(({from, to}) => from < stop && stop < to);
  const roadsFrom = (stop) => {
    const out = roads.filter(({from}) => from === stop);
    const near = out.filter(({to}) => to === stop + 1);
    return out.map((road) => roadItem(road, ...columnsFor(near.indexOf(road), near.length), largest));
  };
  const start = make("li", {class: "stop", style: "grid-area: 1 / 1 / 2 / -1"}, make("strong", {}, title));
  return [
    start,
    ...roadsFrom(-1),
    ...stops.flatMap((stop, index) => [
      stopItem(stop, 2 * index + 3, isPassed(index) ? COLUMNS + 1 : -1),
      ...roadsFrom(index),
    ]),
  ];
}

// The first road has a quarter, so that the residuals are one straight line, and the others share the rest; one that
// passes stops by is beside them all.
function columnsFor(number, count) {
  const begin = (index) => (index === 0 ? 1 : 3 + ((COLUMNS - 2) * (index - 1)) / (count - 1));
  return number < 0 ? [COLUMNS + 1, -1] : [begin(number), count === 1 ? COLUMNS + 1 : begin(number + 1)];
}

function stopItem({array: {name, symbol}, gradient, total}, row, end) {
  const layer = name.match(/layers\.\d+/);
  const title = layer ? `${symbol}, ${partInWords(`encoder.${layer[0]}`)}` : symbol;
  return item("stop", `grid-area: ${row} / 1 / ${row + 1} / ${end}`, title, total, gradient);
}

function roadItem({from, to, road, gradient, flow}, begin, end, largest) {
  const area = `grid-area: ${2 * from + 4} / ${begin} / ${2 * to + 3} / ${end}`;
  const thick = (THICKEST * Math.abs(flow)) / largest;
  const name = (road ?? "").replace(/^through |(?<=^past) .*/, "");
  const look = `road ${flow < 0 ? "minus" : "plus"}${begin > COLUMNS ? " bypass" : ""}`;
  return item(look, `${area}; --thick: ${thick}px`, name, flow, gradient);
}

// A button that leads to the step at which this gradient comes back.
function item(look, style, name, flow, gradient) {
  const step = stepThatMakes(gradient);
  const button = makeButton("", () => goToStep(step), {title: `${signedNumber(flow)}: to step ${step + 1}`});
  button.append(make("span", {}, name), " ", make("span", {class: "number"}, signedNumber(flow, 3)));
  return make("li", {class: look, style}, button);
}
