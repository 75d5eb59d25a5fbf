// Pointing at numbers, and how they are shown: which tab is open, with or without digits, few words or all.

import {choose} from "./actions.js";
import {byId, show} from "./dom.js";
import {followFrom, showSum} from "./follow.js";
import {plainNumber} from "./format.js";
import {placeOfCell} from "./heatmap.js";
import {arrayNamed, arrayNow, titleOf, valueAt} from "./labels.js";
import {change, state, watch} from "./state.js";

export const VIEWS = ["step", "break", "train"];
const DIGITS = 8;

export function showTools() {
  for (const view of VIEWS) {
    byId(`tab-${view}`).addEventListener("click", () => change({view}));
  }
  watch(["view"], drawTabs);
  byId("digits").addEventListener("click", () => {
    byId("digits").setAttribute("aria-pressed", String(document.body.classList.toggle("digits")));
  });
  byId("all-words").addEventListener("click", () => change({allWords: !state.allWords}));
  watch(["allWords"], () => byId("all-words").setAttribute("aria-pressed", String(state.allWords)));
  document.addEventListener("pointerover", ({target}) => titleCell(target));
  document.addEventListener("click", ({target}) => followCell(target));
  document.addEventListener("keydown", keyInCell);
  const {proof} = state.data;
  show(
    "proof",
    proof === "proved"
      ? "✓ npbert proved the gradient of every learned number in exact integer arithmetic when it wrote this page."
      : `npbert could not prove these gradients when it wrote this page: ${proof}.`,
  );
  watch(["trace"], ({bug, rival}) => {
    byId("proof").hidden = Boolean(bug || rival); // it proved others than those that are shown
  });
}

function drawTabs() {
  for (const view of VIEWS) {
    byId(`tab-${view}`).setAttribute("aria-selected", String(view === state.view));
    byId(`view-${view}`).hidden = view !== state.view;
  }
}

// Follow the number of a cell, if it is one. Returns whether it is.
function followCell(element) {
  const place = placeOfCell(element);
  if (place) {
    (element.closest("#stage") ? choose : followFrom)(place);
  }
  return Boolean(place);
}

// Enter or space at a cell follows its number, and leads the keyboard to its parts.
function keyInCell(event) {
  if ((event.key === "Enter" || event.key === " ") && followCell(event.target)) {
    event.preventDefault();
    showSum();
  }
}

// The browser shows the number of a cell beside the pointer, with its gradient.
function titleCell(element) {
  const place = element.closest(".asked") ? null : placeOfCell(element);
  if (!place) {
    return;
  }
  const twin = arrayNamed(place.name).gradientOf ?? `d(${place.name})`;
  const both = [place, ...(state.trace.arrays.has(twin) ? [{...place, name: twin}] : [])];
  const lines = both.map((one) => `${titleOf(one)} = ${plainNumber(valueAt(one, arrayNow(one.name)), DIGITS)}`);
  element.closest("td").title = lines.join("\n");
}
