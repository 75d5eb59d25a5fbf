// Pointing at numbers, and how they are shown: light or dark, with or without digits, few words or all.

import {listenToTheme} from "../../../theme.js";
import {choose} from "./actions.js";
import {byId, make} from "./dom.js";
import {beginAt} from "./follow.js";
import {exactNumber, signedNumber} from "./format.js";
import {placeOfCell, stopHere} from "./heatmap.js";
import {titleOf, valueAt, valuesAfter} from "./place.js";
import {change, state, watch} from "./state.js";
import {leaveNumber, showSum} from "./trail.js";

const PHONE = "(max-width: 40rem)"; // as in css/fit.css

// Listen to the buttons, and to pointer and focus over all heat maps.
export function showTools() {
  byId("about").open = !matchMedia(PHONE).matches;
  byId("digits").addEventListener("click", () => showPressed("digits", document.body.classList.toggle("digits")));
  byId("sheet-larger").addEventListener("click", () =>
    showPressed("sheet-larger", byId("follow").classList.toggle("larger")));
  listenToTheme(byId("theme"));
  byId("all-words").addEventListener("click", () => change({allWords: !state.allWords}));
  watch(["allWords"], () => showPressed("all-words", state.allWords));
  byId("sheet-close").addEventListener("click", () => leaveNumber());
  watch(["chosen"], () => byId("followed").scrollTo(0, 0)); // where it scrolls by itself
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => showReadout(event.target));
  }
  document.addEventListener("focusin", (event) => stopHere(event.target));
  document.addEventListener("scroll", () => showReadout(null), {capture: true, passive: true});
  for (const [id, act] of [["stage", chooseAt], ["train-attention", beginAt], ["compare-attention", beginAt]]) {
    listenToCells(byId(id), act);
  }
}

// Do it with the number that is clicked, or at which Enter or space is pressed: the keyboard goes on to its parts.
function listenToCells(box, act) {
  box.addEventListener("click", ({target}) => placeOfCell(target) && act(placeOfCell(target)));
  box.addEventListener("keydown", (event) => {
    const place = placeOfCell(event.target);
    if (place && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      act(place);
      showSum();
    }
  });
}

function showPressed(id, isOn) {
  byId(id).setAttribute("aria-pressed", String(isOn));
}

function chooseAt(place) {
  choose(place);
  byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
}

// The number under the pointer, or that has the focus, with every digit, beside it.
function showReadout(element) {
  const place = element instanceof Element && !element.closest(".asked") ? placeOfCell(element) : null;
  const array = place && state.trace.arrays.get(place.name);
  byId("readout").hidden = !array;
  if (!array) {
    return;
  }
  const twin = array.gradient ?? array.gradientOf;
  const both = [place, ...(twin ? [{...place, name: twin}] : [])];
  const summed = both.map(({name}) => state.trace.arrays.get(name)).filter(({soFar}) => soFar);
  const index = place.row * array.shape[1] + place.column;
  byId("readout").replaceChildren(
    ...both.map((one) => make(one === place ? "strong" : "span", {}, `${titleOf(one)} = ${exactNumber(valueAt(one))}`)),
    ...summed.map((one) => make("span", {},
      `${one.symbol} so far, after this step: ${signedNumber(valuesAfter(one, state.step)[index])}`)),
  );
  putBeside(byId("readout"), element.closest("td").getBoundingClientRect(),
    element.closest("table").getBoundingClientRect());
}

// Beside the array, where there is room, so that none of its numbers is covered; or else above or below the number.
function putBeside(readout, cell, table) {
  const {offsetWidth, offsetHeight} = readout;
  const {clientWidth} = document.documentElement;
  const isRoomRight = table.right + 6 + offsetWidth <= clientWidth;
  const isRoomLeft = table.left - 6 - offsetWidth >= 0;
  const above = cell.top - offsetHeight - 6;
  const below = cell.bottom + 6;
  const [left, top] = isRoomRight ? [table.right + 6, cell.top]
    : isRoomLeft ? [table.left - 6 - offsetWidth, cell.top]
    : [Math.max(4, Math.min(cell.left, clientWidth - offsetWidth - 4)), above < 4 ? below : above];
  readout.style.left = `${left}px`;
  readout.style.top = `${Math.min(top, innerHeight - offsetHeight - 4)}px`;
}
