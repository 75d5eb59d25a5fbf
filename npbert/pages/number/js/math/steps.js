// The steps of a trace, for the page to show: what each reads and makes, and what is said of it.

import {makesOf, nameOf, readsOf} from "./formulas.js";

// All steps, forward and then backward: what each reads, makes and adds to; and `kept`, what its forward puts on the
// tape and its backward takes off again: of what forward had, all that backward reads. ids: a lookup keeps so many.
export function stepsOf(trace) {
  const {program} = trace;
  const back = program.toReversed().map((step) => backwardStep(trace, step));
  return [...program.map((step) => stepSaid(trace, step, "forward")), ...back].map((step, index) => ({...step, index}));
}

function stepSaid(trace, step, phase) {
  const {arrays, lookups} = trace;
  const isShown = (name) => !arrays.get(name).isHidden;
  const writes = makesOf(step[phase]).filter(isShown);
  const isKept = ({madeBy, isGradient, isHidden}) => madeBy !== null && !isGradient && !isHidden;
  const isFork = phase === "forward" && !step.forward.length; // it computes nothing: what it leads on is shown
  const looksUp = step.backward.some(({target}) => target.index.some(({lookup}) => lookup === "ids"));
  return {
    kind: step.kind,
    part: step.part,
    of: step,
    phase,
    title: step.title,
    formula: withSymbols(trace, step, step.said.shown),
    writes,
    reads: (isFork ? [step.arrays.x] : readsOf(step[phase])).filter((name) => isShown(name) && !writes.includes(name)),
    kept: readsOf(step.backward).filter((name) => isKept(arrays.get(name))),
    ids: looksUp ? lookups[step.lookups.ids].length : 0,
  };
}

function backwardStep(trace, step) {
  const {reads, ...about} = stepSaid(trace, step, "backward");
  const isParameter = (name) => trace.arrays.get(name)?.parameter ?? false;
  const broken = step.broken[trace.bug];
  const isUnused = (name) => readsOf(step.backward).includes(name) && !readsOf(broken.lines).includes(name);
  return {
    ...about,
    formula: withSymbols(trace, step, step.said.undone),
    reads: [...new Set([...reads, ...readsOf(step.forward).filter(isParameter)])],
    adds: about.writes.filter((name) => isParameter(trace.arrays.get(name).gradientOf)),
    undoes: step.index,
    isBroken: Boolean(broken),
    leftOut: broken ? about.writes.filter(isUnused) : [],
  };
}

// A text in which {x} is the symbol of what the step calls x, or a constant; what it does not have is left out.
export function withSymbols({arrays, model}, step, text) {
  const found = (local) => arrays.get(nameOf(model.program, step, local))?.symbol ?? step.constants[local];
  return text
    .replace("{roads}", step.roads?.join(", "))
    .replace(/ [+=] \{(\w+\d)\}/g, (whole, local) => (found(local) === undefined ? "" : whole))
    .replace(/\{(\w+)\}/g, (whole, local) => found(local) ?? whole);
}

// Of each hidden word: where it is, which word it is, and the probability of every word.
export function probabilitiesIn({masked, lookups: {labels}}, arrays) {
  const {values, shape: [, words]} = arrays.get("p");
  return masked.map((position, m) => ({position, label: labels[m], values: values.slice(m * words, (m + 1) * words)}));
}
