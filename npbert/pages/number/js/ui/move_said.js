// What is said of a number that was moved: by how much the loss changed, and by how much its slope had said it would.

import {make} from "./dom.js";
import {plainNumber, roundedNumber, signedNumber} from "./format.js";
import {isNoChange, isRounding} from "./nothing.js";
import {trueSlopeAt} from "./place.js";
import {state} from "./state.js";

// The sentences, as children of an element. now: {place, value, moved, lossThere, slope}.
export function sentenceOfMove({place, value, moved, lossThere, slope, curve}) {
  const by = moved - value;
  const isStill = isNeverMoved(place, curve);
  const {loss, goal} = state.trace;
  if (by === 0) {
    const dashed = slope === null ? "" : "; the dashed line is what backward says about it from here";
    return [isStill || `Drag it. The curve is the ${goal} at every value${dashed}.`];
  }
  if (!Number.isFinite(lossThere)) {
    return [`Here the ${goal} has no value: neither a spread nor the probability of the right word can be 0.`];
  }
  const change = lossThere - loss;
  const begin = ["You moved it by ", make("strong", {}, signedNumber(by)), `, and the ${goal} `];
  if (isNoChange(change)) {
    return [...begin, make("strong", {}, `stayed at ${plainNumber(loss)}`), ". ", isStill || ""];
  }
  const fell = make("strong", {}, fallOf(change, "fell", "rose"));
  const figures = `, from ${plainNumber(loss)} to ${plainNumber(lossThere)}.`;
  return [...begin, fell, figures, slope === null ? "" : ` ${promised(slope * by, change)}`];
}

// "" for a number with which the loss moves, or else why it does not.
function isNeverMoved(place, curve) {
  const {goal} = state.trace;
  const losses = curve.map(([, loss]) => loss);
  const isFlat = losses.length > 0 && isNoChange(Math.max(...losses) - Math.min(...losses));
  if (!isFlat || !isRounding(trueSlopeAt(place))) {
    return "";
  }
  const isUnused = losses.every((loss) => loss === losses[0]);
  return isUnused
    ? `In this sentence the ${goal} does not use this number: it is the same at every value.`
    : `The ${goal} does not move with this number: what it moves by, in the sixteenth digit, is rounding.`;
}

function fallOf(change, fell, rose) {
  return `${change < 0 ? fell : rose} by ${plainNumber(Math.abs(change))}`;
}

function promised(promise, change) {
  const said = isNoChange(promise) ? "no change at all" : `that it would ${fallOf(promise, "fall", "rise")}`;
  const share = Math.abs((promise - change) / change);
  const off = share < 10 ? `${roundedNumber(100 * share, 2)} % of the change` : "many times the change";
  return `The slope alone had promised ${said}: off by ${off}.`;
}
