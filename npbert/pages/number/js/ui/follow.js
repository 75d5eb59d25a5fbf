// The number that is followed: the sum that it is, a bar for each term, and the way by which the reader came.

import {explain} from "../math/index.js";
import {follow, forget, goBackTo, goToStep, stepThatMakes} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton} from "./dom.js";
import {counted, exactNumber, plainNumber, signedNumber} from "./format.js";
import {partInWords} from "./labels.js";
import {steepestWeight, titleOf, valueAt} from "./place.js";
import {change, state, watch} from "./state.js";

// Draw it, and again when another number is chosen or the numbers change.
export function showFollowed() {
  watch(["trace", "chosen"], drawFollowed);
  watch(["step"], () => state.chosen && byId("ways").replaceChildren(...waysOn()));
  byId("try-one").addEventListener("click", () => {
    const weight = steepestWeight();
    follow({...weight, name: state.trace.arrays.get(weight.name).gradient});
    byId("followed-title").focus({preventScroll: true});
  });
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
  const parts = counted(explained.terms.length, "part");
  byId("followed-said").textContent = `${titleOf(chosen)} is ${signedNumber(explained.total)}, the sum of ${parts}`;
  byId("followed").replaceChildren(
    trailOf(),
    titleBox(),
    make("p", {class: "formula"}, explained.formula),
    barsOf(explained),
    make("p", {class: "note"}, explained.note),
    make("div", {id: "ways", class: "ways screen-only"}, ...waysOn()),
  );
}

// The numbers on the way here, each a button that leads back to it.
function trailOf() {
  const {trail} = state;
  const items = trail.map((place, index) => {
    const isHere = index === trail.length - 1;
    const attributes = {"aria-current": isHere ? "true" : null, disabled: isHere};
    return make(
      "li",
      {},
      makeButton(titleOf(place), () => goBackTo(index), attributes),
    );
  });
  const leave = makeButton("✕", forget, {
    class: "leave screen-only",
    "aria-label": "follow no number",
    title: "follow no number (Esc)",
  });
  return make("div", {class: "trail"}, make("nav", {"aria-label": "the way here"}, make("ol", {}, ...items)), leave);
}

function titleBox() {
  const {chosen, trace} = state;
  const array = trace.arrays.get(chosen.name);
  const value = valueAt(chosen);
  const title = make("h3", {id: "followed-title", tabindex: -1}, `${titleOf(chosen)} = `);
  title.append(make("output", {title: exactNumber(value)}, signedNumber(value)));
  const maker = stepThatMakes(chosen.name);
  const where = maker === null ? "" : ` (${partInWords(trace.steps[maker].part)})`;
  const parts = [title, make("p", {class: "meaning"}, `${array.meaning}${where}`)];
  if (array.gradientOf) {
    parts.push(make("p", {}, whatItSays(chosen, value)));
  }
  return make("div", {}, ...parts);
}

// A gradient in words.
function whatItSays(place, value) {
  const of = titleOf({...place, name: state.trace.arrays.get(place.name).gradientOf});
  if (value === 0) {
    return `If ${of} moved a little, the loss would not move at all.`;
  }
  const direction = value > 0 ? "rise" : "fall";
  return `If ${of} rose by 0.01, the loss would ${direction} by about ${plainNumber(Math.abs(0.01 * value))}.`;
}

// From here on: to the gradient or back to the value, to the step, to the slider.
function waysOn() {
  const {chosen, trace, step} = state;
  const {gradient, gradientOf} = trace.arrays.get(chosen.name);
  const ways = [];
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
  ways.push(
    makeButton("What if it were another?", () => change({view: "move"}), {title: "move it and watch the loss"}),
  );
  return ways;
}
