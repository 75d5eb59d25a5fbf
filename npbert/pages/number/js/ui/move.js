// Move a weight: the loss really moves, since the page computes the model again. Beside it what backward had said.

import {lossWith} from "../math/index.js";
import {putNumber} from "./actions.js";
import {drawCurve} from "./curve.js";
import {byId} from "./dom.js";
import {exactNumber, plainNumber, signedNumber} from "./format.js";
import {isShares} from "./heatmap.js";
import {sentenceOfMove} from "./move_said.js";
import {chosenValue, derivativeAt, titleOf, valueAt} from "./place.js";
import {state, watch} from "./state.js";

const POINTS = 61;
let now = null; // {place, value, slope, low, high, curve, moved, lossThere}

// Listen to the slider and the buttons; draw when the tab is opened, or when the model changes under it.
export function showMove() {
  byId("move-slider").addEventListener("input", (event) => moveTo(Number(event.target.value)));
  nudges().forEach((button) => button.addEventListener("click", () => nudge(Number(button.dataset.by))));
  byId("move-zoom").addEventListener("change", begin);
  byId("move-back").addEventListener("click", () => leaveAt(() => moveTo(now.value)));
  byId("move-keep").addEventListener("click", () => leaveAt(() => putNumber(now.place, now.moved)));
  watch(["view", "trace", "chosen"], () => state.view === "move" && begin());
}

// The number that the slider moves, its value and what backward says of it.
export function movedNumber() {
  return now;
}

function begin() {
  const place = chosenValue();
  const array = state.trace.arrays.get(place.name);
  const value = valueAt(place);
  const reach = Math.max(1, 2 * Math.abs(value)) / Number(byId("move-zoom").value);
  const [least, most] = limitsOf(array);
  const [low, high] = [Math.max(least, value - reach), Math.min(most, value + reach)];
  now = {place, value, slope: derivativeAt(place), low, high, moved: value};
  const places = Array.from({length: POINTS}, (_, index) => low + ((high - low) * index) / (POINTS - 1));
  now.curve = places.map((x) => [x, lossWith(state.trace, place, x)]).filter(([, loss]) => Number.isFinite(loss));
  byId("move-name").textContent = titleOf(place);
  byId("move-meaning").textContent = `${array.meaning}${aloneNote(array)}`;
  byId("move-keep").hidden = !array.parameter;
  byId("move-slider").min = low;
  byId("move-slider").max = high;
  moveTo(value);
}

// From where to where a number makes sense: a share or a probability from 0 to 1, a spread from 0 on.
function limitsOf(array) {
  return isShares(array) ? [0, 1] : [array.symbol === "σ" ? 0 : -Infinity, Infinity];
}

function aloneNote(array) {
  const note = isShares(array) ? " Moved alone, as here, it no longer adds up to 1 with its row." : "";
  const why = array.gradient ? ""
    : " Backward goes past it in one formula and never computes its gradient, so it has no slope here.";
  return note + why;
}

function nudges() {
  return [...byId("view-move").querySelectorAll("[data-by]")];
}

function nudge(by) {
  const moved = Number((now.moved - now.value + by).toFixed(10)); // 0.01 twice is 0.02
  moveTo(Math.max(now.low, Math.min(now.high, now.value + moved)));
}

// Do it, and leave the keyboard at the slider: the button that did it is dead now.
function leaveAt(act) {
  act();
  byId("move-slider").focus({preventScroll: true});
}

function moveTo(value) {
  now.moved = value;
  const {slope, place} = now;
  const moved = value - now.value;
  const slider = byId("move-slider");
  slider.value = value;
  slider.setAttribute("aria-valuetext", `${titleOf(place)} is ${plainNumber(value)}`);
  const there = moved === 0 ? state.trace.loss : lossWith(state.trace, place, value);
  now.lossThere = there;
  byId("move-value").textContent = plainNumber(value);
  byId("move-value").title = exactNumber(value);
  byId("move-loss").textContent = Number.isFinite(there) ? plainNumber(there) : "none";
  byId("move-loss").title = exactNumber(there);
  byId("move-slope").textContent = slope === null ? "none" : signedNumber(slope);
  byId("move-said").replaceChildren(...sentenceOfMove(now));
  byId("move-back").disabled = byId("move-keep").disabled = moved === 0;
  nudges().forEach((button) => {
    button.disabled = button.dataset.by < 0 ? value <= now.low : value >= now.high;
  });
  drawCurve(now);
}
