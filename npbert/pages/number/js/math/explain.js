// explain: any number of a trace as the sum that it is. `value` is the number itself, `total` what the terms add up to:
// the same but for rounding, unless a bug is planted. In `roads` the terms are ways that lead from it to the loss.
// `notes` name what is said of it, and what these sentences speak `of`: the words are in notes.html.

import {atHead, withoutHead} from "./heads.js";
import {totalOf} from "./terms.js";

export function explain(trace, name, row, column) {
  const array = trace.arrays.get(name);
  if (!array) throw new Error(`there is no array ${name}`);
  const {value, formula: left} = array.at(row, column);
  const about = {name, row, column, value, roads: false};
  if (array.origins.length === 0) return {...about, formula: left, ...withoutOrigin(array, value)};

  const parts = array.origins.map((origin) => partOf(origin)(row, column));
  const terms = parts.flatMap((part) => part.terms.map((one) => ofRoad(part.road, one)));
  return {
    ...about,
    formula: `${left} = ${parts.map(rightOf).join(" + ")}`,
    terms,
    total: totalOf(terms),
    notes: parts.map((part) => part.note),
    roads: parts.length > 1 || parts.some((part) => part.roads ?? false),
  };
}

// The right side of a formula: where the operation does not say it, its terms do.
const rightOf = ({right, terms}) =>
  right ?? ([...new Set(terms.map(({formula}) => formula))].map((say) => say()).join(" + ") || "0");

// A term of a step that is one of several roads
const ofRoad = (road, term) => (road ? {...term, label: `${road}: ${term.label}`} : term);

// What one step has to say of the number at (row, column): its operation knows.
export function partOf({record, key}) {
  const {operation, inputs, outputs, settings, back} = record;
  const arrays = {settings, ...inputs, ...outputs, ...back?.dys, ...back?.found};
  const said = operation.explain[withoutHead(key)];
  return (row, column) => {
    const part = said(settings.heads ? atHead(arrays, key, column) : arrays, row, column);
    const name = [operation.kind, withoutHead(key), part.special].filter(Boolean).join(".");
    return {...part, note: {name, of: {...settings, ...arrays, ...part}}};
  };
}

function withoutOrigin(array, value) {
  const name = array.isGradient ? "start" : array.parameter ? "learned" : "fixed";
  const label = array.isGradient ? array.symbol.replace(/^d(.*)/, "∂$1/∂$1") : name;
  return {terms: [{label, value, factors: [], goes: null}], total: value, notes: [{name, of: array}]};
}

// A note's text, where {x} stands for the symbol of x, and any other name for what it is in what the note speaks `of`.
export function noteWith(text, of) {
  return text.replace(/\s+/g, " ").replace(/\{([\w.]+)\}/g, (_, path) => {
    const found = path.split(".").reduce((one, key) => one[key], of);
    return found.symbol ?? found;
  });
}
