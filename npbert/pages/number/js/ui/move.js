// Move a number: the loss really moves, since the page computes forward again. Beside it what backward had said; and
// how a slope is found without backward, by a step h.

import {whatIf} from "../math/run.js";
import {moveNumber, putNumber} from "./actions.js";
import {axisFor, chart} from "./chart.js";
import {byId, make, makeRow, show} from "./dom.js";
import {plainNumber, signedNumber, smallNumber} from "./format.js";
import {isShares} from "./heatmap.js";
import {arrayNamed, isMovable, isNoChange, isRounding, slopeOf, titleOf, valueAt, valueOf} from "./labels.js";
import {change, state, watch} from "./state.js";

const POINTS = 41;
const LOWEST = 1e-12; // an error of less is drawn here
let now = null; // {place, value, slope, low, high, curve}

// Listen to the slider and the buttons; draw while it is unfolded.
export function showMove() {
  byId("move-curve").addEventListener(
    "toggle",
    ({target}) => state.moving === target.open || change({moving: target.open}),
  );
  byId("move-slider").addEventListener("input", ({target}) => moveTo(Number(target.value)));
  nudges().forEach((button) => button.addEventListener("click", () => nudge(Number(button.dataset.by))));
  byId("move-zoom").addEventListener("change", begin);
  byId("move-back").addEventListener("click", () => leaveAt(() => moveTo(now.value)));
  byId("move-keep").addEventListener("click", () => leaveAt(() => putNumber(now.place, state.moved.value)));
  byId("h-slider").addEventListener("input", drawStepSize);
  watch(["trace", "chosen", "moving"], begin);
  watch(["moved"], () => (now ? drawMoved() : document.documentElement.classList.remove("moved")));
}

function begin() {
  const {chosen, moving} = state;
  byId("move").hidden = !chosen || !isMovable(chosen);
  byId("move-curve").open = moving;
  now = null;
  if (byId("move").hidden) {
    return;
  }
  const place = valueOf(chosen);
  const array = arrayNamed(place.name);
  const value = valueAt(place);
  const reach = Math.max(1, 2 * Math.abs(value)) / Number(byId("move-zoom").value);
  const [least, most] = isShares(array) ? [0, 1] : [/σ/.test(array.symbol) ? 0 : -Infinity, Infinity];
  const [low, high] = [Math.max(least, value - reach), Math.min(most, value + reach)];
  const places = Array.from({length: POINTS}, (_, index) => low + ((high - low) * index) / (POINTS - 1));
  const curve = !moving ? [] : places.map((x) => [x, lossAt(place, x)]).filter(([, loss]) => Number.isFinite(loss));
  const slope = state.trace.arrays.get(`d(${place.name})`)?.at(place.row, place.column) ?? null;
  now = {place, value, low, high, curve, slope};
  byId("move-keep").hidden = !array.parameter;
  Object.assign(byId("move-slider"), {min: low, max: high});
  drawMoved();
  drawStepSize();
}

const lossAt = (place, value) => whatIf(state.trace, place, value).loss;
const nudges = () => [...byId("move").querySelectorAll("[data-by]")];

function nudge(by) {
  const moved = Number(((state.moved?.value ?? now.value) - now.value + by).toFixed(10)); // 0.01 twice is 0.02
  moveTo(Math.max(now.low, Math.min(now.high, now.value + moved)));
}

function moveTo(value) {
  moveNumber(now.place, value === now.value ? null : value);
}

// Do it, and leave the keyboard at the slider: the button that did it is dead now.
function leaveAt(act) {
  act();
  byId("move-slider").focus({preventScroll: true});
}

function drawMoved() {
  const {value, loss} = state.moved ?? {value: now.value, loss: state.trace.loss};
  const slider = byId("move-slider");
  slider.value = value;
  slider.setAttribute("aria-valuetext", `${titleOf(now.place)} is ${plainNumber(value)}`);
  show("move-said", ...sentences(value, loss));
  byId("move-back").disabled = byId("move-keep").disabled = !state.moved;
  nudges().forEach((button) => {
    button.disabled = button.dataset.by < 0 ? value <= now.low : value >= now.high;
  });
  document.documentElement.classList.toggle("moved", Boolean(state.moved));
  if (state.moving) {
    drawCurve(value, loss);
  }
}

