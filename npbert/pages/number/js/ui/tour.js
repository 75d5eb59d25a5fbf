// Guided tours: each stop of tours.html is an address, and a sentence or two on what is there.

import {byId} from "./dom.js";
import {signedNumber} from "./format.js";
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
  watch(["tour"], drawTour);
  byId("tours").addEventListener("click", ({target}) => {
    byId("tours").open &&= !target.closest("a");
  });
}

// A stop by its tour's name and its number, "table:2": {tour, address, element, title, count}; null for none.
export function stopNamed(text) {
  const [, name, number] = text?.match(/^(\w+):(\d+)$/) ?? [];
  const stops = document.querySelectorAll(`[data-tour="${name}"] li`);
  const element = stops[number - 1];
  return element ? {
    tour: {name, stop: Number(number)},
    address: element.dataset.address,
    element,
    title: element.closest("section").querySelector("h2"),
    count: stops.length,
  } : null;
}

function drawTour() {
  const {tour} = state;
  const box = byId("tour");
  const wasInside = box.contains(document.activeElement);
  box.hidden = !tour;
  document.querySelector(".spoken")?.classList.remove("spoken");
  if (!tour) {
    if (wasInside) {
      byId("tours").querySelector("summary").focus();
    }
    return;
  }
  const {element, title, count} = stopNamed(`${tour.name}:${tour.stop}`);
  byId("tour-title").replaceChildren(...filled(title));
  byId("tour-count").textContent = `stop ${tour.stop} of ${count}`;
  byId("tour-text").replaceChildren(...filled(element));
  for (const [id, stop] of [["tour-back", tour.stop - 1], ["tour-next", tour.stop + 1]]) {
    byId(id).href = `#tour=${tour.name}:${stop}`;
    byId(id).hidden = stop < 1 || stop > count;
  }
  if (!document.activeElement.matches("#tour a:not([hidden])")) {
    byId("tour-title").focus({preventScroll: true});
  }
  const usual = state.chosen ? "#stage td.chosen" : "#stage-head";
  bringIntoSight(document.querySelector(element.dataset.mark ?? usual) ?? byId("stage-head"));
}

function filled(element) {
  const copy = element.cloneNode(true);
  for (const slot of copy.querySelectorAll("[data-say]")) {
    slot.textContent = SLOTS[slot.dataset.say]();
  }
  return copy.childNodes;
}

// Mark it, and scroll to it: under the box, which stays at the top.
function bringIntoSight(thing) {
  const {offsetHeight} = byId("tour");
  document.documentElement.style.setProperty("--guide", `${offsetHeight}px`);
  thing.classList.add("spoken");
  thing.scrollIntoView({block: thing.offsetHeight > innerHeight - offsetHeight ? "start" : "center"});
}
