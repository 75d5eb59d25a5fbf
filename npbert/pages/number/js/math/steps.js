// The steps of a trace, for the page to show: what each reads and makes, and what is said of it.

import {makesOf, nameOf, readsOf} from "./formulas.js";

// All steps, forward and then backward: what each reads, makes and adds to, and what it puts on the tape or takes off
// again: of what forward had, all that backward reads. ids: a lookup keeps so many of them.
export function stepsOf(trace) {
  const {program} = trace;
  const back = program.toReversed().map((step) => backwardStep(trace, step));
  return [...program.map((step) => forwardStepSaid(trace, step)), ...back].map((step, index) => ({...step, index}));
}

function stepSaid({arrays, lookups}, step, lines) {
  const isShown = (name) => !arrays.get(name).isHidden;
  const isParameter = (name) => arrays.get(name).parameter;
  const writes = makesOf(lines).filter(isShown);
  const kept = readsOf(step.backward).filter((name) => {
    const {madeBy, isGradient, isHidden} = arrays.get(name);
    return madeBy !== null && !isGradient && !isHidden;
  });
  const [looked] = step.backward.flatMap(({target}) => target.index).filter(({lookup}) => lookup === "ids");
  return {
    kind: step.kind,
    part: step.part,
    of: step,
    writes,
    reads: readsOf(lines).filter((name) => isShown(name) && !writes.includes(name)),
    weights: readsOf(step.forward).filter(isParameter),
    kept,
    ids: looked ? lookups[step.lookups.ids].length : 0,
  };
}

function forwardStepSaid(trace, step) {
  const {kept, ids, ...about} = stepSaid(trace, step, step.forward);
  const formula = withSymbols(trace, step, step.said.shown);
  return {...about, phase: "forward", title: step.title, formula, tape: {keeps: kept, ids}};
}

function backwardStep(trace, step) {
  const {kept, ids, reads, ...about} = stepSaid(trace, step, step.backward);
  const broken = step.broken[trace.bug];
  const isUnused = (name) => readsOf(step.backward).includes(name) && !readsOf(broken.lines).includes(name);
  return {
    ...about,
    phase: "backward",
    title: `back: ${step.title}`,
    formula: withSymbols(trace, step, step.said.undone),
    reads: [...new Set([...reads, ...about.weights])],
    adds: about.writes.filter((name) => isOfParameter(trace, name)),
    undoes: step.index,
    tape: {takes: kept, ids},
    isBroken: Boolean(broken),
    leftOut: broken ? about.writes.filter(isUnused) : [],
  };
}

const isOfParameter = ({arrays}, name) => arrays.get(arrays.get(name).gradientOf)?.parameter ?? false;

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
  const {
    values,
    shape: [, words],
  } = arrays.get("p");
  return masked.map((position, m) => ({position, label: labels[m], values: values.slice(m * words, (m + 1) * words)}));
}
