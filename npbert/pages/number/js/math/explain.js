// explain: any number of a trace as the sum that it is. `value` is the number itself, `total` what the terms add up to:
// the same but for rounding, unless a bug is planted. In `roads` the terms are ways that lead from it to the loss.

import {axesFor, constantIn, placeAt, rangesOf} from "./arrays.js";
import {refsIn} from "./formulas.js";
import {FUNCTIONS} from "./functions.js";
import {withSymbols} from "./steps.js";

export function explain(trace, name, row, column) {
  const array = trace.arrays.get(name);
  const value = array.at(row, column);
  const left = symbolAt(array, row, column);
  if (array.origins.length === 0) {
    const kind = array.parameter ? "learned" : "fixed";
    const [origin, label] = array.isGradient ? ["start", left.replace(/^d(.*?)(\[.*)?$/, "∂$1/∂$1")] : [kind, kind];
    const terms = [{label, value, factors: [], goes: null}];
    return {value, formula: left, terms, total: value, roads: false, notes: [], origin};
  }
  const parts = array.origins.map((origin) => partsOf(trace, origin, row, column));
  const terms = parts.flatMap((part) => part.terms);
  const formulas = parts.map(({formula}) => formula).filter(Boolean);
  const notes = array.origins.map((origin) => noteOf(trace, origin, terms.length === 0));
  return {
    value,
    terms,
    total: terms.reduce((sum, term) => sum + term.value, 0),
    formula: `${left} = ${formulas.join(" + ").replaceAll("+ −", "− ") || "0"}`,
    notes: [...new Set(notes)].filter(Boolean),
    roads: isByRoads(array),
    origin: null,
  };
}

// Is a gradient the sum of several roads: of two uses, or as its formula says?
function isByRoads({origins, isGradient}) {
  const {step, line} = origins[0];
  const isSaid = step.said.roads === line.target.local.replace(/\d+$/, "") && line.terms.length > 1;
  return isGradient && (isSaid || origins.some((origin) => origin.step !== step));
}

// The terms that one formula has for the number at (row, column): none where the formula does not reach it.
function partsOf(trace, {step, line}, row, column) {
  const found = line.terms.map((term) => {
    const all = lettersAt(trace, step, [line.target, ...refsIn(term.factors)], {row, column});
    const isFree = (letter) => !line.target.index.some((one) => one.letter === letter && !one.lookup);
    return all.map((at) => termAt(trace, step, term, at, Object.keys(at).find(isFree)));
  });
  const sums = found.map((some, which) => some.length && formulaOf(trace, step, line.terms[which], some));
  return {terms: found.flat(), formula: sums.filter(Boolean).join(" + ")};
}

// All values of the letters of these arrays for which the first is at that place: as objects by letter.
function lettersAt(trace, step, refs, {row, column}) {
  const [{name, index}] = refs;
  const place = index.length === 2 ? [row, column] : [trace.arrays.get(name).columns === "one" ? row : column];
  let all = [{}];
  for (const [letter, [from, to]] of rangesOf(trace, step, refs)) {
    const dim = index.findIndex((one) => one.letter === letter && !one.lookup);
    const range = Array.from({length: to - from}, (_, n) => from + n);
    const values = dim < 0 ? range : range.filter((at) => at === place[dim]);
    all = all.flatMap((at) => values.map((value) => ({...at, [letter]: value})));
  }
  return all.filter((at) => index.every((one, dim) => placeAt(trace, step, one, at[one.letter]) === place[dim]));
}

// The numbers `from` which a number is computed, or those that are computed from it, `to`; what lies between and is
// hidden is passed. (A maximum is only subtracted, and changes nothing.)
export function linksOf(trace, place, way) {
  const found = [];
  for (const {step, line} of [...trace.arrays.values()].flatMap(({origins}) => origins)) {
    for (const {factors} of line.way === "max" ? [] : line.terms) {
      const refs = refsIn(factors);
      const [here, there] = way === "from" ? [[line.target], refs] : [refs, [line.target]];
      for (const ref of here.filter(({name}) => name === place.name)) {
        const all = lettersAt(trace, step, [ref, line.target, ...refs], place);
        found.push(...all.flatMap((at) => there.map((other) => cellAt(trace, step, other, at))));
      }
    }
  }
  return found.flatMap((cell) => (trace.arrays.get(cell.name).isHidden ? linksOf(trace, cell, way) : [cell]));
}

function termAt(trace, step, {sign, label, factors}, at, free) {
  const cells = factors.map((factor) => factorAt(trace, step, factor, at));
  if (sign < 0) {
    cells.unshift({name: null, label: "−1", value: -1});
  }
  const value = cells.reduce((product, cell) => product * cell.value, 1);
  const linked = cells.filter((cell) => cell.name !== null);
  const goes = linked.find(({isGradient}) => isGradient) ?? linked[0] ?? null;
  const sum = free === undefined ? "" : labelOf(trace, factors, free, at[free]);
  const own = label ?? (sum ? "" : factors.map((one) => symbolOf(trace, one)).join(" · "));
  return {label: [own, sum].filter(Boolean).join(": "), value, factors: cells, goes, at, free};
}

// One factor as a number with its place, to which a click leads; a function of a number has a label.
function factorAt(trace, step, factor, at) {
  if (factor.constant) {
    return {name: null, label: factor.constant, value: constantIn(step, factor.constant)};
  }
  if (factor.args) {
    const args = factor.args.map((one) => factorAt(trace, step, one, at));
    const value = FUNCTIONS[factor.of].of(...args.map((one) => one.value));
    return {...args[0], label: symbolOf(trace, factor), value};
  }
  const array = trace.arrays.get(factor.name);
  const cell = cellAt(trace, step, factor, at);
  const value = array.at(cell.row, cell.column);
  const {name, isGradient, isHidden, example = null} = array;
  return isHidden ? {name: null, label: symbolOf(trace, factor), value} : {...cell, name, value, isGradient, example};
}

// The place of an array of a formula where its letters have these values.
function cellAt(trace, step, {name, index}, at) {
  const place = index.map((one) => placeAt(trace, step, one, at[one.letter]));
  const [row, column] = place.length === 1 && trace.arrays.get(name).columns !== "one" ? [0, ...place] : [...place, 0, 0];
  return {name, row, column};
}

function symbolOf(trace, {args, of, constant, name}) {
  if (args) {
    return FUNCTIONS[of].said(symbolOf(trace, args[0]));
  }
  return constant ?? {total: "Σ e^", top: "max"}[trace.arrays.get(name).symbol] ?? trace.arrays.get(name).symbol;
}

// Which of the summed numbers a term is, for people: n = 2, “are”
function labelOf({arrays, words, masked, model}, factors, letter, at) {
  const isIt = (one) => one.letter === letter;
  const {name, index} = refsIn(factors).find((ref) => ref.index.some(isIt)) ?? {};
  if (!name) {
    return "";
  }
  const dim = index.findIndex(isIt);
  const kind = index[dim].lookup ? "tokens" : axesFor(arrays.get(name), index.length)[dim].kind;
  const word = {tokens: words[at], masked: words[masked[at]], vocabulary: model.vocabulary[at]}[kind];
  return `${bare(letter)} = ${at}${word === undefined ? "" : `, “${word}”`}`;
}

// Q[2, 3], b[3]: an array at a place.
function symbolAt({symbol, rows, columns}, row, column) {
  const place = [...(rows === "one" ? [] : [row]), ...(columns === "one" ? [] : [column])];
  return place.length ? `${symbol}[${place.join(", ")}]` : symbol;
}

// Σₙ x[n, 1] · dQ[n, 2]: the letter that is summed over stands for its numbers.
function formulaOf(trace, step, {sign, factors}, terms) {
  const [{at, free}] = terms;
  const summed = terms.length > 1 ? free : null;
  const indexText = (one) => (one.letter === summed ? letterIn(one) : placeAt(trace, step, one, at[one.letter]));
  const texts = factors.map((factor) => {
    const array = trace.arrays.get(factor.name);
    return array && !array.isHidden && factor.index.length
      ? `${array.symbol}[${factor.index.map(indexText).join(", ")}]`
      : symbolOf(trace, factor);
  });
  const text = texts.join(" · ").replaceAll(" · 1/", " / ");
  return `${sign < 0 ? "−" : ""}${summed ? `Σ${SUBSCRIPTS[bare(summed)] ?? ""} ` : ""}${text}`;
}

const bare = (letter) => letter.replace(/\d/g, "");
const letterIn = ({letter, lookup}) => (lookup ? `${lookup}[${letter}]` : bare(letter));

const SUBSCRIPTS = {n: "ₙ", m: "ₘ", v: "ᵥ", i: "ᵢ", j: "ⱼ", o: "ₒ", k: "ₖ"};

// What is said of the number that a formula makes.
function noteOf(trace, {step, line}, isUnread) {
  const {local} = line.target;
  const key = local.replace(/\d+$/, "");
  const text = (isUnread && step.said[`${key} unread`]) || step.said[local] || step.said[key];
  return text && withSymbols(trace, step, text.split(" | ").at(-1).replace(/\s+/g, " "));
}

// ---- the chain along a trail of numbers: each is the one before it taken apart, and keeps what it was multiplied with
// there. Of a gradient this factor is the local derivative: all factors together are what this path brings.

// By place: {factor, product}. `factor`: null where the number is no part of the one before; `product`: since the last null.
export function chainOf(trace, places) {
  let product = 1;
  return places.map((place, index) => {
    const factor = index === 0 ? null : factorIn(trace, places[index - 1], place);
    product = factor === null ? 1 : product * factor;
    return {factor, product};
  });
}

function factorIn(trace, {name, row, column}, part) {
  // a function of a number, which has a label, is no multiple of it
  const isPart = (factor) =>
    !factor.label && factor.name === part.name && factor.row === part.row && factor.column === part.column;
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
  const {name, row, column} = largestTerm(trace, place)?.goes ?? {};
  return name ? [{name, row, column}, ...wayToLoss(trace, {name, row, column})] : [];
}
