// The box at the top of the page, in which a tour or a quiz speaks; and the thing that it speaks of.

import {byId} from "./dom.js";
import {state, watch} from "./state.js";

// Show the box while there is a tour or a quiz. The rest of the page knows by --guide how high it is.
export function showGuide() {
  watch(["tour", "quiz"], drawGuide);
  new ResizeObserver(measureGuide).observe(byId("guide"));
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

// Mark it, and bring it into sight under the box.
export function pointAt(thing) {
  document.querySelector("[data-spoken]")?.removeAttribute("data-spoken");
  thing.dataset.spoken = "";
  measureGuide();
  thing.scrollIntoView({block: thing.matches("td") ? "center" : "start"});
}

function drawGuide() {
  const isOver = !state.tour && !state.quiz;
  if (isOver && byId("guide").contains(document.activeElement)) {
    byId("guides").querySelector("summary").focus();
  }
  if (isOver) {
    document.querySelector("[data-spoken]")?.removeAttribute("data-spoken");
  }
  byId("guide").hidden = isOver;
}

function measureGuide() {
  document.documentElement.style.setProperty("--guide", `${byId("guide").offsetHeight}px`);
}
