// Stepping: buttons, a scrubber under a map of all steps, the keys, and playing.

import {goToStep} from "./actions.js";
import {byId, make} from "./dom.js";
import {goBackOnTrail, leaveNumber} from "./follow.js";
import {moveInHeatMap} from "./heatmap.js";
import {partInWords} from "./labels.js";
import {change, state, watch} from "./state.js";

const SECONDS_PER_STEP = 0.9;
let timer = null;

// Draw it, listen to its buttons and to the keyboard.
export function showTransport() {
  const clicks = {
    first: () => goToStep(0),
    back: () => goToStep(state.step - 1),
    play: togglePlay,
    forward: () => goToStep(state.step + 1),
    loss: () => goToStep(lossStep()),
    last: () => goToStep(state.trace.steps.length - 1),
  };
  for (const [name, onclick] of Object.entries(clicks)) {
    byId(`go-${name}`).addEventListener("click", onclick);
  }
  byId("scrubber").addEventListener("input", (event) => goToStep(Number(event.target.value)));
  document.addEventListener("keydown", keyPressed);
  watch(["trace"], drawMap);
  watch(["trace", "step", "isPlaying"], drawTransport);
  watch(["view"], () => state.isPlaying && togglePlay());
}

// The step that computes the loss: the last one forward.
export function lossStep() {
  return state.trace.steps.findLastIndex((step) => step.phase === "forward");
}

function drawTransport() {
  const {step, isPlaying, trace} = state;
  const {steps} = trace;
  const now = steps[step];
  byId("scrubber").max = steps.length - 1;
  byId("scrubber").value = step;
  const text = `step ${step + 1} of ${steps.length}, ${now.phase}: ${now.title}`;
  byId("scrubber").setAttribute("aria-valuetext", text);
  byId("step-said").textContent = text;
  byId("step-count").textContent = `${step + 1} / ${steps.length}`;
  byId("go-first").disabled = byId("go-back").disabled = step === 0;
  byId("go-last").disabled = byId("go-forward").disabled = step === steps.length - 1;
  byId("go-play").textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
  byId("go-play").setAttribute("aria-pressed", String(isPlaying));
  for (const part of byId("map").children) {
    const isHere = step >= Number(part.dataset.from) && step <= Number(part.dataset.to);
    part.classList.toggle("here", isHere);
    part.setAttribute("aria-current", isHere ? "step" : "false");
  }
}

// A button for every part of the model, as wide as it has steps: forward, and the same ones backward.
function drawMap() {
  const stretches = [];
  state.trace.steps.forEach((step, index) => {
    const [name, phase] = [stretchOf(step), step.phase];
    const last = stretches.at(-1);
    if (last && last.name === name && last.phase === phase) {
      last.to = index;
    } else {
      stretches.push({name, phase, from: index, to: index});
    }
  });
  const parts = stretches.map(({name, phase, from, to}) => {
    const place = {"data-from": from, "data-to": to, style: `--steps: ${to - from + 1}`};
    const title = `${phase}: ${name}`;
    const label = make("span", {}, name);
    return make("button", {type: "button", class: phase, title, onclick: () => goToStep(from), ...place}, label);
  });
  byId("map").replaceChildren(...parts);
}

// Which part of the model a step belongs to, in few words.
function stretchOf({part, kind}) {
  const layer = part.match(/layers\.(\d+)\.?(\w*)/);
  if (layer) {
    const isFeedForward = /feed_forward|output_norm/.test(layer[2]);
    return `layer ${layer[1]} ${isFeedForward ? "feed-forward" : "attention"}`;
  }
  if (part.includes("embeddings") && !part.startsWith("predictions")) {
    return "words";
  }
  return kind === "CrossEntropy" ? "loss" : part.includes("encoder") ? partInWords(part) : "head";
}

function togglePlay() {
  clearInterval(timer);
  const isPlaying = !state.isPlaying;
  const isAtEnd = state.step === state.trace.steps.length - 1;
  if (isPlaying && isAtEnd) {
    goToStep(0);
  }
  change({isPlaying});
  if (isPlaying) {
    timer = setInterval(playOn, 1000 * SECONDS_PER_STEP);
  }
}

function playOn() {
  goToStep(state.step + 1);
  if (state.step === state.trace.steps.length - 1) {
    togglePlay();
  }
}

// The keys: → ← Home End step, space plays, Escape leaves the number that is followed, then the heat map; Backspace goes back on the trail.
function keyPressed(event) {
  if (moveInHeatMap(event) || event.altKey || event.ctrlKey || event.metaKey || state.view !== "step") {
    return;
  }
  const isInCell = Boolean(event.target.closest?.("td[data-row]"));
  if (event.key === "Escape") {
    if (isInCell && !state.chosen) {
      byId("scrubber").focus();
    } else {
      leaveNumber();
    }
    return;
  }
  const takesKeys = event.target.closest?.("input, select, textarea, [role=tab], summary");
  const isOnButton = event.target.closest?.("button, a");
  const go = {
    ArrowRight: () => goToStep(state.step + 1),
    ArrowLeft: () => goToStep(state.step - 1),
    Home: () => goToStep(0),
    End: () => goToStep(state.trace.steps.length - 1),
    Backspace: goBackOnTrail,
    " ": isOnButton || isInCell ? null : togglePlay,
  }[event.key];
  if (go && !takesKeys && (!isInCell || event.key === "Backspace")) {
    event.preventDefault();
    go();
  }
}
