// All steps at a glance: a strip with a button for every part of the model, and a list to choose a step by name.

import {goToStep} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {partInWords} from "./labels.js";
import {state, watch} from "./state.js";

// Draw both, and again for another sentence.
export function showStrip() {
  byId("steps").addEventListener("change", () => stepTo(Number(byId("steps").value)));
  watch(["trace"], drawStrip);
  watch(["trace", "step"], markStrip);
}

// Show step `number`, and what it is, where the reader has scrolled past that; the bar lies above it.
export function stepTo(number) {
  goToStep(number);
  const above = byId("stage-head").getBoundingClientRect().top - byId("bar").getBoundingClientRect().bottom;
  if (above < 0) {
    scrollBy(0, above - 8);
  }
}

// A button for every part of the model, as wide as it has steps: forward, and the same ones backward.
function drawStrip() {
  const stretches = new Map(); // the steps of each, by "forward: layer 0 attention"
  for (const step of state.trace.steps) {
    const title = `${step.phase}: ${stretchOf(step)}`;
    stretches.set(title, [...(stretches.get(title) ?? []), step]);
  }
  byId("map").replaceChildren(...[...stretches].map(([title, steps]) => {
    const [{index: from, phase}, {index: to}] = [steps[0], steps.at(-1)];
    const place = {"data-from": from, "data-to": to, style: `--steps: ${steps.length}`};
    const name = stretchOf(steps[0]).replace("difference", "δ"); // which has little room
    return makeButton(name, () => stepTo(from), {class: phase, title, "aria-label": title, ...place});
  }));
  byId("steps").replaceChildren(...[...stretches].map(([label, steps]) => make("optgroup", {label},
    ...steps.map(({index, title}) => make("option", {value: index}, `${index + 1}. ${title}`)))));
}

function markStrip() {
  const {step} = state;
  byId("steps").value = step;
  for (const part of byId("map").children) {
    const isHere = step >= Number(part.dataset.from) && step <= Number(part.dataset.to);
    part.classList.toggle("here", isHere);
    part.setAttribute("aria-current", isHere ? "step" : "false");
  }
}

// Which part of the model a step belongs to, in few words.
function stretchOf({part, kind, phase}) {
  if (phase === "update") {
    return phase;
  }
  const layer = part.match(/layers\.(\d+)\.?(\w*)/);
  if (layer) {
    const isFeedForward = /feed_forward|output_norm/.test(layer[2]);
    return `layer ${layer[1]} ${isFeedForward ? "feed-forward" : "attention"}`;
  }
  if (part.includes("embeddings") && !part.startsWith("predictions")) {
    return "words";
  }
  if (["CrossEntropy", "Difference"].includes(kind)) {
    return state.trace.goal;
  }
  return part.includes("encoder") ? partInWords(part) : "predict";
}
