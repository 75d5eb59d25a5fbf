// Roads: how much of the gradient of a number flows along each on the way from the loss.

import {pathsOf} from "../math/paths.js";
import {goToStep, stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton, show} from "./dom.js";
import {signedNumber} from "./format.js";
import {gradientOf, isMovable, isRounding, partInWords, titleOf, valueAt, valueOf} from "./labels.js";
import {state, watch} from "./state.js";

export function showRoads() {
  byId("paths").addEventListener("toggle", drawPaths);
  watch(["trace", "trail"], drawPaths);
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
  const full = roads.map(({from, to, road, flow}) => {
    const past = to > from + 1 ? [`on to ${stops[to].array.symbol}`] : []; // it passes stops by
    return {label: [road ?? "straight on", ...past].join(", "), value: flow, factors: [], goes: null};
  }); // all bars share one scale
  const roadsFrom = (stop) => barsOf({terms: full.filter((_, n) => roads[n].from === stop), total: null, full});
  const parts = stops.map((stop, n) => make("li", {}, stopButton(stop), n < stops.length - 1 ? roadsFrom(n) : null));
  show("paths-drawn", ...(isNothing ? [] : [make("li", {}, titleOf(place), roadsFrom(-1)), ...parts]));
}

function stopButton({array: {name, symbol}, gradient, total}) {
  const [layer] = name.match(/encoder\.layers\.\d+/) ?? [""];
  const title = [symbol, partInWords(layer)].filter(Boolean).join(", ");
  return makeButton(`${title}: ${signedNumber(total, 3)}`, () => goToStep(stepThatMakes(gradient)));
}
