// The step h of a finite difference: too large and the curve bends within it, too small and rounding is all there is.

import {complexStepIn, differenceIn, errorsByStep} from "../math/index.js";
import {chart} from "./chart.js";
import {drawCurve, stepOfDifference} from "./curve.js";
import {byId, makeRow} from "./dom.js";
import {longNumber, plainNumber, roundedNumber, smallNumber} from "./format.js";
import {lossIfMoved, movedNumber} from "./move.js";
import {isRounding} from "./nothing.js";
import {isSlope, trueSlopeAt} from "./place.js";
import {state, watch} from "./state.js";

const LOWEST_ERROR = 1e-17; // an error of 0 is drawn here, since a logarithm has no place for it
const HIGHEST_ERROR = 100;
const LOWEST_STEP = 1e-20;
const WAYS = {
  forward: "(loss(w + h) − loss(w)) / h",
  central: "(loss(w + h) − loss(w − h)) / 2h",
  complex: "Im loss(w + ih) / h",
  backward: "the chain rule, no h at all",
};
const NOTHING_TO_FIND = "The slope is 0, but for rounding. So there is nothing here for an h to find, and no error "
  + "that could be counted in parts of it.";

// Listen to the slider of h; draw when another number is moved.
export function showStepSize() {
  byId("h-slider").addEventListener("input", () => {
    drawStepSize();
    drawCurve(movedNumber());
  });
  watch(["view", "trace", "chosen"], () => state.view === "move" && drawStepSize());
}

function drawStepSize() {
  const {place, slope, value} = movedNumber();
  byId("h-part").hidden = slope === null;
  if (slope === null) {
    return;
  }
  const {trace} = state;
  const h = stepOfDifference();
  const said = plainNumber(roundedNumber(h, 2));
  byId("h-slider").setAttribute("aria-valuetext", `h is ${said}`);
  byId("h-value").textContent = said;
  const forward = (lossIfMoved(value + h) - trace.loss) / h;
  const ways = {forward, central: differenceIn(trace, place, h), complex: complexStepIn(trace, place, h)};
  const truth = trueSlopeAt(place);
  const isNothing = isRounding(truth) && isRounding(slope);
  const rows = Object.entries({...ways, backward: slope}).map(([name, found]) => {
    const error = name === "backward" || isNothing ? "" : smallNumber(errorOf(found, slope));
    const formula = WAYS[name].replaceAll("loss", trace.goal);
    return makeRow(name, ["formula", formula], ["number", longNumber(found)], ["number", error]);
  });
  byId("h-table").replaceChildren(...rows);
  const errors = isNothing ? [] : errorsByStep(trace, place);
  const verdict = isSlope(slope, truth) ? bestSteps : whoIsWrong;
  byId("h-said").textContent = isNothing ? NOTHING_TO_FIND : verdict(errors, truth);
  byId("h-chart").replaceChildren(...(isNothing ? [] : [chartOfErrors(errors, h, errorOf(ways.central, slope))]));
}

// Which h is best for each way.
function bestSteps(errors) {
  const at = (way) => {
    const best = errors.filter((entry) => Number.isFinite(entry[way])).reduce((a, b) => (b[way] < a[way] ? b : a));
    return `h = ${plainNumber(roundedNumber(best.h, 2))} (error ${smallNumber(best[way])})`;
  };
  return `Best h here: for the forward difference ${at("forward")}, for the central one ${at("central")}; for the `
    + "complex step any small one.";
}

function whoIsWrong(errors, truth) {
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
  const line = (way, look) => {
    const points = seen.filter((entry) => Number.isFinite(entry[way])).map((entry) => [entry.h, entry[way]]);
    return {label: way === "complex" ? "complex step" : `${way} difference`, look, points};
  };
  return chart({
    title: "the error of each way to differentiate, against h",
    // a line lies above those before it: the dashes above the solid one, where both bend alike
    lines: [line("complex", "solid"), line("central", "dashed"), line("forward", "dotted")],
    notes: [
      {text: "← rounding: too alike", x: 10 ** -19.6, y: 1e1, end: "start"},
      {text: "truncation: it bends →", x: 10 ** -0.4, y: 1e1, end: "end"},
    ],
    marks: [{label: "central, at this h", look: "mark-full", x: h, y: Math.min(error, HIGHEST_ERROR)}],
    x: {label: "h", log: true, from: LOWEST_STEP, to: 1},
    y: {label: "error, relative to backward", log: true, from: LOWEST_ERROR, to: HIGHEST_ERROR},
  });
}
