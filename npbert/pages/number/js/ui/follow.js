// The number that is followed: the sum that it is, a bar for each term, and the way by which the reader came.

import {explain, largestTerm, wayToLoss} from "../math/index.js";
import {change, state, watch} from "./state.js";
import {follow, goToStep, parameterOf, stepThatMakesNumber} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton} from "./dom.js";
import {counted, exactNumber, plainNumber, signedNumber} from "./format.js";
import {partInWords, shapeInWords, wordsByNumber} from "./labels.js";
import {isSecret, knownBug} from "./notes.js";
import {isRounding, whyNothing} from "./nothing.js";
import {isMovable, isMovedByHand, isSlope, steepestWeights, titleOf, trueSlopeAt, valueAt} from "./place.js";
import {said} from "./said.js";
import {openView} from "./tabs.js";
import {goBackOnTrail, showSum, trailOf} from "./trail.js";

const TO_TRY = 5;

// Draw it, and again when another number is chosen or the numbers change.
export function showFollowed() {
  watch(["trace", "chosen"], drawFollowed);
  watch(["trace", "quiz"], drawTries);
  watch(["step"], () => state.chosen && byId("ways").replaceChildren(...waysOn()));
}

// Follow the largest part, and its largest part, until backward begins.
function followToLoss() {
  follow(...wayToLoss(state.trace, state.chosen));
  showSum();
}

// Follow this number, and show its sum.
function followTo(place) {
  follow(place);
  showSum();
}

// The same from anywhere, on a trail of its own.
export function beginAt(place) {
  change({view: "step", trail: []});
  followTo(place);
}

// Where to begin: the weights that move the loss most. The part of the model is said once for all that are in it.
function drawTries() {
  const tries = steepestWeights(TO_TRY).map((place, index, places) => {
    const gradient = {...place, name: state.trace.arrays.get(place.name).gradient};
    const isAsBefore = place.name === places[index - 1]?.name;
    const part = isAsBefore ? "" : `, ${partInWords(place.name.replace(/\.[^.]*$/, ""))}`;
    const button = makeButton(`${titleOf(place)}${part}`, () => followTo(gradient));
    return make("li", {}, button, ` ${signedNumber(valueAt(gradient))}`);
  });
  byId("tries").replaceChildren(...(isSecret() ? [] : tries)); // the bug's own numbers would tell where it is
}

function drawFollowed() {
  const {chosen, trace} = state;
  byId("follow-hint").hidden = Boolean(chosen);
  byId("followed").hidden = !chosen;
  byId("followed").replaceChildren();
  if (!chosen) {
    return;
  }
  const explained = explain(trace, chosen.name, chosen.row, chosen.column);
  if (isMovedByHand(chosen)) {
    explained.terms[0].label = "put there by you";
  }
  const {terms, formula} = explained;
  const words = wordsByNumber(trace.arrays.get(chosen.name), chosen.row, chosen.column); // which the formula numbers
  const sum = terms.length > 1 ? `, the sum of ${counted(terms.length, "part")}` : "";
  byId("followed-said").textContent = `${titleOf(chosen)} is ${signedNumber(explained.value)}${sum}`;
  byId("followed").append(
    trailOf(),
    titleBox(),
    make("p", {class: "formula"}, formula, words ? make("span", {class: "quiet numbering"}, ` (${words})`) : null),
    barsOf(explained),
    ...spoiledSum(explained),
    make("p", {class: "note"}, explained.notes.map(({name, of}) => said(name, of)).join(" ")),
    make("div", {id: "ways", class: "ways screen-only"}, ...waysOn()),
  );
}

// With a bug planted at this very step, the number is not the sum that it should be.
function spoiledSum({value, total, terms}) {
  const size = terms.reduce((most, term) => Math.max(most, Math.abs(term.value)), Math.abs(value));
  if (!knownBug() || Math.abs(value - total) <= 1e-9 * size) {
    return [];
  }
  const numbers = {value: signedNumber(value), total: signedNumber(total)};
  return [make("p", {class: "proof bad"}, said("followed.spoiled", numbers))];
}

function titleBox() {
  const {chosen, trace} = state;
  const array = trace.arrays.get(chosen.name);
  const value = valueAt(chosen);
  const maker = stepThatMakesNumber(chosen);
  const where = maker === null ? "" : ` (${partInWords(trace.steps[maker].part)})`;
  return make("div", {},
    make("h3", {id: "followed-title", tabindex: -1}, `${titleOf(chosen)} = `,
      make("output", {title: exactNumber(value)}, signedNumber(value))),
    make("p", {class: "meaning", title: shapeInWords(array)}, `${array.meaning}${where}`),
    array.gradientOf && isMovable(chosen) ? make("p", {id: "what-it-says"}, whatItSays(chosen, value)) : null);
}

const MOVE = 0.01;

// A gradient in words: what backward says, and where a bug is planted, what the loss really does.
function whatItSays(place, value) {
  const {trace} = state;
  const {goal} = trace;
  const {gradientOf, symbol} = trace.arrays.get(place.name);
  const of = titleOf({...place, name: gradientOf});
  const nothing = whyNothing(trace.arrays.get(place.name));
  if (nothing) {
    return nothing;
  }
  const isOneRoad = trace.arrays.get(gradientOf).gradient !== place.name;
  if (isOneRoad) {
    const road = symbol.slice(symbol.indexOf(" ") + 1);
    return `On this road alone (${road}), the ${goal} would ${fallBy(value)} if ${of} rose by ${MOVE}.`;
  }
  const really = knownBug() ? trueSlopeAt({...place, name: gradientOf}) : value;
  const said = `if ${of} rose by ${MOVE}, the ${goal} would ${fallBy(value)}`;
  return !isSlope(value, really)
    ? `Backward, with the bug, says: ${said}. It is wrong: the ${goal} would really ${fallBy(really)}.`
    : `${said[0].toUpperCase()}${said.slice(1)}.`;
}

function fallBy(slope) {
  return isRounding(slope)
    ? "not move at all"
    : `${slope > 0 ? "rise" : "fall"} by about ${plainNumber(Math.abs(MOVE * slope))}`;
}

// From here on: to the gradient or back to the value, to the step, to the slider.
function waysOn() {
  const {chosen, trace, step, trail} = state;
  const {gradient, gradientOf} = trace.arrays.get(chosen.name);
  const parameter = parameterOf(chosen);
  const updated = parameter && `new(${parameter})`;
  const maker = stepThatMakesNumber(chosen) ?? step;
  const goToMaker = () => {
    goToStep(maker);
    byId("followed-title").focus({preventScroll: true});
  };
  const to = (name) => () => followTo({...chosen, name});
  const ways = [ // whether it is one, its button, and where it leads
    [trail.length > 1, "← Previous number", goBackOnTrail, "the one before on the trail (Backspace)"],
    [largestTerm(trace, chosen), `Follow the largest to the ${trace.goal}`, followToLoss],
    [gradient, "Its gradient", to(gradient)],
    [gradientOf, "Its value", to(gradientOf)],
    [chosen.name !== updated && updated, "After the next step", to(updated)],
    [maker !== step, `Step ${maker + 1}: ${partInWords(trace.steps[maker].part)}`, goToMaker, "the step that makes it"],
    [isMovable(chosen), "Try another value", () => openView("move"), `move it and watch the ${trace.goal}`],
  ];
  return ways.filter(([isThere]) => isThere).map(([, text, go, title]) => makeButton(text, go, {title}));
}
