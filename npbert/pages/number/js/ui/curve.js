// The loss over one number: a curve, the tangent of backward, the secant of a finite difference.

import {differenceIn, lossWith} from "../math/index.js";
import {axisFor, chart} from "./chart.js";
import {byId} from "./dom.js";
import {titleOf} from "./place.js";
import {state} from "./state.js";

// The h that the reader has chosen.
export function stepOfDifference() {
  return 10 ** Number(byId("h-slider").value);
}

// Draw it for the number that is moved, with a mark where it was and one where it is.
export function drawCurve({place, curve, value, slope, low, high, moved, lossThere}) {
  const {loss, goal} = state.trace;
  const lines = [{label: `the ${goal}`, look: "solid", points: curve}];
  const x = {label: titleOf(place), from: low, to: high};
  const y = axisFor([...curve.map(([, at]) => at), loss], goal);
  const line = (through, rise) => [low, high].map((at) => [at, through + rise * (at - value)]);
  if (slope !== null) {
    lines.push({label: "tangent: what backward says", look: "dashed", points: line(loss, slope)});
  }
  const marks = [{label: "where it was", look: "mark-hollow", x: value, y: loss}];
  const h = stepOfDifference();
  if (slope !== null && h >= 1e-3 * (high - low)) {
    const lossAt = (there) => lossWith(state.trace, place, there);
    const middle = (lossAt(value + h) + lossAt(value - h)) / 2;
    const rise = differenceIn(state.trace, place, h);
    if (Number.isFinite(middle)) {
      lines.push({label: "secant: the finite difference", look: "dotted", points: line(middle, rise)});
    }
  }
  if (Number.isFinite(lossThere)) {
    marks.push({label: "where it is", look: "mark-full", x: moved, y: lossThere});
  }
  const title = `the ${goal} over ${titleOf(place)}, with the tangent that backward gives`;
  byId("move-chart").replaceChildren(chart({title, lines, marks, x, y}));
}
