// The tape: a stack of what forward kept for backward, as it is after this step.

import {goToStep} from "./actions.js";
import {make, makeButton, show} from "./dom.js";
import {counted} from "./format.js";
import {arrayNamed, partInWords} from "./labels.js";
import {state, watch} from "./state.js";

export function showTape() {
  watch(["trace", "step"], drawTape);
}

function drawTape() {
  const {step, trace} = state;
  const now = trace.steps[step];
  // what forward put on it, until the step comes that takes it off; the top first
  const isOnIt = (one) => one.phase === "forward" && held(one).length > 0 && step < takerOf(one).index;
  const stack = trace.steps.slice(0, step + 1).filter(isOnIt).reverse();
  const what = held(now).join(", ") || "nothing";
  show(
    "tape-news",
    now.phase === "forward" ? `This step put ${what} on top.` : `This step took ${what} off.`,
    ` It is fullest after step ${trace.program.length}, where forward ends.`,
    ` ${now.of?.said.kept ?? ""}`,
  );
  const count = stack.reduce((sum, entry) => sum + sizeOfEntry(entry), 0);
  show("tape-size", `${counted(stack.length)} kept, ${counted(count, "number")}`);
  show("tape-stack", ...stack.map(entryOf));
}

const takerOf = (entry) => state.trace.steps.find(({undoes}) => undoes === entry.index);
const sizeOfEntry = ({kept, ids}) => kept.reduce((sum, name) => sum + arrayNamed(name).values.length, ids);

function entryOf(entry) {
  const {index, formula} = takerOf(entry);
  const go = makeButton(`${held(entry).join(", ")} · ${partInWords(entry.part)}`, () => goToStep(index));
  return make("li", {}, go, make("span", {class: "quiet"}, ` step ${index + 1} needs it: ${formula}`));
}

// What a step keeps on the tape, or takes from it: the symbols of its arrays, and ids, which say what rows were read.
const held = ({kept, ids}) => [...kept.map((name) => arrayNamed(name).symbol), ...(ids ? [counted(ids, "id")] : [])];
