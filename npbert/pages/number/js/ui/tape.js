// The tape: a stack of what forward kept for backward, as it is after this step.

import {goToStep} from "./actions.js";
import {make, makeButton, show} from "./dom.js";
import {counted} from "./format.js";
import {arrayNamed, partInWords} from "./labels.js";
import {state, watch} from "./state.js";

// Draw it, and again with every step.
export function showTape() {
  watch(["trace", "step"], drawTape);
}

function drawTape() {
  const {step, trace} = state;
  const {tape, phase} = trace.steps[step];
  // what forward put on it, until the step comes that takes it off; the top first
  const stack = trace.steps
    .slice(0, step + 1)
    .filter((entry) => entry.phase === "forward" && held(entry.tape).length > 0 && step < takerOf(entry).index)
    .reverse();
  const what = held(tape).join(", ") || "nothing";
  const isEmpty = phase !== "forward" && !stack.length;
  const fullest = trace.steps.findIndex((entry) => entry.phase === "backward");
  show(
    "tape-news",
    phase === "forward" ? `This step put ${what} on top.` : `This step took ${what} off.`,
    ` It is fullest after step ${fullest}, where forward ends.`,
    isEmpty ? " The tape is empty again: all of forward is undone." : "",
    ` ${trace.steps[step].of?.said.kept ?? ""}`,
  );
  const count = stack.reduce((sum, entry) => sum + sizeOfEntry(entry.tape), 0);
  show("tape-size", `${counted(stack.length)} kept, ${counted(count, "number")}`);
  show("tape-stack", ...stack.map(entryOf));
}

const takerOf = (entry) => state.trace.steps.find(({undoes}) => undoes === entry.index);
const sizeOfEntry = ({ids, keeps}) => keeps.reduce((sum, name) => sum + arrayNamed(name).values.length, ids);

function entryOf(entry) {
  const {index, formula} = takerOf(entry);
  const go = makeButton(`${held(entry.tape).join(", ")} · ${partInWords(entry.part)}`, () => goToStep(index));
  return make("li", {}, go, make("span", {class: "quiet"}, ` step ${index + 1} needs it: ${formula}`));
}

// What a step keeps on the tape, or takes from it: the symbols of its arrays, and ids, which say what rows were read.
function held({keeps, takes, ids}) {
  return [...(keeps ?? takes).map((name) => arrayNamed(name).symbol), ...(ids ? [counted(ids, "id")] : [])];
}
