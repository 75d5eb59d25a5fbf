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
  byId("guides").addEventListener("click", ({target}) => {
    byId("guides").open &&= !target.closest("a");
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

// Mark it, and bring it into sight under the box. Null: nothing is marked any more.
export function pointAt(thing) {
  spoken?.removeAttribute("data-spoken");
  thing?.setAttribute("data-spoken", "");
  spoken = thing;
  isHeld = thing !== null;
  keepInSight();
}

// Also when a list above it has come late.
function keepInSight() {
  document.documentElement.style.setProperty("--guide", `${byId("guide").offsetHeight}px`);
  if (isHeld) {
    spoken.scrollIntoView({block: spoken.matches("td") ? "center" : "start"});
  }
}

function drawGuide() {
  const isOver = !state.tour && !state.quiz;
  if (isOver) {
    pointAt(null);
  }
  if (isOver && byId("guide").contains(document.activeElement)) {
    byId("guides").querySelector("summary").focus();
  }
  byId("guide").hidden = isOver;
}
