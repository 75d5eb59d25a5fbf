// The last step, the update: from the gradient of a number to its step, and the losses before and after.

import {parameterOf, updatedParameter} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {followTo} from "./follow.js";
import {plainNumber, signedNumber} from "./format.js";
import {arrayNamed, steepest, titleOf, valueAt} from "./labels.js";
import {state, watch} from "./state.js";

export function showUpdate() {
  watch(["trace", "step", "rate", "trail"], drawUpdate);
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
  show("update-way", ...wayOfUpdate());
  show("update-losses", lossesInWords());
}

// From the gradient of one number to its step: each link can be followed.
function wayOfUpdate() {
  const name = updatedParameter();
  const {chosen} = state;
  const isOfIt = chosen && parameterOf(chosen) === name;
  const {row, column} = isOfIt ? chosen : steepest(name);
  const at = (array) => ({name: array, row, column});
  const links = [
    [`gradient of ${titleOf(at(name))} in this sentence`, `d(${name})`, 1],
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

function lossesInWords() {
  const {update} = state.trace;
  const {batch, loss} = update.next();
  // once, however often the step is shown
  update.after ??= batch.reduce((sum, {example, share}) => sum + share * update.lossAfter(example), 0);
  const change = (losses) => `from ${losses.map((one) => plainNumber(one, 3)).join(" to ")}`;
  const own = [state.trace.loss, update.lossAfter(state.example)];
  return `The whole step takes the loss of the batch ${change([loss, update.after])}, and that of this line ${change(own)}.`;
}
