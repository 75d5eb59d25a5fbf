// The box at the top of the page, in which a tour or a quiz speaks; and the thing that it speaks of. A stop of a tour is
// an address and a sentence or two on what is there (tours.html).

import {byId, make, show} from "./dom.js";
import {percent, signedNumber} from "./format.js";
import {indexLabel, stepInWords, titleOf, valueAt} from "./labels.js";
import {stopNamed} from "./notes.js";
import {state, watch} from "./state.js";

// What a stop says of what is there, by the name of the slot: so its text holds for every model.
const SLOTS = {
  answer: () => `“${indexLabel("vocabulary", state.trace.lookups.labels[0])}”`,
  number: () => titleOf(state.chosen),
  value: () => signedNumber(valueAt(state.chosen)),
  left: () => percent(lengthAtWords(state.trace) / lengthAtWords(state.trace.right)),
};
const lengthAtWords = ({arrays, program}) => Math.hypot(...arrays.get(`d(${program[0].arrays.y})`).values);
let spoken = null; // the thing that is marked

export function showGuide() {
  watch(["tour", "quiz"], drawGuide);
}

// Say this: texts and elements. The keyboard is led to the main choice, if there is one.
export function sayInGuide({title, text, choices, said = ""}) {
  show("guide-title", ...title);
  show("guide-text", ...text);
  show("guide-choices", ...choices);
  show("guide-said", said);
  const main = byId("guide-choices").querySelector(".main") ?? byId("guide-title");
  main.focus({preventScroll: true});
}

// Mark it, and bring it into sight under the box. Null: nothing is marked any more.
export function pointAt(thing) {
  spoken?.removeAttribute("data-spoken");
  thing?.setAttribute("data-spoken", "");
  spoken = thing;
  requestAnimationFrame(() => {
    // the heading of the step and its chosen number where there is room, at least how the thing begins
    const number = byId("stage").querySelector("td.chosen");
    for (const part of thing ? [byId("stage-head"), number, thing, thing.firstElementChild] : []) {
      part?.scrollIntoView({block: part.id === "stage-head" ? "start" : "nearest"});
    }
  });
}

function drawGuide() {
  const {tour, quiz, outside} = state;
  const isOver = !tour && !quiz;
  const hasFocus = byId("guide").contains(document.activeElement);
  byId("tours").hidePopover();
  byId("guide").hidden = isOver;
  if (isOver) {
    pointAt(null);
  }
  if (isOver && hasFocus) {
    byId("guides").focus();
  }
  byId("guide-leave").setAttribute("href", `#${outside}`);
  if (tour) {
    drawStop(stopNamed(tour));
  }
}

function drawStop(stop) {
  const tour = stop.closest("section");
  const {length} = stop.parentElement.children;
  const number = [...stop.parentElement.children].indexOf(stop) + 1;
  const link = (text, to, look) => make("a", {href: `#tour=${tour.dataset.tour}:${to}`, class: look}, text);
  const done = make("a", {href: `#${state.outside}`, class: "main"}, "Done");
  const back = number === 1 ? "" : link("← Previous", number - 1, "");
  const on = number === length ? done : link("Next stop →", number + 1, "main");
  const step = stepInWords(state.trace.steps[state.step]); // its heading may be out of sight
  const title = [...filled(tour.querySelector("h2")), ` · stop ${number} of ${length} · ${step}`];
  sayInGuide({title, text: filled(stop), choices: [on, back]});
  const usual = state.chosen ? "#followed .bars" : "#stage-head";
  pointAt(document.querySelector(stop.dataset.mark ?? usual) ?? document.querySelector(usual));
}

function filled(element) {
  const copy = element.cloneNode(true);
  for (const slot of copy.querySelectorAll("[data-say]")) {
    slot.textContent = SLOTS[slot.dataset.say]();
  }
  return [...copy.childNodes];
}
