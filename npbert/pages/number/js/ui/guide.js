// The box at the top of the page, in which a tour or a quiz speaks; and the thing that it speaks of.

import {byId} from "./dom.js";
import {state, watch} from "./state.js";

let spoken = null; // the thing that is marked
let isHeld = false; // it is kept in sight, until the reader acts

// Show the box while there is a tour or a quiz. The rest of the page knows by --guide how high it is.
export function showGuide() {
  watch(["tour", "quiz"], drawGuide);
  const observer = new ResizeObserver(keepInSight);
  [byId("guide"), document.querySelector("main")].forEach((part) => observer.observe(part));
  for (const act of ["wheel", "pointerdown", "keydown"]) {
    addEventListener(act, () => {
      isHeld = false;
    });
  }
  const menu = byId("guides");
  menu.addEventListener("click", ({target}) => {
    menu.open &&= !target.closest("a");
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      event.stopPropagation();
      leaveMenu();
    }
  });
}

// Say this: texts and elements. The keyboard is led to the main choice, if there is one.
export function sayInGuide({title, text, choices, said = ""}) {
  byId("guide-title").replaceChildren(...title);
  byId("guide-text").replaceChildren(...text);
  byId("guide-choices").replaceChildren(...choices);
  byId("guide-said").textContent = said;
  const main = byId("guide-choices").querySelector(".main") ?? byId("guide-title");
  main.focus({preventScroll: true});
}

// Mark it, and bring it into sight under the box, and the step's title with it, where there is room for both. Null:
// nothing is marked any more.
export function pointAt(thing) {
  spoken?.removeAttribute("data-spoken");
  thing?.setAttribute("data-spoken", "");
  spoken = thing;
  isHeld = thing !== null;
  requestAnimationFrame(keepInSight); // after the stage has shown the chosen number
}

// Also when a list above it has come late.
function keepInSight() {
  document.documentElement.style.setProperty("--guide", `${byId("guide").offsetHeight}px`);
  if (isHeld) {
    byId("stage-head").scrollIntoView();
    spoken.scrollIntoView({block: "nearest"});
    spoken.firstElementChild?.scrollIntoView({block: "nearest"}); // at least how it begins
  }
}

function leaveMenu() {
  byId("guides").open = false;
  byId("guides").querySelector("summary").focus();
}

function drawGuide() {
  const isOver = !state.tour && !state.quiz;
  if (isOver) {
    pointAt(null);
  }
  if (isOver && byId("guide").contains(document.activeElement)) {
    leaveMenu();
  }
  byId("guide").hidden = isOver;
  byId("guide-leave").setAttribute("href", `#${state.outside}`);
}
