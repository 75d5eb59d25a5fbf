// The chain along a trail of numbers: each is the one before it taken apart, and keeps what it was multiplied with there.
// Of a gradient this factor is the local derivative. So a path to the loss brings the product of its factors, and all
// paths together bring the gradient: that is the chain rule.

import {explain} from "./explain.js";

// By place: {factor, product}. `factor`: what the number is multiplied with in the one before it, or null where it is
// no part of that; `product`: of all factors since the last null, 1 there.
export function chainOf(trace, places) {
  let product = 1;
  return places.map((place, index) => {
    const factor = index === 0 ? null : factorIn(trace, places[index - 1], place);
    product = factor === null ? 1 : product * factor;
    return {factor, product};
  });
}

function factorIn(trace, {name, row, column}, part) {
  const isPart = (factor) => factor.label === undefined // a function of a number is no multiple of it
    && factor.name === part.name && factor.row === part.row && factor.column === part.column;
  const terms = explain(trace, name, row, column).terms.filter(({factors}) => factors.some(isPart));
  const others = ({factors}) => factors.reduce((result, one) => (isPart(one) ? result : result * one.value), 1);
  return terms.length ? terms.reduce((sum, term) => sum + others(term), 0) : null;
}

// Of the terms that lead on to a gradient of this sentence, the one that brings most; null where none brings anything.
export function largestTerm(trace, {name, row, column}) {
  const leadsOn = ({goes, value}) => goes && !goes.example && value !== 0 && trace.arrays.get(goes.name).isGradient;
  const terms = explain(trace, name, row, column).terms.filter(leadsOn);
  return terms.reduce((most, term) => (Math.abs(term.value) > Math.abs(most?.value ?? 0) ? term : most), null);
}

// The places from a gradient on, by the largest term each time, until backward begins.
export function wayToLoss(trace, place) {
  const next = largestTerm(trace, place)?.goes;
  return next ? [next, ...wayToLoss(trace, next)] : [];
}
