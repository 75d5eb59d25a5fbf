// The step h of a finite difference: too large and the curve bends within it, too small and rounding is all there is.

import {complexStepIn, differenceIn, errorsByStep} from "../math/index.js";
import {chart} from "./chart.js";
import {drawCurve} from "./curve.js";
import {byId, make} from "./dom.js";
import {longNumber, plainNumber, roundedNumber, smallNumber} from "./format.js";
import {lossIfMoved, movedNumber} from "./move.js";
import {isRounding} from "./nothing.js";
import {isSlope, trueSlopeAt} from "./place.js";
import {state, watch} from "./state.js";

const LOWEST_ERROR = 1e-17; // an error of 0 is drawn here, since a logarithm has no place for it
const LOWEST_STEP = 1e-20;

// Listen to the slider of h; draw after the curve, when another number is moved.
export function showStepSize() {
  byId("h-slider").addEventListener("input", drawStepSize);
  watch(["view", "trace", "chosen"], () => state.view === "move" && drawStepSize());
}

function drawStepSize() {
  const moved = movedNumber();
  const {place, slope, value} = moved;
  const h = 10 ** Number(byId("h-slider").value);
  moved.h = h;
  byId("h-part").hidden = slope === null;
  if (slope === null) {
    drawCurve(moved);
    return;
  }
  const {trace} = state;
  const forward = (lossIfMoved(value + h) - trace.loss) / h;
  const ways = {forward, central: differenceIn(trace, place, h), complex: complexStepIn(trace, place, h)};
  const truth = trueSlopeAt(place);
  const isNothing = isRounding(truth) && isRounding(slope);
  byId("h-slider").setAttribute("aria-valuetext", `h is ${plainNumber(roundedNumber(h, 2))}`);
  byId("h-value").textContent = plainNumber(roundedNumber(h, 2));
  const rows = Object.entries({...ways, backward: slope}).map(([name, found]) =>
    wayRow(name, found, name === "backward" || isNothing ? "" : smallNumber(errorOf(found, slope))));
  byId("h-table").replaceChildren(...rows);
  drawCurve(moved);
  if (isNothing) {
    byId("h-said").textContent = "The slope is 0, but for rounding. So there is nothing here for an h to find, and no "
      + "error that could be counted in parts of it.";
    byId("h-chart").replaceChildren();
    return;
  }
  const errors = errorsByStep(trace, place);
  byId("h-said").textContent = isSlope(slope, truth) ? bestSteps(errors) : whoIsWrong(truth);
  byId("h-chart").replaceChildren(chartOfErrors(errors, h, errorOf(ways.central, slope)));
}

const WAYS = {
  forward: "(loss(w + h) − loss(w)) / h",
  central: "(loss(w + h) − loss(w − h)) / 2h",
  complex: "Im loss(w + ih) / h",
  backward: "the chain rule, no h at all",
};

function wayRow(name, found, error) {
  return make(
    "tr",
    {},
    make("th", {scope: "row"}, name),
    make("td", {class: "formula"}, WAYS[name].replaceAll("loss", state.trace.goal)),
    make("td", {class: "number"}, longNumber(found)),
    make("td", {class: "number"}, error),
  );
}

// Which h is best for each way.
function bestSteps(errors) {
  const best = (way) => {
    const known = errors.filter((entry) => Number.isFinite(entry[way]));
    return known.reduce((a, b) => (b[way] < a[way] ? b : a));
  };
  const at = (way) => `h = ${plainNumber(roundedNumber(best(way).h, 2))} (error ${smallNumber(best(way)[way])})`;
  return `Best h here: for the forward difference ${at("forward")}, for the central one ${at("central")}; for the `
    + "complex step any small one.";
}

function whoIsWrong(truth) {
  const agree = isRounding(truth) ? `that the ${state.trace.goal} does not move with it` : `on ${plainNumber(truth)}`;
  return `With a good h all three ways agree ${agree}, and however small h is, they stay away from backward: so it is `
    + "backward that is wrong here.";
}

// How far from backward, relative to it.
function errorOf(found, slope) {
  return Math.abs(found - slope) / (Math.abs(slope) || 1);
}

function chartOfErrors(errors, h, error) {
  const seen = errors.filter((entry) => entry.h >= LOWEST_STEP);
  const line = (name) => seen.filter((entry) => Number.isFinite(entry[name])).map((entry) => [entry.h, entry[name]]);
  const lines = [ // a line lies above those before it: the dashes above the solid one, where both bend alike
    {label: "complex step", look: "solid", points: line("complex")},
    {label: "central difference", look: "dashed", points: line("central")},
    {label: "forward difference", look: "dotted", points: line("forward")},
  ];
  const notes = [
    {text: "← rounding: too alike", x: 10 ** -19.6, y: 1e1, end: "start"},
    {text: "truncation: it bends →", x: 10 ** -0.4, y: 1e1, end: "end"},
  ];
  return chart({
    title: "the error of each way to differentiate, against h",
    lines,
    notes,
    marks: [{label: "central, at this h", look: "mark-full", x: h, y: error}],
    x: {label: "h", log: true, from: LOWEST_STEP, to: 1},
    y: {label: "error, relative to backward", log: true, from: LOWEST_ERROR, to: 100},
  });
}
