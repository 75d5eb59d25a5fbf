// The update on the stage: the arrays of one parameter, and what the whole step does to the losses and to all of them.

import {largestIn} from "../math/index.js";
import {chooseParameter, parameterOf} from "./actions.js";
import {byId, make, makeButton, makeRow} from "./dom.js";
import {exactNumber, plainNumber, roundedNumber} from "./format.js";
import {partInWords} from "./labels.js";
import {steepestWeights} from "./place.js";
import {said} from "./said.js";
import {state} from "./state.js";

const GROUPS = [ // what comes out first: it is made of those below it
  ["before and after", ["", "decay", "delta", "new"]],
  ["what is remembered of the gradients", ["m", "v", "m_hat", "v_hat"]],
  ["what was remembered", ["m_before", "v_before"]],
  ["the gradient of the batch", ["g"], ["norm", "clip"]],
];

// Whose update it is: that of the chosen number, or the last one that was chosen, by name or by a number; or the steepest.
export function updatedParameter() {
  return (state.chosen && parameterOf(state.chosen)) ?? state.parameter ?? steepestWeights(1)[0].name;
}

// The groups of the stage: titles, and the names of their arrays.
export function groupsOfUpdate() {
  const name = updatedParameter();
  const {t} = state.trace.update;
  const groups = GROUPS.filter(([, [first]]) => t > 1 || first !== "m_before"); // nothing but 0 is remembered at first
  return groups.map(([title, own, ofAll = []]) =>
    [title, [...own.map((key) => (key ? `${key}(${name})` : name)), ...ofAll]]);
}

// What is said above them; and below them the losses before and after the step, and how far each parameter moves.
export function drawUpdate() {
  const {t, lr, parameters} = state.trace.update;
  const {optimizer} = state.data;
  const rate = plainNumber(roundedNumber(lr, 2));
  byId("update-constants").textContent =
    said("update.constants", {...optimizer, t, rate, eps: exactNumber(optimizer.eps)});
  byId("update-said").textContent = said(t === 1 ? "update.first" : "update.later", {t, rate});
  byId("parameter").replaceChildren(...parameters.map((name) => make("option", {value: name}, titleOfParameter(name))));
  byId("parameter").value = updatedParameter();
  const tables = byId("update-tables").content.cloneNode(true);
  const bodies = tables.querySelectorAll("tbody");
  [rowsOfLosses(), rowsOfMoves()].forEach((rows, index) => bodies[index].append(...rows.map(([name, ...figures]) =>
    makeRow(make("bdi", {}, name), ...figures.map((value) => ["number", plainNumber(value)])))));
  byId("stage").append(tables);
}

function rowsOfLosses() {
  const {trace: {loss, update}, example} = state;
  const {batch, next, lossAfter} = update;
  update.after ??= batch().map((one) => lossAfter(one.example)); // once, however often the step is shown
  const rows = batch().map(({isShown, example: {text}, share, trace: {loss: before}}, index) =>
    [isShown ? `${text} (on top)` : text, share, before, update.after[index]]);
  const whole = ["the whole batch", 1, next().loss, rows.reduce((sum, [, share, , after]) => sum + share * after, 0)];
  const isIn = batch().some(({isShown}) => isShown);
  return [...rows, whole, ...(isIn ? [] : [["on top, not in the batch", 0, loss, lossAfter(example)]])];
}

function rowsOfMoves() {
  const moves = [...state.trace.update.next().made].map(([name, {w, delta}]) => [
    makeButton(titleOfParameter(name), () => chooseParameter(name)),
    ...[Math.hypot(...delta.re) / Math.hypot(...w.re), largestIn(delta.re)].map((value) => roundedNumber(value, 3)),
  ]);
  return moves.sort(([, a], [, b]) => b - a);
}

function titleOfParameter(name) {
  return `${state.trace.arrays.get(name).symbol}, ${partInWords(name.replace(/\.[^.]*$/, ""))}`;
}
