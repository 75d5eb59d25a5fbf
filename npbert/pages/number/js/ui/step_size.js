// The step h of a finite difference: too large and the curve bends within it, too small and rounding is all there is.

import {complexStep, difference, errorsByStep} from "../math/index.js";
import {chart} from "./chart.js";
import {byId, make} from "./dom.js";
import {longNumber, smallNumber} from "./format.js";
import {drawCurve, lossIfMoved, movedNumber} from "./move.js";
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
    drawCurve();
    return;
  }
  const {model, example, trace} = state;
  const forward = (lossIfMoved(value + h) - trace.loss) / h;
  const ways = {forward, central: difference(model, example, place, h), complex: complexStep(model, example, place, h)};
  byId("h-slider").setAttribute("aria-valuetext", `h is ${smallNumber(h)}`);
  byId("h-value").textContent = smallNumber(h);
  const rows = Object.entries({...ways, backward: slope}).map(([name, found]) => wayRow(name, found, slope));
  byId("h-table").replaceChildren(...rows);
  drawCurve();
  const errors = errorsByStep(model, example, place, {bug: state.bug});
  byId("h-said").textContent = bestSteps(errors);
  byId("h-chart").replaceChildren(chartOfErrors(errors, h, errorOf(ways.central, slope)));
}

const WAYS = {
  forward: "(loss(w + h) − loss(w)) / h",
  central: "(loss(w + h) − loss(w − h)) / 2h",
  complex: "Im loss(w + ih) / h",
  backward: "the chain rule, no h at all",
};

function wayRow(name, found, slope) {
  const error = name === "backward" ? "" : smallNumber(errorOf(found, slope));
  return make(
    "tr",
    {},
    make("th", {scope: "row"}, name),
    make("td", {class: "formula"}, WAYS[name]),
    make("td", {class: "number"}, longNumber(found)),
    make("td", {class: "number"}, error),
  );
}

// Which h is best for each way; or, where all of them part from backward, that it must be backward that is wrong.
function bestSteps(errors) {
  const best = (way) => {
    const known = errors.filter((entry) => Number.isFinite(entry[way]));
    return known.reduce((a, b) => (b[way] < a[way] ? b : a));
  };
  const at = (way) => `h = ${smallNumber(best(way).h)} (error ${smallNumber(best(way)[way])})`;
  if (best("complex").complex > 1e-6) {
    return "However small h is, all three ways stay away from backward, and they agree with each other: so it is "
      + "backward that is wrong here.";
  }
  return `Best h here: for the forward difference ${at("forward")}, for the central one ${at("central")}; for the `
    + "complex step any small one.";
}

// How far from backward, relative to it.
function errorOf(found, slope) {
  return Math.abs(found - slope) / (Math.abs(slope) || 1);
}

function chartOfErrors(errors, h, error) {
  const seen = errors.filter((entry) => entry.h >= LOWEST_STEP);
  const line = (name) => seen.filter((entry) => Number.isFinite(entry[name])).map((entry) => [entry.h, entry[name]]);
  const lines = [
    {label: "forward difference", look: "dotted", points: line("forward")},
    {label: "central difference", look: "dashed", points: line("central")},
    {label: "complex step", look: "solid", points: line("complex")},
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
