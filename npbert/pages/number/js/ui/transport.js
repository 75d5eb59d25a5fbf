// Stepping: buttons, the keys, and playing.

import {byId, show} from "./dom.js";
import {goBackOnTrail, leaveNumber} from "./follow.js";
import {moveInHeatMap} from "./heatmap.js";
import {stepTo} from "./map.js";
import {change, state, watch} from "./state.js";

const SECONDS_PER_STEP = 0.9;
const stepBack = () => stepTo(state.step - 1);
const stepOn = () => stepTo(state.step + 1);
const STEP_KEYS = {
  Home: () => stepTo(0),
  ArrowLeft: stepBack,
  ArrowRight: stepOn,
  End: () => stepTo(lastStep()),
  " ": togglePlay,
  Backspace: goBackOnTrail,
};
let timer = null; // while it plays

const lastStep = () => state.trace.steps.length - 1;

// Listen to its buttons and to the keyboard.
export function showTransport() {
  byId("go-back").addEventListener("click", stepBack);
  byId("go-forward").addEventListener("click", stepOn);
  byId("go-play").addEventListener("click", togglePlay);
  byId("skip").addEventListener("click", () => {
    change({view: "step"});
    byId("stage").querySelector("td[tabindex='0']").focus();
  });
  document.addEventListener("keydown", keyPressed);
  watch(["view"], () => timer && state.view !== "step" && togglePlay());
}

function togglePlay() {
  clearInterval(timer);
  timer = timer ? null : setInterval(playOn, 1000 * SECONDS_PER_STEP);
  if (timer) {
    stepTo(state.step === lastStep() ? 0 : state.step);
  }
  byId("go-play").setAttribute("aria-pressed", String(Boolean(timer)));
  show("go-play", timer ? "❚❚" : "▶");
}

function playOn() {
  stepOn();
  if (state.step === lastStep()) {
    togglePlay();
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
