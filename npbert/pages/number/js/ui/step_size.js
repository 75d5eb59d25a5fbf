// The step h of a finite difference: too large and the curve bends within it, too small and rounding is all there is.

import {errorOf, errorsByStep, estimatesIn} from "../math/index.js";
import {chart} from "./chart.js";
import {drawCurve, stepOfDifference} from "./curve.js";
import {byId} from "./dom.js";
import {longNumber, plainNumber, roundedNumber, smallNumber} from "./format.js";
import {movedNumber} from "./move.js";
import {isRounding} from "./nothing.js";
import {isSlope, trueSlopeAt} from "./place.js";
import {said} from "./said.js";
import {state, watch} from "./state.js";

const LOWEST_ERROR = 1e-17; // an error of 0 is drawn here, since a logarithm has no place for it
const HIGHEST_ERROR = 100;
const LOWEST_STEP = 1e-20;

// Listen to the slider of h; draw when another number is moved.
export function showStepSize() {
  byId("h-slider").addEventListener("input", () => {
    drawStepSize();
    drawCurve(movedNumber());
  });
  watch(["view", "trace", "chosen"], () => state.view === "move" && drawStepSize());
}

function drawStepSize() {
  const {place, slope} = movedNumber();
  byId("h-part").hidden = slope === null;
  if (slope === null) {
    return;
  }
  const {trace} = state;
  const h = stepOfDifference();
  byId("h-value").textContent = plainNumber(roundedNumber(h, 2));
  byId("h-slider").setAttribute("aria-valuetext", `h is ${byId("h-value").textContent}`);
  const ways = estimatesIn(trace, place, h);
  const truth = trueSlopeAt(place);
  const isNothing = isRounding(truth) && isRounding(slope);
  for (const [way, found] of Object.entries({...ways, backward: slope})) {
    const [number, error] = byId("h-table").querySelectorAll(`[data-way=${way}] .number`);
    number.textContent = longNumber(found);
    error.textContent = way === "backward" || isNothing ? "" : smallNumber(errorOf(found, slope));
  }
  const errors = isNothing ? [] : errorsByStep(trace, place);
  const verdict = isSlope(slope, truth) ? bestSteps : whoIsWrong;
  byId("h-said").textContent = isNothing ? said("h.nothing") : verdict(errors, truth);
  byId("h-chart").replaceChildren(...(isNothing ? [] : [chartOfErrors(errors, h, errorOf(ways.central, slope))]));
}

// Which h is best for each way.
function bestSteps(errors) {
  const at = (way) => {
    const best = errors.filter((entry) => Number.isFinite(entry[way])).reduce((a, b) => (b[way] < a[way] ? b : a));
    return `h = ${plainNumber(roundedNumber(best.h, 2))} (error ${smallNumber(best[way])})`;
  };
  return said("h.best", {forward: at("forward"), central: at("central")});
}

function whoIsWrong(errors, truth) {
  const agree = isRounding(truth) ? `that the ${state.trace.goal} does not move with it` : `on ${plainNumber(truth)}`;
  return said("h.wrong", {agree});
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
