// Guided tours: each stop of tours.html is an address, and a sentence or two on what is there.

import {byId, make} from "./dom.js";
import {signedNumber} from "./format.js";
import {pointAt, sayInGuide} from "./guide.js";
import {indexLabel, maskedPositions} from "./labels.js";
import {titleOf, valueAt} from "./place.js";
import {state, watch} from "./state.js";

// What a stop says of what is there, by the name of the slot: so its text holds for every model.
const SLOTS = {
  answer: () => `“${indexLabel("vocabulary", state.example.labels[maskedPositions()[0]])}”`,
  number: () => titleOf(state.chosen),
  value: () => signedNumber(valueAt(state.chosen)),
};

// Draw the stop that the reader is at; and beside a step of which a tour tells why, a sentence on it.
export function showTour() {
  watch(["trace", "step"], drawWhy);
  watch(["tour"], () => state.tour && drawStop(stopNamed(state.tour)));
}

// A stop by its tour's name and its number there, "table:2": the element of tours.html, or null for none.
export function stopNamed(text) {
  const [, name, number] = text?.match(/^(\w+):(\d+)$/) ?? [];
  return document.querySelectorAll(`[data-tour="${name}"] li`)[number - 1] ?? null;
}

function drawStop(stop) {
  const tour = stop.closest("section");
  const stops = [...stop.parentElement.children];
  const number = stops.indexOf(stop) + 1;
  const link = (text, to, look) => make("a", {href: `#tour=${tour.dataset.tour}:${to}`, class: look}, text);
  const back = number === 1 ? "" : link("← Previous stop", number - 1, "");
  const isLast = number === stops.length;
  const done = make("a", {href: `#${state.outside}`, class: "main"}, "Done");
  sayInGuide({
    title: [...filled(tour.querySelector("h2")), ` · stop ${number} of ${stops.length}`],
    text: filled(stop),
    choices: [back, isLast ? done : link("Next stop →", number + 1, "main")],
  });
  const usual = state.chosen ? "#followed .bars" : "#stage-head";
  pointAt(document.querySelector(stop.dataset.mark ?? usual) ?? document.querySelector(usual));
}

function drawWhy() {
  const {phase, kind} = state.trace.steps[state.step];
  const why = document.querySelector(`[data-why="${phase} ${kind}"]`);
  byId("why").replaceChildren(...(why ? filled(why) : []));
}

function filled(element) {
  const copy = element.cloneNode(true);
  for (const slot of copy.querySelectorAll("[data-say]")) {
    slot.textContent = SLOTS[slot.dataset.say]();
  }
  return copy.childNodes;
}
