/* The number that is followed: the sum that it is, a bar for each term, and the way by which the reader came. */

import {explain} from "../math/index.js";
import {follow, forget, goBackTo, goToStep, stepThatMakes} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {exactNumber, plainNumber, shortNumber, signedNumber} from "./format.js";
import {cellOfPlace} from "./heatmap.js";
import {nameOf, partInWords} from "./labels.js";
import {steepestWeight} from "./place.js";
import {change, state, watch} from "./state.js";

const MOST_BARS = 12;

/** Draw it, and again when another number is chosen or the numbers change. */
export function showFollowed() {
  watch(["trace", "chosen"], drawFollowed);
  watch(["step"], () => state.chosen && byId("ways").replaceChildren(...waysOn()));
  byId("try-one").addEventListener("click", () => {
    const weight = steepestWeight();
    follow({...weight, name: state.trace.arrays.get(weight.name).gradient});
    byId("followed-title").focus({preventScroll: true});
  });
}

/** A number of the trace. */
export function valueAt({name, row, column}) {
  const array = state.trace.arrays.get(name);
  return array.values[row * array.shape[1] + column];
}

/** What the number at a place is called. */
export function titleOf({name, row, column}) {
  return nameOf(state.trace.arrays.get(name), row, column);
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
  byId("followed").replaceChildren(
    trailOf(),
    titleBox(),
    make("p", {class: "formula"}, explained.formula),
    barsOf(explained),
    make("p", {class: "note"}, explained.note),
    make("div", {id: "ways", class: "ways"}, ...waysOn()),
  );
}

/** The numbers on the way here, each a button that leads back to it. */
function trailOf() {
  const {trail} = state;
  const items = trail.map((place, index) => {
    const isHere = index === trail.length - 1;
    const attributes = {"aria-current": isHere ? "true" : null, disabled: isHere};
    return make("li", {}, makeButton(titleOf(place), () => goBackTo(index), attributes));
  });
  const leave = makeButton("✕", forget, {class: "leave", "aria-label": "follow no number", title: "follow no number (Esc)"});
  return make("div", {class: "trail"}, make("nav", {"aria-label": "the way here"}, make("ol", {}, ...items)), leave);
}

function titleBox() {
  const {chosen, trace} = state;
  const array = trace.arrays.get(chosen.name);
  const value = valueAt(chosen);
  const title = make("h3", {id: "followed-title", tabindex: -1}, `${titleOf(chosen)} = `);
  title.append(make("output", {title: exactNumber(value)}, signedNumber(value)));
  const parts = [title, make("p", {class: "meaning"}, array.meaning)];
  if (array.gradientOf) {
    parts.push(make("p", {}, whatItSays(chosen, value)));
  }
  return make("div", {}, ...parts);
}

/** A gradient in words. */
function whatItSays(place, value) {
  const of = titleOf({...place, name: state.trace.arrays.get(place.name).gradientOf});
  if (value === 0) {
    return `If ${of} moved a little, the loss would not move at all.`;
  }
  const direction = value > 0 ? "rise" : "fall";
  return `If ${of} rose by 0.01, the loss would ${direction} by about ${plainNumber(Math.abs(0.01 * value))}.`;
}

/** A bar for each term: its length is how much it brings. The largest stand alone, the small ones are folded away. */
function barsOf({terms, total, roads}) {
  const largest = Math.max(...terms.map((term) => Math.abs(term.value)), Number.MIN_VALUE);
  const order = terms.map((term, index) => ({term, index}));
  const bySize = order.toSorted((a, b) => Math.abs(b.term.value) - Math.abs(a.term.value));
  const isFolded = terms.length > MOST_BARS;
  const shown = isFolded ? bySize.slice(0, MOST_BARS) : order;
  const folded = isFolded ? bySize.slice(MOST_BARS) : [];
  const list = make("ol", {class: roads ? "bars roads" : "bars"}, ...shown.map(({term}) => bar(term, largest)));
  const parts = [list];
  if (folded.length) {
    const rest = folded.reduce((sum, {term}) => sum + term.value, 0);
    const summary = make("summary", {}, `and ${folded.length} smaller ones, together ${signedNumber(rest)}`);
    parts.push(make("details", {}, summary, make("ol", {class: "bars"}, ...folded.map(({term}) => bar(term, largest)))));
  }
  const what = terms.length > 1 ? `the sum of the ${terms.length}` : "all of it";
  parts.push(make("p", {class: "total"}, make("span", {}, what), make("strong", {}, signedNumber(total))));
  return make("div", {}, ...parts);
}

function bar({label, value, factors, goes}, largest) {
  const width = `--width: ${(50 * Math.abs(value)) / largest}%`;
  const parts = [
    make("span", {class: "bar-label"}, make("bdi", {}, label)),
    make("span", {class: "bar-value"}, signedNumber(value)),
    make("span", {class: `bar-track ${value < 0 ? "minus" : "plus"}`, style: width, "aria-hidden": "true"}),
    make("span", {class: "bar-factors"}, factors.map(factorText).join(" × ")),
  ];
  if (!goes) {
    return make("li", {}, make("div", {class: "bar"}, ...parts));
  }
  const light = (on) => () => factors.forEach((factor) => factor.name && lightUp(factor, on));
  const listeners = {onpointerenter: light(true), onpointerleave: light(false), onfocus: light(true), onblur: light(false)};
  const goOn = () => {
    light(false)();
    follow(goes);
    byId("followed-title").focus({preventScroll: true});
  };
  const title = `go on to ${titleOf(goes)}`;
  return make("li", {}, make("button", {type: "button", class: "bar", title, onclick: goOn, ...listeners}, ...parts));
}

function factorText({name, row, column, value, label}) {
  const what = label ?? titleOf({name, row, column});
  return `${what} ${shortNumber(value)}`;
}

function lightUp(place, on) {
  cellOfPlace(byId("stage"), place)?.classList.toggle("lit", on);
}

/** From here on: to the gradient or back to the value, to the step, to the slider. */
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
  ways.push(makeButton("What if it were another?", () => change({view: "move"}), {title: "move it and watch the loss"}));
  return ways;
}
