// Move a number: the loss really moves, since the page computes forward again. Beside it what backward had said.

import {whatIf} from "../math/run.js";
import {axisFor, chart} from "./chart.js";
import {byId, make, show} from "./dom.js";
import {plainNumber, signedNumber} from "./format.js";
import {isShares} from "./heatmap.js";
import {arrayNamed, isMovable, isNoChange, isOnRoad, titleOf, valueAt, valueOf} from "./labels.js";
import {change, state, watch} from "./state.js";

const POINTS = 41;
let now = null; // {place, value, slope, low, high}

export function showMove() {
  byId("move-curve").addEventListener("toggle", () => now && drawMoved());
  byId("move-slider").addEventListener("input", ({target}) => moveBy(Number(target.value)));
  byId("move-back").addEventListener("click", () => {
    moveBy(0);
    byId("move-slider").focus({preventScroll: true}); // the button is dead now
  });
  watch(["trace", "trail"], begin);
  watch(["moved"], () => now && drawMoved());
}

function begin() {
  const {chosen, trace} = state;
  byId("move").hidden = byId("move-curve").hidden = !chosen || !isMovable(chosen);
  now = null;
  if (byId("move").hidden) {
    return;
  }
  const place = valueOf(chosen);
  const array = arrayNamed(place.name);
  const value = valueAt(place);
  const reach = Math.max(1, 2 * Math.abs(value));
  const [least, most] = isShares(array) ? [0, 1] : [/σ/.test(array.symbol) ? 0 : -Infinity, Infinity];
  const [low, high] = [Math.max(least, value - reach), Math.min(most, value + reach)];
  const slope = trace.arrays.get(`d(${place.name})`)?.at(place.row, place.column) ?? null;
  now = {place, value, low, high, slope};
  const [min, max] = [Math.floor(100 * (low - value)), Math.ceil(100 * (high - value))];
  Object.assign(byId("move-slider"), {min: min / 100, max: max / 100});
  drawMoved();
}

// By hundredths, so that 0 is where it was: forward goes on from there, and all that it changes is shown.
function moveBy(by) {
  const {place, low, high} = now;
  const value = Math.max(low, Math.min(high, now.value + by));
  change({moved: by === 0 ? null : {place, value, ...whatIf(state.trace, place, value)}});
}

function drawMoved() {
  const {value, loss} = state.moved ?? {value: now.value, loss: state.trace.loss};
  const slider = byId("move-slider");
  slider.value = value - now.value;
  slider.setAttribute("aria-valuetext", `${titleOf(now.place)} is ${plainNumber(value)}`);
  show("move-said", ...sentences(value, loss));
  byId("move-back").disabled = byId("move-now").hidden = !state.moved;
  if (byId("move-curve").open) {
    show("move-chart", curve(value, loss));
  }
}

// What is said of a number that was moved: how the loss changed, and how its slope had said it would.
function sentences(value, loss) {
  const {goal, loss: before} = state.trace;
  const title = titleOf(now.place);
  if (!state.moved) {
    const alone = isShares(arrayNamed(now.place.name)) ? " Moved alone, it no longer adds up to 1 with its row." : "";
    const why = now.slope === null ? " Backward goes past it in one formula, so it has no slope here." : "";
    return [`Drag: the ${goal} and the guesses move with it.${why}${alone}`];
  }
  const change = loss - before;
  const begin = `${title} is now ${plainNumber(value)}, moved by ${signedNumber(value - now.value, 3)}, and the ${goal} `;
  if (!Number.isFinite(loss)) {
    return [`Here the ${goal} has no value.`];
  }
  if (isNoChange(change)) {
    return [begin, make("strong", {}, `stayed at ${plainNumber(before)}`), ": it does not move with this number."];
  }
  const moved = make("strong", {}, `${change < 0 ? "fell" : "rose"} by ${plainNumber(Math.abs(change), 3)}`);
  const said = promised(value - now.value, change);
  return [begin, moved, `, from ${plainNumber(before)} to ${plainNumber(loss)}.`, said, " The sum and gradients are as before."];
}

function promised(by, change) {
  if (now.slope === null) {
    return "";
  }
  const alone = isOnRoad(state.chosen) ? ` (on this road alone ${signedNumber(valueAt(state.chosen), 3)})` : "";
  const promise = now.slope * by;
  const off = Math.abs((promise - change) / change);
  const error = off < 10 ? `${plainNumber(100 * off, 2)} % of the change` : "many times the change";
  const slope = `The slope over all paths, ${signedNumber(now.slope, 3)}${alone},`;
  return ` ${slope} had promised ${signedNumber(promise, 3)}: off by ${error}. It holds only nearby.`;
}

// The loss at every value, with the tangent that backward gives.
function curve(moved, lossThere) {
  const {place, value, slope, low, high} = now;
  const {loss, goal} = state.trace;
  const places = Array.from({length: POINTS}, (_, index) => low + ((high - low) * index) / (POINTS - 1));
  const points = places
    .map((at) => [at, whatIf(state.trace, place, at).loss])
    .filter(([, there]) => Number.isFinite(there));
  const lines = [{label: `the ${goal}`, look: "solid", points}];
  const marks = [{label: "where it was", look: "mark-hollow", x: value, y: loss}];
  if (slope !== null) {
    const tangent = [low, high].map((at) => [at, loss + slope * (at - value)]);
    lines.push({label: "backward: the slope over all paths", look: "dashed", points: tangent});
  }
  if (Number.isFinite(lossThere)) {
    marks.push({label: "where it is", look: "mark-full", x: moved, y: lossThere});
  }
  const title = `the ${goal} over ${titleOf(place)}, with the tangent that backward gives`;
  const x = {label: titleOf(place), from: low, to: high};
  return chart({title, lines, marks, x, y: axisFor([...points.map(([, at]) => at), loss], goal)});
}
