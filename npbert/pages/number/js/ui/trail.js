// The trail: the numbers on the way to the one that is followed, each a button that leads back to it.

import {goBackTo} from "./actions.js";
import {make, makeButton} from "./dom.js";
import {partInWords} from "./labels.js";
import {titleOf} from "./place.js";
import {state} from "./state.js";

const [FIRST, LAST] = [1, 4]; // shown of a long trail; those between are folded

// The trail as it is now. `andThen` is called when a number of it was chosen, `forgetIt` to follow none.
export function trailOf(andThen, forgetIt) {
  const {trail} = state;
  const items = trail.map((place, index) => trailItem(place, index, andThen));
  const folded = items.length > FIRST + LAST + 1 ? items.splice(FIRST, items.length - FIRST - LAST) : [];
  if (folded.length) {
    const unfold = makeButton(`… ${folded.length} more`, () => fold.replaceWith(...folded), {class: "fold"});
    const fold = make("li", {}, unfold);
    items.splice(FIRST, 0, fold);
  }
  const leave = makeButton("✕", () => forgetIt(), {
    class: "leave screen-only",
    "aria-label": "follow no number",
    title: "follow no number (Esc)",
  });
  return make("div", {class: "trail"}, make("nav", {"aria-label": "the way here"}, make("ol", {}, ...items)), leave);
}

function trailItem(place, index, andThen) {
  const isHere = index === state.trail.length - 1;
  const attributes = {"aria-current": isHere ? "true" : null, disabled: isHere};
  const goBack = () => {
    goBackTo(index);
    andThen();
  };
  return make("li", {}, makeButton(trailTitle(place), goBack, attributes));
}

// Where two numbers of the trail are called alike, or their arrays are, the part of the model tells them apart.
function trailTitle(place) {
  const symbolOf = ({name}) => state.trace.arrays.get(name).symbol;
  const isAlike = state.trail.some((other) => other.name !== place.name && symbolOf(other) === symbolOf(place));
  const part = place.name.replace(/^\w+\((.*)\).*$/, "$1").replace(/\.[^.]*(\.\d+)?$/, "");
  return isAlike ? `${titleOf(place)}, ${partInWords(part)}` : titleOf(place);
}
