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
  const {
    trace: {steps},
    step,
  } = state;
  const {tape, phase} = steps[step];
  const isForward = phase === "forward";
  // what forward put on it, until the step comes that takes it off; the top first
  const takerOf = (entry) => steps.find(({undoes}) => undoes === entry.index);
  const isThere = (entry) => entry.phase === "forward" && held(entry.tape).length > 0 && step < takerOf(entry).index;
  const stack = steps
    .slice(0, step + 1)
    .filter(isThere)
    .reverse();
  const what = held(tape).join(", ");
  const news = `This step ${isForward ? "put" : "took"} ${what || "nothing"} ${isForward ? "on top" : "off"}.`;
  show("tape-news", news + (!isForward && !stack.length ? " The tape is empty again: all of forward is undone." : ""));
  const sizes = stack.flatMap(({tape: {ids, keeps}}) => [ids, ...keeps.map((name) => arrayNamed(name).values.length)]);
  show(
    "tape-size",
    `${counted(stack.length)} kept, ${counted(
      sizes.reduce((a, b) => a + b, 0),
      "number",
    )}`,
  );
  show(
    "tape-stack",
    ...stack.map((entry) => {
      const {index, formula} = takerOf(entry);
      const go = makeButton(`${held(entry.tape).join(", ")} · ${partInWords(entry.part)}`, () => goToStep(index));
      return make("li", {}, go, make("span", {class: "quiet"}, ` step ${index + 1} needs it: ${formula}`));
    }),
  );
}

// What a step keeps on the tape, or takes from it: the symbols of its arrays, and ids, which say what rows were read.
function held({keeps, takes, ids}) {
  return [...(keeps ?? takes).map((name) => arrayNamed(name).symbol), ...(ids ? [counted(ids, "id")] : [])];
}
