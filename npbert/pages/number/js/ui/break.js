// Break it: plant a bug in the backward. The check turns red at once; training hardly shows it.

import {run} from "../math/index.js";
import {chooseSentence, plantBug} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {beginAt} from "./follow.js";
import {signedNumber} from "./format.js";
import {partInWords} from "./labels.js";
import {isSecret, knownBug, linesOfBug} from "./notes.js";
import {titleOf} from "./place.js";
import {clearRace, race} from "./race.js";
import {state, watch} from "./state.js";
import {openView} from "./tabs.js";

const ROWS = 4; // of wrong arrays that are shown at once

// Draw the list of bugs, and what the check says where one is planted.
export function showBreak() {
  byId("bugs").addEventListener("change", ({target}) => plantBug(target.value || null));
  byId("race").addEventListener("click", race);
  byId("bug-out").addEventListener("click", () => {
    plantBug(null);
    byId(`tab-${state.view}`).focus({preventScroll: true}); // the note, and its button, are gone
  });
  watch(["bug"], drawBug);
  drawBug();
  watch(["view", "report"], drawCheck);
}

function drawBug() {
  const bug = knownBug();
  byId("bugs").querySelector(`[value="${bug ?? ""}"]`).checked = true;
  byId("bug-lines").replaceChildren(...(bug ? linesOfBug(bug) : []));
  clearRace();
}

// What the check says of each array, while the tab is open.
function drawCheck() {
  const {view, report, bug} = state;
  const found = view === "break" && report ? report.perParameter : [];
  const [right, wrong] = [true, false].map((is) => found.filter(({ok}) => ok === is));
  const parts = foldedRows(wrong.map(wrongRow));
  if (wrong.length && !isSecret()) {
    parts.unshift(make("p", {class: "first-wrong"}, ...whereToLook(report.first)));
  }
  if (right.length) {
    const names = make("p", {class: "quiet"}, right.map(({name}) => partInWords(name)).join(", "));
    const folded = make("details", {}, make("summary", {}, `✓ ${right.length} are right`), names);
    parts.push(...(bug && !wrong.length ? [elsewhere()] : []), folded);
  }
  byId("check-list").replaceChildren(...parts);
}

// In this sentence the bug changes nothing: a way to one in which it does.
function elsewhere() {
  const example = state.data.examples.find((one) => changesSomething(state.bug, one));
  const here = "In this sentence the bug changes nothing.";
  return example
    ? make("p", {}, `${here} It shows in another: `, makeButton(example.text, () => chooseSentence(example)))
    : make("p", {}, `${here} Nor does it in any other of the page.`);
}

// Does this bug move a gradient of a parameter in this sentence?
export function changesSomething(bug, example) {
  const [right, broken] = [null, bug].map((planted) => run(state.model, example, {bug: planted}).arrays);
  const isMoved = (name) =>
    right.get(name).values.some((value, index) => Math.abs(value - broken.get(name).values[index]) > 1e-5);
  return [...right.values()].some(({parameter, gradient}) => parameter && isMoved(gradient));
}

function foldedRows(rows) {
  const more = rows.slice(ROWS);
  const folded = make("details", {}, make("summary", {}, `✗ and ${more.length} more`), ...more);
  return more.length > 1 ? [...rows.slice(0, ROWS), folded] : rows;
}

// One array of which the gradient is wrong.
function wrongRow({name, worst: {row, column, analytic, numeric}}) {
  const place = {name: state.trace.arrays.get(name).gradient, row, column};
  const figures = `backward says ${signedNumber(analytic)}, forward alone gives ${signedNumber(numeric)}`;
  const said = ` ${titleOf(place)}: ${figures}: ${faultInWords(analytic, numeric)}`;
  const title = make("strong", {}, `✗ ${partInWords(name)}`);
  const go = makeButton("follow it", () => beginAt(place), {"aria-label": `follow ${titleOf(place)}`});
  return make("div", {class: "wrong-row"}, go, make("div", {}, title, make("span", {class: "quiet"}, said)));
}

// How a derivative is wrong, beside the one that is right.
function faultInWords(analytic, numeric) {
  const times = analytic / numeric;
  if (Math.abs(times) < 1e-3) {
    return "it is missing";
  }
  if (!(Math.abs(times) < 1e3)) {
    return "there should be next to nothing";
  }
  if (times < 0) {
    return "it has the wrong sign";
  }
  return `it is ${Number(times.toPrecision(3))} times what it should be`;
}

// Which step the bug is in: of the first array that is wrong on the way back, all that it is made from is right.
function whereToLook(name) {
  const {steps, arrays} = state.trace;
  const {gradient} = arrays.get(name);
  const makers = steps.filter(({writes}) => writes.includes(gradient));
  const last = makers.at(-1);
  const text = `The first that is wrong on the way back is ${arrays.get(gradient).symbol}. `;
  const orElse = last.kind === "Fork"
    ? ", or on one of the roads that are added up there"
    : "; everything it is made from is right";
  const where = makers.length > 1 ? `It is added to in ${makers.length} steps: the bug is in one of them.`
    : `The bug is in the step that makes it${orElse}.`;
  const open = (step) => openView("step", {step, chosen: null, trail: []});
  const goes = makers.map(({index, part}) => makeButton(`Step ${index + 1}: ${partInWords(part)}`, () => open(index)));
  return [text, where, " ", ...goes];
}
