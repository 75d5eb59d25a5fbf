// The last step, the update: from the gradient of a number to its step, and the losses before and after.

import {chooseParameter, parameterOf, updatedParameter} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {followTo} from "./follow.js";
import {percent, plainNumber, signedNumber} from "./format.js";
import {arrayNamed, steepest, titleOfParameter, valueAt} from "./labels.js";
import {state, watch} from "./state.js";

export function showUpdate() {
  byId("parameter").addEventListener("change", ({target}) => chooseParameter(target.value));
  watch(["trace", "step", "rate", "trail", "parameter"], drawUpdate);
}

function drawUpdate() {
  const {trace, step} = state;
  byId("update-head").hidden = trace.steps[step].phase !== "update";
  if (byId("update-head").hidden) {
    return;
  }
  const {t, lr} = trace.update;
  show(
    "update-said",
    t === 1
      ? "The first step of AdamW: nothing is remembered yet, so every number moves by about lr, "
      : `Step ${t} of the training under “Train it”, where “1 step” makes it. lr is `,
    `${plainNumber(lr, 2)}.`,
  );
  show("parameter", ...optionsByMove());
  show("update-way", ...wayOfUpdate());
  show("update-losses", ...rowsOfLosses());
}

// All parameters, those first that move most: ‖Δ‖ beside ‖w‖.
function optionsByMove() {
  const chosen = updatedParameter();
  const sizeOf = (name) => Math.hypot(...arrayNamed(name).values);
  return state.trace.update.parameters
    .map((name) => [name, sizeOf(`delta(${name})`) / (sizeOf(name) || 1)])
    .sort(([, a], [, b]) => b - a)
    .map(([name, share]) =>
      make("option", {value: name, selected: name === chosen}, `${titleOfParameter(name)}: ${percent(share)}`),
    );
}

// From the gradient of one number to its step: each link can be followed.
function wayOfUpdate() {
  const name = updatedParameter();
  const {chosen} = state;
  const isOfIt = chosen && parameterOf(chosen) === name;
  const {row, column} = isOfIt ? chosen : steepest(name, 1)[0];
  const at = (array) => ({name: array, row, column});
  const links = [
    ["gradient of this sentence", `d(${name})`, 1],
    ["mean of the batch, g", `g(${name})`, 1],
    ["clipped, clip · g", `g(${name})`, arrayNamed("clip").values[0]],
    ["mean of the steps, m̂", `m_hat(${name})`, 1],
    ["its step, Δw", `delta(${name})`, 1],
  ];
  return links.map(([text, array, times]) => {
    const value = signedNumber(times * valueAt(at(array)), 3);
    return make("li", {}, makeButton(`${text}: ${value}`, () => followTo(at(array))));
  });
}

function rowsOfLosses() {
  const {update} = state.trace;
  const {batch, loss} = update.next();
  update.after ??= batch.map(({example}) => update.lossAfter(example)); // once, however often the step is shown
  const rows = batch.map(({example, trace}, n) => [example.text, trace.loss, update.after[n]]);
  const mean = batch.reduce((sum, {share}, n) => sum + share * update.after[n], 0);
  return [["the whole batch", loss, mean], ...rows].map(([text, ...losses]) => {
    const head = make("th", {scope: "row"}, make("bdi", {}, text));
    return make("tr", {}, head, ...losses.map((value) => make("td", {}, plainNumber(value, 3))));
  });
}
