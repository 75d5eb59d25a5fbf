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

function drawTape() {
  const {trace, step} = state;
  const {tape, phase} = trace.steps[step];
  const isForward = phase === "forward";
  const countOf = (name) => trace.arrays.get(name).values.length;
  // what forward put on it, until the step comes that takes it off; the top first
  const takerOf = (entry) => trace.steps.find(({undoes}) => undoes === entry.index);
  const isThere = (entry) => entry.phase === "forward" && held(entry.tape).length > 0 && step < takerOf(entry).index;
  const stack = trace.steps.slice(0, step + 1).filter(isThere).reverse();
  const what = held(tape).join(", ");
  const [did, place] = isForward ? ["put", "on top"] : ["took", "off"];
  const nothing = `This step ${isForward ? "kept" : "took"} nothing.`;
  const isDone = !isForward && stack.length === 0;
  byId("tape-news").textContent = (what ? `This step ${did} ${what} ${place}.` : nothing)
    + (isDone ? " The tape is empty again: all of forward is undone." : "");
  const counts = stack.flatMap((entry) => [entry.tape.ids, ...entry.tape.keeps.map((name) => countOf(name))]);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const size = `${counted(stack.length)} kept, ${counted(total, "number")}`;
  byId("tape-size").textContent = `after this step: ${size}`;
  byId("go-tape").textContent = `tape: ${size}`;
  const entries = stack.map((entry, depth) => {
    const taker = takerOf(entry);
    const text = `${held(entry.tape).join(", ")} · ${partInWords(entry.part)}`;
    const go = makeButton(text, () => goToStep(taker.index), {title: "go to the step that takes it off"});
    const why = make("span", {class: "quiet"}, `step ${taker.index + 1} needs it: ${taker.formula}`);
    return make("li", {class: isForward && what && depth === 0 ? "new" : ""}, go, why);
  });
  byId("tape-stack").replaceChildren(...entries);
}

// What a step keeps on the tape, or takes from it: the symbols of its arrays, and ids, which say what rows were read.
function held({keeps, takes, ids}) {
  const symbols = (keeps ?? takes).map((name) => state.trace.arrays.get(name).symbol);
  return [...symbols, ...(ids ? [counted(ids, "id")] : [])];
}
