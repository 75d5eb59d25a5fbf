// Steps and numbers by a name that holds for every model: first:backward LayerNorm, largest:dE.

import {linesOf} from "../math/index.js";
import {maskedPositions} from "./labels.js";
import {state} from "./state.js";

// {step} by its number, counted from 1; or the first or last step of which this is the way, the kind and the part, or
// some words of them. null for none.
export function stepNamed(text) {
  const {steps} = state.trace;
  const [, which, words] = text.match(/^(first|last):(.+)$/) ?? [];
  const isIt = ({phase, kind, part}) =>
    words.split(" ").every((word) => [phase, kind, ...part.split(".")].includes(word));
  const found = which ? steps[which === "first" ? "findIndex" : "findLastIndex"](isIt) : Number(text) - 1;
  return found in steps ? {step: found} : null;
}

// {step}, the first that this file of npbert computes: with a function of its own, or else through others.
export function stepOfFile(file) {
  const ofSteps = state.trace.steps.map((step) => linesOf(state.data, step).map((frame) => frame.file));
  const inside = ofSteps.findIndex(([innermost]) => innermost === file);
  const step = inside >= 0 ? inside : ofSteps.findIndex((files) => files.includes(file));
  return step >= 0 ? {step} : null;
}

// The place NAME[row,column]; or ROLE:SYMBOL, the largest number of the array of this symbol, at that step, that is
// there for the role: "answer" (the word that is hidden), "hidden" (the place, and [MASK]), "word" (one that comes in),
// "largest" (any). null for none.
export function placeNamed(text, step) {
  const {arrays} = state.trace;
  const [, role, symbol] = text.match(/^(answer|hidden|word|largest):(.+)$/) ?? [];
  return role ? largestPlace(arraysAt(step).filter((array) => withoutHeads(array) === symbol), role)
    : placeIn(arrays, text);
}

// The place NAME[row,column] in one of these arrays, by name; or null.
export function placeIn(arrays, text) {
  const [, name, row, column] = text.match(/^(.*)\[(\d+),(\d+)\]$/) ?? [];
  const [rows, columns] = arrays.get(name)?.shape ?? [0, 0];
  return Number(row) < rows && Number(column) < columns ? {name, row: Number(row), column: Number(column)} : null;
}

// All that the stage shows of a step.
function arraysAt(index) {
  const {steps, arrays} = state.trace;
  const of = ({reads, writes, undoes}) => [...reads, ...writes, ...(undoes >= 0 ? of(steps[undoes]) : [])];
  return of(steps[index]).map((name) => arrays.get(name));
}

function withoutHeads({symbol, head}) {
  return head === null ? symbol : symbol.replace(/[₀-₉]+/, "");
}

function largestPlace(arrays, role) {
  const all = arrays.flatMap(({name, shape, rows, columns, values}) => Array.from(values, (value, index) => ({
    size: Math.abs(value),
    place: {name, row: Math.floor(index / shape[1]), column: index % shape[1]},
    isThere: isThere(role, rows, Math.floor(index / shape[1])) && isThere(role, columns, index % shape[1], true),
  })));
  const largest = all.filter((one) => one.isThere).reduce((a, b) => (b.size > (a?.size ?? -1) ? b : a), null);
  return largest?.place ?? null;
}

// Is this row, or column, there for the role?
function isThere(role, axis, index, isColumn = false) {
  const {input_ids: ids, labels} = state.example;
  const [at] = maskedPositions();
  const isOf = {
    tokens: isColumn || index === at || role === "word",
    masked: index === 0,
    vocabulary: {answer: index === labels[at], hidden: index === ids[at], word: index !== ids[at] && ids.includes(index)}[role],
  };
  return role === "largest" || (isOf[axis] ?? true);
}
