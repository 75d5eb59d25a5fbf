// The tape: a stack of what forward kept for backward, as it is after this step.

import {byId, make} from "./dom.js";
import {counted} from "./format.js";
import {partInWords} from "./labels.js";
import {state, watch} from "./state.js";

const KEEP_IDS = ["Embedding", "Gather"]; // npbert keeps ids for them, which are no array of the page
const READABLE = 4; // entries at the top that are shown in words

// Draw it, and again with every step.
export function showTape() {
  watch(["trace", "step"], drawTape);
}

// What is on the tape after step `last`, the top last: {part, names} each.
export function tapeAfter(steps, last) {
  const stack = [];
  for (const {part, tape} of steps.slice(0, last + 1)) {
    if (tape.keeps?.length) {
      stack.push({part, names: tape.keeps});
    }
    if (tape.takes?.length) {
      stack.pop();
    }
  }
  return stack;
}

function drawTape() {
  const {trace, step} = state;
  const {steps} = trace;
  const stack = tapeAfter(steps, step);
  const {tape, phase, kind} = steps[step];
  const numbers = (names) => names.reduce((sum, name) => sum + trace.arrays.get(name).values.length, 0);
  const total = stack.reduce((sum, {names}) => sum + numbers(names), 0);
  const list = (names) => names.map((name) => trace.arrays.get(name).symbol).join(", ");
  const what = KEEP_IDS.includes(kind) ? "only which rows it read, and no array" : "nothing";
  let news = `This step ${phase === "forward" ? "keeps" : "takes"} ${what}.`;
  if (tape.keeps?.length) {
    news = `This step put ${list(tape.keeps)} on top.`;
  } else if (tape.takes?.length) {
    news = `This step took ${list(tape.takes)} off.`;
  }
  const isDone = phase === "backward" && stack.length === 0;
  byId("tape-news").textContent = isDone ? `${news} The tape is empty again: all of forward is undone.` : news;
  byId("tape-size").textContent = `${counted(stack.length)} kept, ${counted(total, "number")}`;
  const isNew = Boolean(tape.keeps?.length);
  const entries = stack.toReversed().map(({part, names}, depth) => {
    const text = `${list(names)} · ${partInWords(part)}`;
    const attributes = {
      class: `${depth < READABLE ? "words" : "thin"}${isNew && depth === 0 ? " new" : ""}`,
      title: text,
    };
    return make("li", attributes, depth < READABLE ? text : make("span", {class: "hidden"}, text));
  });
  byId("tape-stack").replaceChildren(...entries);
}
