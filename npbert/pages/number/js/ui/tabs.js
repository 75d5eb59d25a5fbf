// The four things to do, as tabs: one is on the stage.

import {byId} from "./dom.js";
import {change, state, watch} from "./state.js";

export const VIEWS = ["step", "move", "break", "train"];

// Listen to the tabs.
export function showTabs() {
  for (const view of VIEWS) {
    byId(`tab-${view}`).addEventListener("click", () => change({view}));
  }
  watch(["view"], drawTabs);
  drawTabs();
}

// Open a tab from elsewhere: its heading is brought into sight, and the keyboard to it.
export function openView(view, changes = {}) {
  change({...changes, view});
  const heading = byId(`view-${view}`).querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({preventScroll: true});
  heading.scrollIntoView({block: "nearest"});
}

function drawTabs() {
  for (const view of VIEWS) {
    const isOpen = view === state.view;
    byId(`tab-${view}`).setAttribute("aria-selected", String(isOpen));
    byId(`view-${view}`).hidden = !isOpen;
  }
}
