// Notes that stand above all tabs: that a bug is planted, and that the model is no longer the one that came.

import {byId} from "./dom.js";
import {counted, plainNumber} from "./format.js";
import {titleOf, valueAt} from "./place.js";
import {state, watch} from "./state.js";

// Draw them, and again when the model or the bug changes.
export function showNotes() {
  watch(["bug", "trace"], drawBugNote);
  watch(["trace"], drawModelNote);
}

// Is a bug planted that the reader is to find?
export function isSecret(quiz = state.quiz) {
  return quiz?.kind === "bug" && !quiz.isAnswered;
}

// What a bug is called, and the line that it plants.
export function nameOfBug(id) {
  return byId("bugs").querySelector(`[value="${id}"]`).labels[0].textContent;
}

export function lineOfBug(id) {
  return document.querySelector(`[data-bug="${id}"] .wrong span`).textContent;
}

// What is wrong with it, its right line and the planted one.
export function linesOfBug(id) {
  return document.querySelector(`[data-bug="${id}"]`).cloneNode(true).children;
}

// The id of the planted bug, unless it is to be found; or null.
export function knownBug() {
  return isSecret() ? null : state.bug;
}

// The same, where it is at this step; or null.
export function bugAt({isBroken}) {
  return isBroken ? knownBug() : null;
}

function drawBugNote() {
  const bug = knownBug();
  byId("bug-note").hidden = !bug;
  byId("bug-name").textContent = bug ? nameOfBug(bug) : "";
}

function drawModelNote() {
  const {changed, isFresh, stepsTrained, trainedWith} = state;
  const put = changed.map((place) => `you put ${titleOf(place)} at ${plainNumber(valueAt(place))}`);
  const begun = isFresh ? ["it began anew from random numbers"] : [];
  const bugs = isSecret() ? [] : [...trainedWith].map((id) => `“${nameOfBug(id)}”`);
  const ill = bugs.length ? `, with a bug in its backward (${bugs.join(", ")})` : "";
  const trained = stepsTrained ? [`it was trained here for ${counted(stepsTrained, "step")}${ill}`] : [];
  const all = [...begun, ...trained, ...put];
  byId("changed-note").hidden = all.length === 0;
  byId("changed-what").textContent = all.join(", ");
}
