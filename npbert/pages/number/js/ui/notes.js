// Notes that stand above all tabs: that a bug is planted, and that the model is no longer the one that came.

import {byId, make, show} from "./dom.js";
import {counted, plainNumber} from "./format.js";
import {titleOf, valueAt} from "./labels.js";
import {state, watch} from "./state.js";

// Draw them, and again when the model or the bug changes.
export function showNotes() {
  watch(["bug", "trace", "quiz", "tour"], drawBugNote);
  watch(["trace"], drawModelNote);
}

// A stop of a tour by its name and its number there, "table:2": the element of tours.html, or null for none.
export function stopNamed(text) {
  const [, name, number] = text?.match(/^(\w+):(\d+)$/) ?? [];
  return document.querySelectorAll(`[data-tour="${name}"] li`)[number - 1] ?? null;
}

// Is a bug planted that the reader is to find?
export const isSecret = ({quiz, tour} = state) =>
  (quiz?.kind === "bug" && !quiz.isAnswered) || Boolean(stopNamed(tour)?.hasAttribute("data-secret"));

// The bug of this id: its name, what is wrong with it, and the line that it plants.
export const bugNamed = (id) => state.model.program.bugs.find((bug) => bug.id === id);

// The id of the planted bug, unless it is to be found; or null.
export const knownBug = () => (isSecret() ? null : state.bug);

// The same, where it is at this step; or null.
export const bugAt = ({isBroken}) => (isBroken ? knownBug() : null);

// What is wrong with a bug, its right line and the planted one.
export function linesOfBug(id) {
  const {why, right, planted} = bugNamed(id);
  return [
    make("p", {}, why),
    make("p", {class: "formula"}, `right: ${right}`),
    make("p", {class: "formula bad"}, `planted: ${planted}`),
  ];
}

function drawBugNote() {
  const bug = knownBug();
  byId("bug-note").hidden = !bug;
  show("bug-name", bug ? bugNamed(bug).name : "");
}

function drawModelNote() {
  const {changed, isFresh, stepsTrained, trainedWith} = state;
  const bugs = isSecret() ? [] : [...trainedWith].map((id) => `“${bugNamed(id).name}”`);
  const ill = bugs.length ? `, with a bug in its backward (${bugs.join(", ")})` : "";
  const all = [
    ...(isFresh ? ["it began anew from random numbers"] : []),
    ...(stepsTrained ? [`it was trained here for ${counted(stepsTrained, "step")}${ill}`] : []),
    ...changed.map((place) => `you put ${titleOf(place)} at ${plainNumber(valueAt(place))}`),
  ];
  byId("changed-note").hidden = all.length === 0;
  show("changed-what", all.join(", "));
}
