// All steps at a glance: a strip with a button for every part of the model, and a list to choose a step by name.

import {goToStep} from "./actions.js";
import {byId, make} from "./dom.js";
import {partInWords} from "./labels.js";
import {state, watch} from "./state.js";

// Draw both, and again for another sentence; `andThen` is called when a step was chosen.
export function showStrip(andThen) {
  byId("steps").addEventListener("change", () => {
    goToStep(Number(byId("steps").value));
    andThen();
  });
  watch(["trace"], () => drawStrip(andThen));
  watch(["trace", "step"], markStrip);
}

// A button for every part of the model, as wide as it has steps: forward, and the same ones backward.
function drawStrip(andThen) {
  const stretches = stretchesOf(state.trace.steps);
  const buttons = stretches.map(({name, phase, from, to}) => {
    const place = {"data-from": from, "data-to": to, style: `--steps: ${to - from + 1}`};
    const title = `${phase}: ${name}`;
    const onclick = () => {
      goToStep(from);
      andThen();
    };
    const label = make("span", {}, name);
    return make("button", {type: "button", class: phase, title, "aria-label": title, onclick, ...place}, label);
  });
  byId("map").replaceChildren(...buttons);
  const groups = stretches.map(({name, phase, steps}) =>
    make("optgroup", {label: `${phase}: ${name}`}, ...steps.map(({index, title}) =>
      make("option", {value: index}, `${index + 1}. ${title}`))));
  byId("steps").replaceChildren(...groups);
}

function stretchesOf(steps) {
  const stretches = [];
  for (const step of steps) {
    const [name, phase] = [stretchOf(step), step.phase];
    const last = stretches.at(-1);
    if (last && last.name === name && last.phase === phase) {
      last.to = step.index;
      last.steps.push(step);
    } else {
      stretches.push({name, phase, from: step.index, to: step.index, steps: [step]});
    }
  }
  return stretches;
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
