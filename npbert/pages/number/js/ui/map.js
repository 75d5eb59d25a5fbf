// Stepping, by buttons, keys, a list of all steps, and the network, small: a box for each part, in the order in which
// forward goes. Its upper half leads to its forward, the lower one to its backward.

import {goToStep} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {goBackOnTrail, leaveNumber} from "./follow.js";
import {moveInHeatMap} from "./heatmap.js";
import {stepInWords} from "./labels.js";
import {change, state, watch} from "./state.js";

export function showMap() {
  byId("steps").addEventListener("change", ({target}) => stepTo(Number(target.value)));
  byId("go-back").addEventListener("click", stepBack);
  byId("go-forward").addEventListener("click", stepOn);
  byId("skip").addEventListener("click", () => {
    change({view: "step"});
    byId("stage").querySelector("td[tabindex='0']").focus();
  });
  document.addEventListener("keydown", keyPressed);
  watch(["trace"], drawMap);
  watch(["trace", "step"], markMap);
}

// Show step `number` and follow no number any more; and what it is, where the reader has scrolled past that.
export function stepTo(number) {
  change({view: "step", trail: [], moved: null});
  goToStep(number);
  byId("stage-head").scrollIntoView({block: "nearest"});
}

function drawMap() {
  const {steps} = state.trace;
  const boxes = [...Map.groupBy(steps, boxOf)];
  show("map", ...boxes.map(([name, some]) => make("div", {}, ...halves(name, some))));
  const groups = [...Map.groupBy(steps, (step) => `${step.phase}: ${boxOf(step)}`)];
  const optionOf = (step) => make("option", {value: step.index}, stepInWords(step));
  show("steps", ...groups.map(([label, some]) => make("optgroup", {label}, ...some.map(optionOf))));
}

function halves(name, steps) {
  return [...Map.groupBy(steps, ({phase}) => phase)].map(([phase, some]) => {
    // to its attention, or to the first with something to see
    const {index} = some.find(({kind}) => kind === "Softmax") ?? some.find(({writes}) => writes.length) ?? some[0];
    const text = phase === "backward" ? "← back" : name;
    const place = {"data-from": some[0].index, "data-to": some.at(-1).index};
    return makeButton(text, () => stepTo(index), {class: phase, "aria-label": `${phase}: ${name}`, ...place});
  });
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

// ---- the keys ----

const stepBack = () => stepTo(state.step - 1);
const stepOn = () => stepTo(state.step + 1);
const STEP_KEYS = {
  Home: () => stepTo(0),
  ArrowLeft: stepBack,
  ArrowRight: stepOn,
  End: () => stepTo(Infinity),
  Backspace: goBackOnTrail,
};

// The keys: → ← Home End step (in the box of a tour, → goes to its next stop), Backspace goes back on the trail. Escape
// leaves the number that is followed: from its sum to its cell, and from a cell to stepping.
function keyPressed(event) {
  const {target, key, altKey, ctrlKey, metaKey} = event;
  if (altKey || ctrlKey || metaKey) {
    return;
  }
  if (moveInHeatMap(event)) {
    event.preventDefault();
    return;
  }
  if (key === "ArrowRight" && target.closest?.("#guide")) {
    event.preventDefault();
    byId("guide-choices").querySelector("a.main")?.click();
    return;
  }
  if (state.view !== "step") {
    return;
  }
  const isInCell = Boolean(target.closest?.("td[data-row]"));
  if (key === "Escape" && !byId("tours").matches(":popover-open")) {
    leaveNumber({toCell: !isInCell});
    return;
  }
  const takesKeys = target.closest?.("input, select, textarea, [role=tab]");
  const isElsewhere = takesKeys || (isInCell && key !== "Backspace");
  if (Object.hasOwn(STEP_KEYS, key) && !isElsewhere) {
    event.preventDefault();
    STEP_KEYS[key]();
  }
}
