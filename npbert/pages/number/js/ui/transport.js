// Stepping: buttons and the keys.

import {byId} from "./dom.js";
import {goBackOnTrail, leaveNumber} from "./follow.js";
import {moveInHeatMap} from "./heatmap.js";
import {stepTo} from "./map.js";
import {change, state} from "./state.js";

const stepBack = () => stepTo(state.step - 1);
const stepOn = () => stepTo(state.step + 1);
const STEP_KEYS = {
  Home: () => stepTo(0),
  ArrowLeft: stepBack,
  ArrowRight: stepOn,
  End: () => stepTo(lastStep()),
  Backspace: goBackOnTrail,
};

const lastStep = () => state.trace.steps.length - 1;

// Listen to its buttons and to the keyboard.
export function showTransport() {
  byId("go-back").addEventListener("click", stepBack);
  byId("go-forward").addEventListener("click", stepOn);
  byId("skip").addEventListener("click", () => {
    change({view: "step"});
    byId("stage").querySelector("td[tabindex='0']").focus();
  });
  document.addEventListener("keydown", keyPressed);
}

// The keys: → ← Home End step (in the box of a tour, → goes to its next stop), Backspace goes back on the trail. Escape
// leaves the number that is followed: from its sum to its cell, and from a cell to stepping.
function keyPressed(event) {
  if (moveInHeatMap(event)) {
    event.preventDefault();
    return;
  }
  const {target, key, altKey, ctrlKey, metaKey} = event;
  if (altKey || ctrlKey || metaKey) {
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
  if (key === "Escape") {
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
