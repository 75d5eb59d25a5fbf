// Stepping: buttons, a scrubber, the keys, and playing.

import {byId, show} from "./dom.js";
import {goBackOnTrail, leaveNumber} from "./follow.js";
import {moveInHeatMap} from "./heatmap.js";
import {stepTo} from "./map.js";
import {change, state, watch} from "./state.js";

const SECONDS_PER_STEP = 0.9;
const BUTTONS = {
  // where each button goes
  first: () => stepTo(0),
  back: () => stepTo(state.step - 1),
  play: togglePlay,
  forward: () => stepTo(state.step + 1),
  loss: () => stepTo(state.trace.program.length - 1),
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

const lastStep = () => state.trace.steps.length - 1;

// Listen to its buttons and to the keyboard.
export function showTransport() {
  for (const [name, go] of Object.entries(BUTTONS)) {
    byId(`go-${name}`).addEventListener("click", () => {
      if (state.view !== "step") {
        change({view: "step"});
      }
      go();
    });
  }
  byId("scrubber").addEventListener("input", ({target}) => stepTo(Number(target.value)));
  byId("skip").addEventListener("click", () => {
    change({view: "step"});
    byId("stage").querySelector("td[tabindex='0']").focus();
  });
  document.addEventListener("keydown", keyPressed);
  watch(["trace", "step", "isPlaying"], drawTransport);
  watch(["view"], () => state.isPlaying && togglePlay());
}

function drawTransport() {
  const {
    step,
    isPlaying,
    trace: {steps},
  } = state;
  const text = `step ${step + 1} of ${steps.length}, ${steps[step].phase}: ${steps[step].title.replace(/^back: /, "")}`;
  Object.assign(byId("scrubber"), {max: lastStep(), value: step});
  byId("scrubber").setAttribute("aria-valuetext", text);
  show("step-said", text);
  show("step-count", `${step + 1} / ${steps.length}`);
  const focused = document.activeElement;
  byId("go-first").disabled = byId("go-back").disabled = step === 0;
  byId("go-last").disabled = byId("go-forward").disabled = step === lastStep();
  if (focused?.disabled) {
    byId("scrubber").focus({preventScroll: true}); // a dead button would lose the keyboard's place
  }
  byId("go-play").setAttribute("aria-pressed", String(isPlaying));
  show("go-play", isPlaying ? "❚❚" : "▶");
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
  if (moveInHeatMap(event)) {
    event.preventDefault();
    return;
  }
  const {target, key, altKey, ctrlKey, metaKey} = event;
  if (altKey || ctrlKey || metaKey || state.view !== "step") {
    return;
  }
  const isInCell = Boolean(target.closest?.("td[data-row]"));
  if (key === "Escape") {
    leaveNumber({toCell: !isInCell});
    return;
  }
  const takesKeys = target.closest?.("input, select, textarea, [role=tab]");
  const isPressedBySpace = target.closest?.("button, a, summary") || isInCell;
  const isElsewhere = takesKeys || (isInCell && key !== "Backspace") || (isPressedBySpace && key === " ");
  if (Object.hasOwn(STEP_KEYS, key) && !isElsewhere) {
    event.preventDefault();
    STEP_KEYS[key]();
  }
}
