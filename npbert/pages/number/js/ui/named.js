// Steps and numbers by a name that holds for every model: first:backward LayerNorm, largest:dE.

import {linesOf} from "../math/index.js";
import {maskedPositions} from "./labels.js";
import {state} from "./state.js";

// A step by its number, counted from 1; or the first or last one of which this is the way, the kind and the part, or
// some words of them. null for none.
export function stepNamed(text) {
  const {steps} = state.trace;
  const [, which, words] = text.match(/^(first|last):(.+)$/) ?? [];
  const isIt = ({phase, kind, part}) =>
    words.split(" ").every((word) => [phase, kind, ...part.split(".")].includes(word));
  const found = which ? steps[which === "first" ? "findIndex" : "findLastIndex"](isIt) : Number(text) - 1;
  return found in steps ? found : null;
}

// The first step that this file of npbert computes: with a function of its own, or else through others; or null.
export function stepOfFile(file) {
  const filesOf = (step) => linesOf(state.data, step).map((frame) => frame.file);
  const inside = state.trace.steps.find((step) => filesOf(step)[0] === file);
  return (inside ?? state.trace.steps.find((step) => filesOf(step).includes(file)))?.index ?? null;
}

// The place NAME[row,column]; or ROLE:SYMBOL, the largest number of the array of this symbol, at that step or at any,
// that is there for the role: "answer" (the word that is hidden), "hidden" (the place, and [MASK]), "word" (one that
// comes in), "largest" (any). null for none.
export function placeNamed(text, step) {
  const {steps, arrays} = state.trace;
  const [, role, symbol] = text.match(/^(answer|hidden|word|largest):(.+)$/) ?? [];
  const names = step === null ? [...arrays.keys()] : namesAt(steps[step]);
  const named = names.map((name) => arrays.get(name)).filter((array) => withoutHeads(array) === symbol);
  return role ? largestPlace(named, thereFor(role)) : placeIn(arrays, text);
}

// The place NAME[row,column] in one of these arrays, by name; or null.
export function placeIn(arrays, text) {
  const [, name, row, column] = text.match(/^(.*)\[(\d+),(\d+)\]$/) ?? [];
  const [rows, columns] = arrays.get(name)?.shape ?? [0, 0];
  return Number(row) < rows && Number(column) < columns ? {name, row: Number(row), column: Number(column)} : null;
}

// All that the stage shows of a step.
function namesAt({reads, writes, undoes}) {
  return [...reads, ...writes, ...(undoes >= 0 ? namesAt(state.trace.steps[undoes]) : [])];
}

function withoutHeads({symbol, head}) {
  return head === null ? symbol : symbol.replace(/[₀-₉]+/, "");
}

// By the kind of row or column, which of them are there for a role: all, where nothing is said.
function thereFor(role) {
  const {input_ids: ids, labels} = state.example;
  const [hidden] = maskedPositions();
  return {
    answer: {tokens: [hidden], masked: [0], vocabulary: [labels[hidden]]},
    hidden: {tokens: [hidden], masked: [0], vocabulary: [ids[hidden]]},
    word: {masked: [0], vocabulary: ids.filter((id) => id !== ids[hidden])},
    largest: {},
  }[role];
}

// The place of the largest number in these arrays, of what is there; or null.
export function largestPlace(arrays, there = {}) {
  const isThere = (kind, index) => there[kind]?.includes(index) ?? true;
  let largest = {size: -1, place: null};
  for (const {name, shape, rows, columns, values} of arrays) {
    values.forEach((value, index) => {
      const [row, column] = [Math.floor(index / shape[1]), index % shape[1]];
      const isIt = isThere(rows, row) && (columns === "tokens" || isThere(columns, column));
      if (isIt && Math.abs(value) > largest.size) {
        largest = {size: Math.abs(value), place: {name, row, column}};
      }
    });
  }
  return largest.place;
}
