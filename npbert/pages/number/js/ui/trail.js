// The trail: the numbers on the way to the one that is followed, each a button that leads back to it, with what it was
// multiplied with in the one before it, and the product of all these factors so far.

import {chainOf} from "../math/index.js";
import {forget, goBackTo} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {percent, plainNumber, signedNumber} from "./format.js";
import {cellOfPlace} from "./heatmap.js";
import {partInWords} from "./labels.js";
import {isRounding} from "./nothing.js";
import {isMovable, titleOf, valueAt} from "./place.js";
import {said} from "./said.js";
import {state} from "./state.js";

const [FIRST, LAST] = [2, 2]; // shown of a long trail; those between are folded

// Bring the sum before the reader's eyes, and the keyboard to it.
export function showSum() {
  byId("followed-title").focus({preventScroll: true});
  byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
  const {top, bottom} = byId("follow").getBoundingClientRect();
  if (top < 0 || Math.min(bottom, top + 200) > innerHeight) {
    byId("follow").scrollIntoView({block: "start"});
  }
}

// One back on the trail.
export function goBackOnTrail() {
  if (state.trail.length > 1) {
    backOnTrailTo(state.trail.length - 2);
  }
}

function backOnTrailTo(index) {
  goBackTo(index);
  showSum();
}

// Follow no number. The keyboard returns to its cell; or, where there is none or from the cell itself, to stepping.
export function leaveNumber({toCell = true} = {}) {
  const place = state.chosen;
  forget();
  const cell = toCell && place ? cellOfPlace(byId("stage"), place) : null;
  (cell ?? byId("scrubber")).focus({preventScroll: !cell});
}

// The trail as it is now.
export function trailOf() {
  const {trail, trace} = state;
  const chain = chainOf(trace, trail);
  const items = trail.map((place, index) => trailItem(place, index, chain[index]));
  const folded = items.length > FIRST + LAST + 1 ? items.splice(FIRST, items.length - FIRST - LAST) : [];
  if (folded.length) {
    const unfold = makeButton(`… ${folded.length} more`, () => fold.replaceWith(...folded), {class: "fold"});
    const fold = make("li", {}, unfold, ...factorsOf({...chain.at(-LAST - 1), factor: null}));
    items.splice(FIRST, 0, fold);
  }
  const title = {"aria-label": "follow no number", title: "follow no number (Esc)"};
  const leave = makeButton("✕", () => leaveNumber(), {class: "leave screen-only", ...title});
  const isChain = chain.some(({factor}) => factor !== null);
  const head = make("p", {class: "chain-head"}, ...["", "× factor", "= product"].map((text) => make("span", {}, text)));
  const list = make("ol", {class: isChain ? "chain" : null}, ...items);
  const nav = make("nav", {"aria-label": "the way here"}, isChain ? head : null, list, chainInWords(chain));
  return make("div", {class: "trail"}, nav, leave);
}

function trailItem(place, index, link) {
  const isHere = index === state.trail.length - 1;
  const attributes = {"aria-current": isHere ? "true" : null, disabled: isHere};
  const value = state.trail.length > 1 ? make("span", {class: "quiet"}, ` = ${signedNumber(valueAt(place))}`) : null;
  const button = makeButton(trailTitle(place), () => backOnTrailTo(index), attributes);
  return make("li", {}, make("span", {}, button, value), ...factorsOf(link));
}

function factorsOf({factor, product}) {
  const isStart = factor === null && product === 1;
  const text = [factor === null ? "" : `× ${plainNumber(factor)}`, isStart ? "" : plainNumber(product)];
  return text.map((number) => make("span", {class: "number"}, number));
}

// How much of the number where the chain begins comes along it, and what share of it that is.
function chainInWords(chain) {
  const begin = chain.findLastIndex(({factor}) => factor === null);
  if (begin === chain.length - 1) {
    return null;
  }
  const [whole, end] = [valueAt(state.trail[begin]), valueAt(state.trail.at(-1))];
  const {product} = chain.at(-1);
  const how = end === 1 ? "the product of all factors" : `${plainNumber(end)} × ${plainNumber(product)}`;
  const brought = end * product, rest = whole - brought, share = Math.abs(brought / (whole || 1));
  const size = brought * whole < 0 ? `${percent(share)} of its size, but against it` : `${percent(share)} of it`;
  const others = isRounding(rest) ? "No other path brings anything."
    : `All others together bring the rest: ${signedNumber(rest)}.`;
  const few = share >= 0.5 || !isMovable(state.trail[begin]) ? "" : ` ${said("chain.little", state.trace)}`;
  const title = titleOf(state.trail[begin]);
  const path = said("chain.brings", {brought: signedNumber(brought), how, whole: signedNumber(whole), title, size});
  return make("p", {class: "chain-said"}, `${path} ${others}${few}`);
}

// Where two numbers of the trail are called alike, or their arrays are, the part of the model tells them apart.
function trailTitle(place) {
  const symbolOf = ({name}) => state.trace.arrays.get(name).symbol;
  const isAlike = state.trail.some((other) => other.name !== place.name && symbolOf(other) === symbolOf(place));
  const part = place.name.replace(/^\w+\((.*)\).*$/, "$1").replace(/\.[^.]*(\.\d+)?$/, "");
  return isAlike ? `${titleOf(place)}, ${partInWords(part)}` : titleOf(place);
}
