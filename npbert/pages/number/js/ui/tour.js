// Guided tours: each stop of tours.html is an address, and a sentence or two on what is there.

import {make} from "./dom.js";
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

// Draw the stop that the reader is at.
export function showTour() {
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
  const at = stops.indexOf(stop);
  const link = (text, index, look) =>
    (index in stops ? make("a", {href: `#tour=${tour.dataset.tour}:${index + 1}`, class: look}, text) : "");
  sayInGuide({
    title: [...filled(tour.querySelector("h2")), ` · stop ${at + 1} of ${stops.length}`],
    text: filled(stop),
    choices: [link("← Previous stop", at - 1, ""), link("Next stop →", at + 1, "main")],
  });
  const usual = state.chosen ? "#follow" : "#stage-head";
  pointAt(document.querySelector(stop.dataset.mark ?? usual) ?? document.querySelector(usual));
}

function filled(element) {
  const copy = element.cloneNode(true);
  for (const slot of copy.querySelectorAll("[data-say]")) {
    slot.textContent = SLOTS[slot.dataset.say]();
  }
  return copy.childNodes;
}
