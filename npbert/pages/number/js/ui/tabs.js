// The four things to do, as tabs: one is on the stage.

import {byId} from "./dom.js";
import {change, state, watch} from "./state.js";

export const VIEWS = ["step", "move", "break", "train"];

// Listen to the tabs: a click, or the arrow keys among them.
export function showTabs() {
  for (const view of VIEWS) {
    const tab = byId(`tab-${view}`);
    tab.addEventListener("click", () => change({view}));
    tab.addEventListener("keydown", (event) => {
      const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (by) {
        const next = VIEWS[(VIEWS.indexOf(view) + by + VIEWS.length) % VIEWS.length];
        change({view: next});
        byId(`tab-${next}`).focus();
      }
    });
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
  const {top, bottom} = heading.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) {
    heading.scrollIntoView({block: "start"});
  }
}

function drawTabs() {
  for (const view of VIEWS) {
    const isOpen = view === state.view;
    byId(`tab-${view}`).setAttribute("aria-selected", String(isOpen));
    byId(`tab-${view}`).tabIndex = isOpen ? 0 : -1;
    byId(`view-${view}`).hidden = !isOpen;
  }
}
