// The number that is followed: the sum that it is, a bar for each term, and the way by which the reader came.

import {complexStepIn, explain} from "../math/index.js";
import {change, state, watch} from "./state.js";
import {follow, forget, goBackTo, goToStep, stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton} from "./dom.js";
import {counted, exactNumber, plainNumber, signedNumber} from "./format.js";
import {cellOfPlace} from "./heatmap.js";
import {partInWords, shapeInWords} from "./labels.js";
import {isMovedByHand, steepestWeights, titleOf, valueAt, whyNothing} from "./place.js";
import {trailOf} from "./trail.js";

const TO_TRY = 5;

// Draw it, and again when another number is chosen or the numbers change.
export function showFollowed() {
  watch(["trace", "chosen"], drawFollowed);
  watch(["trace"], drawTries);
  watch(["step"], () => state.chosen && byId("ways").replaceChildren(...waysOn()));
}

// Bring the sum before the reader's eyes, and the keyboard to it.
export function showSum() {
  byId("followed-title").focus({preventScroll: true});
  byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
  const {top, bottom} = byId("follow").getBoundingClientRect();
  if (top < 0 || Math.min(bottom, top + 200) > innerHeight) {
    byId("follow").scrollIntoView({block: "start"});
  }
}

// One back on the trail.
export function goBackOnTrail() {
  if (state.trail.length > 1) {
    goBackTo(state.trail.length - 2);
    showSum();
  }
}

// Follow no number; the keyboard returns to its cell.
export function leaveNumber() {
  const place = state.chosen;
  forget();
  if (place) {
    cellOfPlace(byId("stage"), place)?.focus();
  }
}

// Where to begin: the weights that move the loss most, one of each matrix.
function drawTries() {
  const tries = steepestWeights().slice(0, TO_TRY).map((place) => {
    const gradient = {...place, name: state.trace.arrays.get(place.name).gradient};
    const text = `${titleOf(place)}, ${partInWords(place.name.replace(/\.[^.]*$/, ""))}`;
    const go = () => {
      follow(gradient);
      showSum();
    };
    return make("li", {}, makeButton(text, go), ` ${signedNumber(valueAt(gradient))}`);
  });
  byId("tries").replaceChildren(...tries);
}

function drawFollowed() {
  const {chosen, trace} = state;
  byId("follow-hint").hidden = Boolean(chosen);
  byId("followed").hidden = !chosen;
  if (!chosen) {
    byId("followed").replaceChildren();
    return;
  }
  const explained = explain(trace, chosen.name, chosen.row, chosen.column);
  if (isMovedByHand(chosen)) {
    explained.terms[0].label = "put there by you";
  }
  const {terms} = explained;
  const sum = terms.length > 1 ? `, the sum of ${counted(terms.length, "part")}` : "";
  byId("followed-said").textContent = `${titleOf(chosen)} is ${signedNumber(explained.value)}${sum}`;
  byId("followed").replaceChildren(
    trailOf(showSum),
    titleBox(),
    make("p", {class: "formula"}, explained.formula),
    barsOf(explained),
    ...spoiledSum(explained),
    make("p", {class: "note"}, explained.note),
    make("div", {id: "ways", class: "ways screen-only"}, ...waysOn()),
  );
}

// With a bug planted at this very step, the number is not the sum that it should be.
function spoiledSum({value, total, terms}) {
  const size = terms.reduce((most, term) => Math.max(most, Math.abs(term.value)), Math.abs(value));
  if (!state.bug || Math.abs(value - total) <= 1e-9 * size) {
    return [];
  }
  const text = `Backward, with the bug planted here, says ${signedNumber(value)}; without it this sum, `
    + `${signedNumber(total)}, would come out of the same numbers.`;
  return [make("p", {class: "proof bad"}, text)];
}

function titleBox() {
  const {chosen, trace} = state;
  const array = trace.arrays.get(chosen.name);
  const value = valueAt(chosen);
  const title = make("h3", {id: "followed-title", tabindex: -1}, `${titleOf(chosen)} = `);
  title.append(make("output", {title: exactNumber(value)}, signedNumber(value)));
  const maker = stepThatMakes(chosen.name);
  const where = maker === null ? "" : ` (${partInWords(trace.steps[maker].part)})`;
  const parts = [title, make("p", {class: "meaning", title: shapeInWords(array)}, `${array.meaning}${where}`)];
  if (array.gradientOf) {
    parts.push(make("p", {id: "what-it-says"}, whatItSays(chosen, value)));
  }
  return make("div", {}, ...parts);
}

const MOVE = 0.01;

// A gradient in words: what backward says, and where a bug is planted, what the loss really does.
function whatItSays(place, value) {
  const {trace, bug} = state;
  const {gradientOf, symbol} = trace.arrays.get(place.name);
  const of = titleOf({...place, name: gradientOf});
  const nothing = whyNothing(trace.arrays.get(place.name));
  if (nothing) {
    return nothing;
  }
  const isOneRoad = trace.arrays.get(gradientOf).gradient !== place.name;
  if (isOneRoad) {
    const road = symbol.slice(symbol.indexOf(" ") + 1);
    return `On this road alone (${road}), the loss would ${fallBy(value)} if ${of} rose by ${MOVE}.`;
  }
  const really = bug ? complexStepIn(trace, {...place, name: gradientOf}) : value;
  const isWrong = Math.abs(really - value) > 1e-9 * Math.max(Math.abs(really), Math.abs(value));
  const said = `if ${of} rose by ${MOVE}, the loss would ${fallBy(value)}`;
  return isWrong
    ? `Backward, with the bug, says: ${said}. It is wrong: the loss would really ${fallBy(really)}.`
    : `${said[0].toUpperCase()}${said.slice(1)}.`;
}

function fallBy(slope) {
  return slope === 0
    ? "not move at all"
    : `${slope > 0 ? "rise" : "fall"} by about ${plainNumber(Math.abs(MOVE * slope))}`;
}

// From here on: to the gradient or back to the value, to the step, to the slider.
function waysOn() {
  const {chosen, trace, step, trail} = state;
  const {gradient, gradientOf} = trace.arrays.get(chosen.name);
  const ways = [];
  if (trail.length > 1) {
    ways.push(makeButton("← Back", goBackOnTrail, {title: "one back on the trail (Backspace)"}));
  }
  if (gradient) {
    ways.push(makeButton("Its gradient", () => follow({...chosen, name: gradient})));
  }
  if (gradientOf) {
    ways.push(makeButton("Its value", () => follow({...chosen, name: gradientOf})));
  }
  const maker = stepThatMakes(chosen.name);
  if (maker !== null && maker !== step) {
    const text = `Step ${maker + 1}: ${partInWords(trace.steps[maker].part)}`;
    ways.push(makeButton(text, () => goToStep(maker), {title: "the step that makes it"}));
  }
  ways.push(makeButton("Try another value", () => change({view: "move"}), {title: "move it and watch the loss"}));
  return ways;
}
