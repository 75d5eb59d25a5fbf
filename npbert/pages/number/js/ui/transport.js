// Stepping: buttons, a scrubber, the keys, and playing.

import {byId} from "./dom.js";
import {moveInHeatMap} from "./heatmap.js";
import {change, state, watch} from "./state.js";
import {showStrip, stepTo} from "./strip.js";
import {moveInToolbar} from "./toolbar.js";
import {goBackOnTrail, leaveNumber} from "./trail.js";

const SECONDS_PER_STEP = 0.9;
const BUTTONS = { // where each button goes
  first: () => stepTo(0),
  back: () => stepTo(state.step - 1),
  play: togglePlay,
  forward: () => stepTo(state.step + 1),
  loss: () => stepTo(lossStep()),
  last: () => stepTo(lastStep()),
};
const STEP_KEYS = {
  Home: BUTTONS.first,
  ArrowLeft: BUTTONS.back,
  ArrowRight: BUTTONS.forward,
  End: BUTTONS.last,
  " ": togglePlay,
  Backspace: goBackOnTrail,
};
let timer = null;

// Listen to its buttons and to the keyboard.
export function showTransport() {
  for (const [name, go] of Object.entries(BUTTONS)) {
    byId(`go-${name}`).addEventListener("click", go);
  }
  byId("scrubber").addEventListener("input", (event) => stepTo(Number(event.target.value)));
  byId("skip").addEventListener("click", skipToNumbers);
  byId("go-tape").addEventListener("click", () => byId("tape-part").scrollIntoView({block: "nearest"}));
  document.addEventListener("keydown", keyPressed);
  showStrip();
  watch(["trace", "step", "isPlaying"], drawTransport);
  watch(["view"], () => state.isPlaying && togglePlay());
}

// The step that computes the loss: the last one forward.
export function lossStep() {
  return state.trace.steps.findLastIndex((step) => step.phase === "forward");
}

function lastStep() {
  return state.trace.steps.length - 1;
}

// The keyboard past all that stands above the numbers.
function skipToNumbers() {
  change({view: "step"});
  byId("stage").querySelector("td[tabindex='0']").focus();
}

function drawTransport() {
  const {step, isPlaying, trace} = state;
  const {steps} = trace, now = steps[step];
  byId("scrubber").max = lastStep();
  byId("scrubber").value = step;
  const text = `step ${step + 1} of ${steps.length}, ${now.phase}: ${now.title.replace(/^back: /, "")}`;
  byId("scrubber").setAttribute("aria-valuetext", text);
  byId("step-said").textContent = text;
  byId("step-count").textContent = `${step + 1} / ${steps.length}`;
  const focused = document.activeElement;
  byId("go-first").disabled = byId("go-back").disabled = step === 0;
  byId("go-last").disabled = byId("go-forward").disabled = step === lastStep();
  if (focused?.disabled) {
    byId("scrubber").focus({preventScroll: true}); // a dead button would lose the keyboard's place
  }
  byId("go-play").setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  byId("go-play").firstChild.textContent = isPlaying ? "❚❚" : "▶";
  byId("go-play").lastChild.textContent = isPlaying ? " Pause" : " Play";
  byId("go-play").setAttribute("aria-pressed", String(isPlaying));
}

function togglePlay() {
  clearInterval(timer);
  const isPlaying = !state.isPlaying;
  if (isPlaying && state.step === lastStep()) {
    stepTo(0);
  }
  change({isPlaying});
  if (isPlaying) {
    timer = setInterval(() => {
      stepTo(state.step + 1);
      if (state.step === lastStep()) {
        togglePlay();
      }
    }, 1000 * SECONDS_PER_STEP);
  }
}

// The keys: → ← Home End step, space plays, Backspace goes back on the trail. Escape leaves the number that is
// followed: from its sum to its cell, and from a cell to stepping.
function keyPressed(event) {
  if (moveInHeatMap(event) || moveInToolbar(event)) {
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey || state.view !== "step") {
    return;
  }
  const isInCell = Boolean(event.target.closest?.("td[data-row]"));
  if (event.key === "Escape") {
    leaveNumber({toCell: !isInCell});
    return;
  }
  const takesKeys = event.target.closest?.("input, select, textarea, [role=tab]");
  const isPressedBySpace = event.target.closest?.("button, a, summary") || isInCell;
  const isElsewhere = takesKeys || (isInCell && event.key !== "Backspace") || (isPressedBySpace && event.key === " ");
  if (Object.hasOwn(STEP_KEYS, event.key) && !isElsewhere) {
    event.preventDefault();
    STEP_KEYS[event.key]();
  }
}