// What is said of a number that was moved: how the loss changed, and how its slope had said it would.
function sentences(value, loss) {
  const {goal, loss: before} = state.trace;
  const title = titleOf(now.place);
  const alone = isShares(arrayNamed(now.place.name)) ? " Moved alone, it no longer adds up to 1 with its row." : "";
  if (!state.moved) {
    const why = now.slope === null ? " Backward goes past it in one formula, so it has no slope here." : "";
    return [
      `${title} is ${plainNumber(value)}. Drag it: the guesses and the ${goal} at the top move with it.${why}${alone}`,
    ];
  }
  const change = loss - before;
  const begin = `${title} is now ${plainNumber(value)}, moved by ${signedNumber(value - now.value, 3)}, and the ${goal} `;
  if (!Number.isFinite(loss)) {
    return [`Here the ${goal} has no value.`];
  }
  if (isNoChange(change)) {
    return [begin, make("strong", {}, `stayed at ${plainNumber(before)}`), `: it does not move with this number.`];
  }
  const moved = make("strong", {}, `${change < 0 ? "fell" : "rose"} by ${plainNumber(Math.abs(change), 3)}`);
  return [
    begin,
    moved,
    `, from ${plainNumber(before)} to ${plainNumber(loss)}.`,
    ` ${promised(value - now.value, change)}`,
  ];
}

function promised(by, change) {
  if (now.slope === null) {
    return "";
  }
  const promise = now.slope * by;
  const off = Math.abs((promise - change) / change);
  return `The slope alone had promised ${signedNumber(promise, 3)}: off by ${
    off < 10 ? `${plainNumber(100 * off, 2)} % of the ` + "change" : "many times the change"
  }.`;
}

function drawCurve(moved, lossThere) {
  const {place, curve, value, slope, low, high} = now;
  const {loss, goal} = state.trace;
  const lines = [{label: `the ${goal}`, look: "solid", points: curve}];
  const marks = [{label: "where it was", look: "mark-hollow", x: value, y: loss}];
  if (slope !== null) {
    const points = [low, high].map((at) => [at, loss + slope * (at - value)]);
    lines.push({label: "what backward says", look: "dashed", points});
  }
  if (Number.isFinite(lossThere)) {
    marks.push({label: "where it is", look: "mark-full", x: moved, y: lossThere});
  }
  const title = `the ${goal} over ${titleOf(place)}, with the tangent that backward gives`;
  const x = {label: titleOf(place), from: low, to: high};
  show("move-chart", chart({title, lines, marks, x, y: axisFor([...curve.map(([, at]) => at), loss], goal)}));
}

// ---- the step h of a finite difference: too large and the curve bends within it, too small and rounding is all ----

const WAYS = {
  "(loss(w + h) − loss(w)) / h": (place, x, h) => (lossAt(place, x + h) - state.trace.loss) / h,
  "(loss(w + h) − loss(w − h)) / 2h": (place, x, h) => (lossAt(place, x + h) - lossAt(place, x - h)) / (2 * h),
};

function drawStepSize() {
  const truth = now && slopeOf(now.place);
  byId("h-part").hidden = !state.moving || truth === null || isRounding(truth);
  if (byId("h-part").hidden) {
    return;
  }
  const h = 10 ** Number(byId("h-slider").value);
  const errorOf = (found) => Math.abs((found - truth) / truth);
  show("h-value", plainNumber(h, 2));
  show(
    "h-table",
    ...Object.entries(WAYS).map(([way, find]) => {
      const found = find(now.place, now.value, h);
      return makeRow(way, plainNumber(found, 8), smallNumber(errorOf(found)));
    }),
    makeRow("backward: the chain rule, no h at all", plainNumber(now.slope, 8), smallNumber(errorOf(now.slope))),
  );
  const powers = Array.from({length: 31}, (_, index) => 10 ** (-index / 2));
  const lines = Object.entries(WAYS).map(([way, find], index) => ({
    label: way,
    look: ["dotted", "solid"][index],
    points: powers
      .map((step) => [step, errorOf(find(now.place, now.value, step))])
      .filter(([, error]) => Number.isFinite(error)),
  }));
  show(
    "h-chart",
    chart({
      title: "the error of each way to a slope, against h",
      lines,
      x: {label: "h", log: true, from: 1e-15, to: 1},
      y: {label: "relative error", log: true, from: LOWEST, to: 100},
    }),
  );
}
