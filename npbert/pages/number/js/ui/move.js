// Move a weight: the loss really moves, since the page computes the model again. Beside it what backward had said.

import {difference, lossWith} from "../math/index.js";
import {putNumber} from "./actions.js";
import {axisFor, chart} from "./chart.js";
import {byId, make} from "./dom.js";
import {exactNumber, plainNumber, signedNumber} from "./format.js";
import {chosenValue, derivativeAt, titleOf, valueAt} from "./place.js";
import {state, watch} from "./state.js";

const POINTS = 61;
let now = null; // {place, value, slope, reach, curve, moved, lossThere, h}

// Listen to the slider and the buttons; draw when the tab is opened, or when the model changes under it.
export function showMove() {
  byId("move-slider").addEventListener("input", (event) => moveTo(now.value + now.reach * Number(event.target.value)));
  byId("move-back").addEventListener("click", () => moveTo(now.value));
  byId("move-keep").addEventListener("click", keep);
  watch(["view", "trace", "chosen"], () => state.view === "move" && begin());
}

// The loss, were this number another.
export function lossIfMoved(value) {
  return lossWith(state.trace, now.place, value);
}

// The number that the slider moves, its value and what backward says of it.
export function movedNumber() {
  return now;
}

function begin() {
  const place = chosenValue();
  const value = valueAt(place);
  now = {place, value, slope: derivativeAt(place), reach: Math.max(1, 2 * Math.abs(value)), moved: value};
  const from = value - now.reach;
  const places = Array.from({length: POINTS}, (_, index) => from + (2 * now.reach * index) / (POINTS - 1));
  now.curve = places.map((x) => [x, lossIfMoved(x)]).filter(([, loss]) => Number.isFinite(loss));
  byId("move-name").textContent = titleOf(place);
  byId("move-meaning").textContent = state.trace.arrays.get(place.name).meaning;
  byId("move-keep").hidden = !state.trace.arrays.get(place.name).parameter;
  moveTo(value);
}

function moveTo(value) {
  now.moved = value;
  const {slope, place} = now;
  const {loss} = state.trace;
  const moved = value - now.value;
  const slider = byId("move-slider");
  slider.value = moved / now.reach;
  slider.setAttribute("aria-valuetext", `${titleOf(place)} is ${plainNumber(value)}`);
  const there = moved === 0 ? loss : lossIfMoved(value);
  now.lossThere = there;
  byId("move-value").textContent = plainNumber(value);
  byId("move-value").title = exactNumber(value);
  byId("move-loss").textContent = plainNumber(there);
  byId("move-loss").title = exactNumber(there);
  byId("move-slope").textContent = slope === null ? "not kept" : signedNumber(slope);
  byId("move-said").replaceChildren(...sentence(moved, loss, there, slope));
  byId("move-back").disabled = byId("move-keep").disabled = moved === 0;
  drawCurve();
}

function sentence(moved, loss, there, slope) {
  if (moved === 0) {
    const dashed = slope === null ? "" : "; the dashed line is what backward says about it from here";
    return [`Drag it. The curve is the loss at every value${dashed}.`];
  }
  if (!Number.isFinite(there)) {
    return ["Here the loss has no value: a probability, or a spread, cannot be this number."];
  }
  const expected = slope === null ? "" : ` The slope alone had promised ${plainNumber(loss + slope * moved)}.`;
  const verb = there > loss ? "rose" : there < loss ? "fell" : "stayed";
  return [
    "You moved it by ",
    make("strong", {}, signedNumber(moved)),
    `, and the loss ${verb} from ${plainNumber(loss)} to `,
    make("strong", {}, plainNumber(there)),
    `.${expected}`,
  ];
}

// The curve, the tangent of backward, the secant of the difference that is chosen below, and where the number is.
export function drawCurve() {
  const {curve, value, slope, reach, moved, lossThere, h} = now;
  const {loss} = state.trace;
  const lines = [{label: "the loss", look: "solid", points: curve}];
  const x = {label: titleOf(now.place), from: value - reach, to: value + reach};
  const y = axisFor(
    curve.map(([, at]) => at),
    "loss",
  );
  const line = (through, rise) =>
    clipped(
      [value - reach, value + reach].map((at) => [at, through + rise * (at - value)]),
      y,
    );
  if (slope !== null) {
    lines.push({label: "tangent: what backward says", look: "dashed", points: line(loss, slope)});
  }
  const marks = [{label: "where it was", look: "mark-hollow", x: value, y: loss}];
  if (slope !== null && h >= 1e-3 * reach) {
    const middle = (lossIfMoved(value + h) + lossIfMoved(value - h)) / 2;
    const rise = difference(state.model, state.example, now.place, h);
    lines.push({label: "secant: the finite difference", look: "dotted", points: line(middle, rise)});
  }
  if (Number.isFinite(lossThere)) {
    marks.push({label: "where it is", look: "mark-full", x: moved, y: lossThere});
  }
  const title = `the loss over ${titleOf(now.place)}, with the tangent that backward gives`;
  byId("move-chart").replaceChildren(chart({title, lines, marks, x, y}));
}

// The part of a straight line that lies inside the drawing.
function clipped([[x0, y0], [x1, y1]], {from, to}) {
  const rise = (y1 - y0) / (x1 - x0);
  if (rise === 0) {
    return [
      [x0, y0],
      [x1, y1],
    ];
  }
  const ends = [from, to].map((edge) => x0 + (edge - y0) / rise).sort((a, b) => a - b);
  const [left, right] = [Math.max(x0, ends[0]), Math.min(x1, ends[1])];
  return [
    [left, y0 + rise * (left - x0)],
    [right, y0 + rise * (right - x0)],
  ];
}

// The model has the new value from now on.
function keep() {
  putNumber(now.place, now.moved);
}
