// Pointing at numbers, and how they are shown: light or dark, with or without digits, few words or all.

import {choose} from "./actions.js";
import {byId, make} from "./dom.js";
import {beginAt, leaveNumber, showSum} from "./follow.js";
import {exactNumber, signedNumber} from "./format.js";
import {placeOfCell, stopHere} from "./heatmap.js";
import {titleOf, valueAt, valuesAfter} from "./place.js";
import {change, state, watch} from "./state.js";

const THEME = "npbert-theme";

// Listen to the buttons, and to pointer and focus over all heat maps.
export function showTools() {
  byId("theme").addEventListener("click", changeTheme);
  byId("digits").addEventListener("click", () => showPressed(byId("digits"), document.body.classList.toggle("digits")));
  byId("all-words").addEventListener("click", () => {
    change({allWords: !state.allWords});
    showPressed(byId("all-words"), state.allWords);
  });
  byId("sheet-larger").addEventListener("click", (event) => {
    showPressed(event.target, byId("follow").classList.toggle("larger"));
  });
  byId("sheet-close").addEventListener("click", () => leaveNumber());
  watch(["chosen"], () => byId("followed").scrollTo(0, 0)); // where it scrolls by itself
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => showReadout(event.target));
  }
  document.addEventListener("focusin", (event) => stopHere(event.target));
  document.addEventListener("scroll", hideReadout, {capture: true, passive: true});
  for (const [id, act] of [["stage", chooseAt], ["train-attention", followAt], ["compare-attention", followAt]]) {
    byId(id).addEventListener("click", (event) => act(event.target));
    byId(id).addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === " ") && act(event.target)) {
        event.preventDefault();
        showSum(); // the keyboard goes on to its parts
      }
    });
  }
  takeThemeBack();
}

function showPressed(button, isOn) {
  button.setAttribute("aria-pressed", String(isOn));
}

function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(isDark ? "light" : "dark");
  try {
    localStorage.setItem(THEME, root.dataset.theme);
  } catch {
    // a browser may keep nothing for a page: then light or dark is as the system has it, the next time
  }
}

// As the reader had it the last time.
function takeThemeBack() {
  try {
    const kept = localStorage.getItem(THEME);
    if (kept) {
      setTheme(kept);
    }
  } catch {
    // nothing is kept
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  showPressed(byId("theme"), theme === "dark");
}

function chooseAt(element) {
  const place = placeOfCell(element);
  if (place) {
    choose(place);
    byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
  }
  return place !== null;
}

// From another tab to the stage, with the number that was chosen there.
function followAt(element) {
  const place = placeOfCell(element);
  if (place) {
    beginAt(place);
  }
  return place !== null;
}

// The number under the pointer, or that has the focus, with every digit, beside it.
function showReadout(element) {
  const place = element instanceof Element ? placeOfCell(element) : null;
  if (!place || element.closest(".asked") || !state.trace.arrays.has(place.name)) {
    hideReadout();
    return;
  }
  const {gradient, gradientOf} = state.trace.arrays.get(place.name);
  const readout = byId("readout");
  readout.replaceChildren(make("strong", {}, `${titleOf(place)} = ${exactNumber(valueAt(place))}`));
  const other = gradient ?? gradientOf;
  if (other) {
    const twin = {...place, name: other};
    readout.append(make("span", {}, `${titleOf(twin)} = ${signedNumber(valueAt(twin))}`));
  }
  const isSummed = ({name}) => state.trace.arrays.get(name)?.soFar;
  for (const {name, row, column} of [place, {...place, name: other}].filter(isSummed)) {
    const array = state.trace.arrays.get(name);
    const soFar = valuesAfter(array, state.step)[row * array.shape[1] + column];
    readout.append(make("span", {}, `${array.symbol} so far, after this step: ${signedNumber(soFar)}`));
  }
  readout.hidden = false;
  putBeside(readout, element.closest("td").getBoundingClientRect(), element.closest("table").getBoundingClientRect());
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

function hideReadout() {
  byId("readout").hidden = true;
}
