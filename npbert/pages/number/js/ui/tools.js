// Pointing at numbers, and how they are shown: which tab is open, with or without digits, few words or all.

import {choose, valuesAfter} from "./actions.js";
import {byId, make, show} from "./dom.js";
import {followFrom, showSum} from "./follow.js";
import {plainNumber, signedNumber} from "./format.js";
import {placeOfCell, stopHere} from "./heatmap.js";
import {arrayNamed, arrayNow, titleOf} from "./labels.js";
import {change, state, watch} from "./state.js";

export const VIEWS = ["step", "break", "train"];
const DIGITS = 8;

// Listen to the buttons, and to pointer and focus over all heat maps.
export function showTools() {
  for (const view of VIEWS) {
    byId(`tab-${view}`).addEventListener("click", () => change({view}));
  }
  watch(["view"], drawTabs);
  drawTabs();
  byId("digits").addEventListener("click", () => {
    byId("digits").setAttribute("aria-pressed", String(document.body.classList.toggle("digits")));
  });
  byId("all-words").addEventListener("click", () => change({allWords: !state.allWords}));
  watch(["allWords"], () => byId("all-words").setAttribute("aria-pressed", String(state.allWords)));
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, ({target}) => showReadout(target));
  }
  document.addEventListener("focusin", ({target}) => stopHere(target));
  document.addEventListener("click", ({target}) => followCell(target));
  document.addEventListener("keydown", keyInCell);
  const {proof} = state.data;
  show(
    "proof",
    proof === "proved"
      ? "✓ npbert proved the gradient of every learned number in exact integer arithmetic when it wrote this page."
      : `npbert could not prove these gradients when it wrote this page: ${proof}.`,
  );
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
    byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
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

// The number under the pointer, or that has the focus, with its gradient.
function showReadout(element) {
  const place = element.closest(".asked") ? null : placeOfCell(element);
  byId("readout").hidden = !place;
  if (!place) {
    return;
  }
  const twin = arrayNamed(place.name).gradientOf ?? `d(${place.name})`;
  const both = [place, ...(state.trace.arrays.has(twin) ? [{...place, name: twin}] : [])];
  const lines = both.map(
    (one) => `${titleOf(one)} = ${plainNumber(arrayNow(one.name).at(one.row, one.column), DIGITS)}`,
  );
  const summed = both.filter(({name}) => arrayNamed(name).soFar).map(({name}) => arrayNamed(name));
  const index = place.row * arrayNamed(place.name).shape[1] + place.column;
  const soFar = summed.map(
    (one) => `${one.symbol} so far, after this step: ${signedNumber(valuesAfter(one, state.step)[index])}`,
  );
  const [first, ...others] = [...lines, ...soFar];
  show("readout", make("strong", {}, first), ...others.map((line) => make("span", {}, line)));
}
