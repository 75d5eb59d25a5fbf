// Pointing at numbers, and how they are shown: which tab is open, light or dark, with or without digits, few words or all.

import {listenToTheme} from "../../../theme.js";
import {choose, valuesAfter} from "./actions.js";
import {byId, make, show} from "./dom.js";
import {followFrom, leaveNumber, showSum} from "./follow.js";
import {counted, plainNumber, signedNumber} from "./format.js";
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
  pressed("digits", () => document.body.classList.toggle("digits"));
  pressed("sheet-larger", () => document.documentElement.classList.toggle("larger"));
  listenToTheme(byId("theme"));
  byId("all-words").addEventListener("click", () => change({allWords: !state.allWords}));
  watch(["allWords"], () => byId("all-words").setAttribute("aria-pressed", String(state.allWords)));
  byId("sheet-close").addEventListener("click", () => leaveNumber());
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, ({target}) => showReadout(target));
  }
  document.addEventListener("focusin", ({target}) => stopHere(target));
  document.addEventListener("scroll", () => showReadout(null), {capture: true, passive: true});
  const proved = state.data.proof;
  show(
    "proof",
    proved.verdict === "proved"
      ? `✓ npbert has proved these ${counted(proved.derivatives)} gradients in exact integer arithmetic when it wrote this page.`
      : `npbert could not prove these gradients when it wrote this page: ${proved.verdict}.`,
  );
  byId("stage").addEventListener("click", ({target}) => placeOfCell(target) && chooseAt(placeOfCell(target)));
  for (const id of ["train-attention", "compare-attention"]) {
    byId(id).addEventListener("click", ({target}) => placeOfCell(target) && followFrom(placeOfCell(target)));
  }
  document.addEventListener("keydown", keyInCell);
}

function drawTabs() {
  for (const view of VIEWS) {
    byId(`tab-${view}`).setAttribute("aria-selected", String(view === state.view));
    byId(`view-${view}`).hidden = view !== state.view;
  }
}

function pressed(id, toggle) {
  byId(id).addEventListener("click", () => byId(id).setAttribute("aria-pressed", String(toggle())));
}

function chooseAt(place) {
  choose(place);
  byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
}

// Enter or space at a cell follows its number, and leads the keyboard to its parts.
function keyInCell(event) {
  const place = placeOfCell(event.target);
  if (place && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    (event.target.closest("#stage") ? choose : followFrom)(place);
    showSum();
  }
}

// The number under the pointer, or that has the focus, beside it, with its gradient.
function showReadout(element) {
  const isCell = element instanceof Element && !element.closest(".asked");
  const place = isCell ? placeOfCell(element) : null;
  byId("readout").hidden = !place;
  if (!place) {
    return;
  }
  const {gradientOf} = arrayNamed(place.name);
  const twin = gradientOf ?? `d(${place.name})`;
  const both = [place, ...(state.trace.arrays.has(twin) ? [{...place, name: twin}] : [])];
  const summed = both.map(({name}) => arrayNamed(name)).filter(({soFar}) => soFar);
  const index = place.row * arrayNamed(place.name).shape[1] + place.column;
  show(
    "readout",
    ...both.map((one) =>
      make(
        one === place ? "strong" : "span",
        {},
        `${titleOf(one)} = ${plainNumber(arrayNow(one.name).at(one.row, one.column), DIGITS)}`,
      ),
    ),
    ...summed.map((one) =>
      make("span", {}, `${one.symbol} so far, after this step: ${signedNumber(valuesAfter(one, state.step)[index])}`),
    ),
  );
  const {right, left, top} = element.closest("table").getBoundingClientRect();
  const {offsetWidth: width, offsetHeight: height, style} = byId("readout");
  const isRoom = right + 6 + width <= document.documentElement.clientWidth;
  const cell = element.closest("td").getBoundingClientRect();
  style.left = `${isRoom ? right + 6 : Math.max(4, left - 6 - width)}px`; // beside the array, so that no number is covered
  style.top = `${Math.min(isRoom || left > width ? cell.top : Math.max(4, top - height), innerHeight - height - 4)}px`;
}
