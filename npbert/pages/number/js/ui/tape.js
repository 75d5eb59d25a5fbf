// The tape: a stack of what forward kept for backward, as it is after this step.

import {goToStep} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {counted} from "./format.js";
import {partInWords} from "./labels.js";
import {state, watch} from "./state.js";

// Draw it, and again with every step.
export function showTape() {
  watch(["trace", "step"], drawTape);
}

// What is on the tape after step `last`, the top last: {index, part, names, ids} each, index that of the step that put it
// there; ids: how many whole numbers say which rows were read.
export function tapeAfter(steps, last) {
  const stack = [];
  for (const {index, part, phase, tape} of steps.slice(0, last + 1)) {
    if (!isUsed(tape)) {
      continue;
    }
    if (phase === "forward") {
      stack.push({index, part, names: tape.keeps, ids: tape.ids});
    } else {
      stack.pop();
    }
  }
  return stack;
}

function isUsed({keeps, takes, ids}) {
  return (keeps ?? takes).length > 0 || ids > 0;
}

function drawTape() {
  const {trace, step} = state;
  const {tape, phase} = trace.steps[step];
  const stack = tapeAfter(trace.steps, step);
  const count = ({names, ids}) => names.reduce((sum, name) => sum + trace.arrays.get(name).values.length, ids);
  const what = listed({names: tape.keeps ?? tape.takes, ids: tape.ids});
  const isForward = phase === "forward";
  let news = isForward ? "This step kept nothing." : "This step took nothing.";
  if (isUsed(tape)) {
    news = isForward ? `This step put ${what} on top.` : `This step took ${what} off.`;
  }
  const isDone = !isForward && stack.length === 0;
  byId("tape-news").textContent = isDone ? `${news} The tape is empty again: all of forward is undone.` : news;
  const total = stack.reduce((sum, entry) => sum + count(entry), 0);
  const size = `${counted(stack.length)} kept, ${counted(total, "number")}`;
  byId("tape-size").textContent = `after this step: ${size}`;
  byId("go-tape").textContent = `tape: ${size}`;
  const isNew = isForward && isUsed(tape);
  const entries = stack.toReversed().map((entry, depth) => {
    const taker = trace.steps.find(({undoes}) => undoes === entry.index);
    const why = make("span", {class: "quiet"}, `step ${taker.index + 1} needs it: ${taker.formula}`);
    const text = `${listed(entry)} · ${partInWords(entry.part)}`;
    const go = makeButton(text, () => goToStep(taker.index), {title: "go to the step that takes it off"});
    return make("li", {class: isNew && depth === 0 ? "new" : ""}, go, why);
  });
  byId("tape-stack").replaceChildren(...entries);
}

// What an entry holds: the symbols of its arrays, and ids.
function listed({names, ids}) {
  const symbols = names.map((name) => state.trace.arrays.get(name).symbol);
  return [...symbols, ...(ids ? [counted(ids, "id")] : [])].join(", ");
}
