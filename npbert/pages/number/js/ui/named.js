// Steps and numbers by a name that holds for every model: first:backward LayerNorm, largest:dE.

import {explain} from "../math/explain.js";
import {arrayNamed, placeAtIndex} from "./labels.js";
import {framesOf} from "./source.js";
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
  const {functions} = state.data.source;
  const filesOf = (step) => framesOf(step).map(([name]) => functions[name].file);
  const {steps} = state.trace;
  const inside = steps.find((step) => filesOf(step)[0] === file);
  return (inside ?? steps.find((step) => filesOf(step).includes(file)))?.index ?? null;
}

// The place NAME[row,column]; or ROLE:SYMBOL, the largest number of the array of this symbol, at that step or at any,
// that is there for the role: "answer" (the word that is hidden), "hidden" (the place, and [MASK]), "word" (one that
// comes in), "largest" (any), "even" (any: the one whose parts are most alike in size), "first" (any: the one whose first
// part is most ahead of the others). null for none.
export function placeNamed(text, step) {
  const {steps, arrays} = state.trace;
  const [, role, symbol] = text.match(/^(answer|hidden|word|largest|even|first):(.+)$/) ?? [];
  if (!role) {
    const [, name, row, column] = text.match(/^(.*)\[(\d+),(\d+)\]$/) ?? [];
    const [rows, columns] = arrays.get(name)?.shape ?? [0, 0];
    return Number(row) < rows && Number(column) < columns ? {name, row: Number(row), column: Number(column)} : null;
  }
  const names = step === null ? [...arrays.keys()] : namesAt(steps[step]);
  const found = names.map(arrayNamed).filter((array) => withoutHeads(array) === symbol);
  return bestPlace(found, thereFor(role), (value, at) => RANKS[role]?.(...sizesOf(at)) ?? Math.abs(value));
}

// All that the stage shows of a step.
function namesAt({reads, writes, undoes}) {
  return [...reads, ...writes, ...(undoes === undefined ? [] : namesAt(state.trace.steps[undoes]))];
}

const withoutHeads = ({symbol, head}) => (head === null ? symbol : symbol.replace(/[₀-₉]+/, ""));

const sizesOf = ({name, row, column}) =>
  explain(state.trace, name, row, column).terms.map(({value}) => Math.abs(value));

const RANKS = {
  even: (...sizes) => Math.min(...sizes) / Math.max(...sizes, Number.MIN_VALUE),
  first: (size, ...others) => size / Math.max(...others, Number.MIN_VALUE),
};

// By the kind of row or column, which of them are there for a role: all, where nothing is said.
function thereFor(role) {
  const {input_ids: ids, labels} = state.example;
  const [hidden] = state.trace.masked;
  return (
    {
      answer: {tokens: [hidden], masked: [0], vocabulary: [labels[hidden]]},
      hidden: {tokens: [hidden], masked: [0], vocabulary: [ids[hidden]]},
      word: {masked: [0], vocabulary: ids.filter((id) => id !== ids[hidden])},
    }[role] ?? {}
  );
}

// The place in these arrays, of what is there, that is best by `rank`; or null.
export function bestPlace(arrays, there, rank) {
  const isThere = (kind, index) => there[kind]?.includes(index) ?? true;
  const places = arrays.flatMap(({name, rows, columns, shape, values}) =>
    Array.from(values, (value, at) => {
      const place = placeAtIndex(name, shape, at);
      const isIt = isThere(rows, place.row) && (columns === "tokens" || isThere(columns, place.column));
      return {place, rank: isIt ? rank(value, place) : -1};
    }),
  );
  const [first] = places.filter(({rank}) => rank >= 0).sort((a, b) => b.rank - a.rank);
  return first?.place ?? null;
}
