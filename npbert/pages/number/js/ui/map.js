// The network, small: a box for each part, in the order in which forward goes; its upper half leads to its forward, the
// lower one to its backward. Also a list to choose a step by name.

import {goToStep} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {state, watch} from "./state.js";

export function showMap() {
  byId("steps").addEventListener("change", ({target}) => stepTo(Number(target.value)));
  watch(["trace"], drawMap);
  watch(["trace", "step"], markMap);
}

// Show step `number`, and what it is, where the reader has scrolled past that.
export function stepTo(number) {
  goToStep(number);
  const {top} = byId("stage-head").getBoundingClientRect();
  if (top < byId("bar").getBoundingClientRect().bottom) {
    byId("stage-head").scrollIntoView();
  }
}

function drawMap() {
  const {steps} = state.trace;
  const boxes = Map.groupBy(steps, boxOf);
  show(
    "map",
    ...[...boxes].map(([name, all]) => {
      const halves = ["forward", "backward", "update"].map((phase) => [
        phase,
        all.filter((step) => step.phase === phase),
      ]);
      return make(
        "div",
        {class: "box"},
        ...halves.filter(([, some]) => some.length).map(([phase, some]) => half(name, phase, some)),
      );
    }),
  );
  const parts = Map.groupBy(steps, (step) => `${step.phase}: ${boxOf(step)}`);
  show(
    "steps",
    ...[...parts].map(([label, some]) =>
      make(
        "optgroup",
        {label},
        ...some.map(({index, title}) => make("option", {value: index}, `${index + 1}. ${title}`)),
      ),
    ),
  );
}

function half(name, phase, steps) {
  const text = phase === "backward" ? "← back" : name;
  const place = {"data-from": steps[0].index, "data-to": steps.at(-1).index};
  return makeButton(text, () => stepTo(steps[0].index), {class: phase, "aria-label": `${phase}: ${name}`, ...place});
}

function markMap() {
  const {step} = state;
  byId("steps").value = step;
  for (const part of byId("map").querySelectorAll("button")) {
    const isHere = step >= Number(part.dataset.from) && step <= Number(part.dataset.to);
    part.setAttribute("aria-current", isHere ? "step" : "false");
  }
}

// Which box a step belongs to. People count layers from 1.
function boxOf({part, phase, kind}) {
  if (phase === "update") {
    return "update";
  }
  const [, layer, inside] = part.match(/layers\.(\d+)\.(\w*)/) ?? [];
  if (layer) {
    return `layer ${Number(layer) + 1} ${/feed_forward|output_norm/.test(inside) ? "feed-forward" : "attention"}`;
  }
  if (["CrossEntropy", "Difference"].includes(kind)) {
    return state.trace.goal === "loss" ? "loss" : "δ";
  }
  return part.startsWith("bert") ? "words" : "predict";
}
