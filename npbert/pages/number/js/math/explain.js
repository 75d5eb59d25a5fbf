// explain: any number of a trace as the sum that it is. `value` is the number itself, `total` what the terms add up to:
// the same but for rounding, unless a bug is planted. In `roads` the terms are ways that lead from it to the loss.

import {headIn, withoutHead} from "./recorder.js";

export function explain(trace, name, row, column) {
  const array = trace.named.get(name);
  if (!array) throw new Error(`there is no array ${name}`);
  const value = array.tensor.at(row, column);
  const place = `[${array.rows === "one" ? column : array.columns === "one" ? row : `${row}, ${column}`}]`;
  const about = {name, row, column, value, roads: false};
  const origins = trace.origins.get(name) ?? [];
  if (origins.length === 0) return {...about, ...withoutOrigin(array, value, place)};

  const parts = origins.map((origin) => partOf(trace, origin)(row, column));
  const terms = parts.flatMap((part) => part.terms.map((one) => ofRoad(part.road, one)));
  return {
    ...about,
    formula: `${array.symbol}${place} = ${parts.map((part) => part.right).join(" + ")}`,
    terms,
    total: terms.reduce((sum, {value: term}) => sum + term, 0),
    note: parts.map((part) => part.note).join(" "),
    roads: parts.length > 1 || parts.some((part) => part.roads ?? false),
  };
}

// A term of a step that is one of several roads
const ofRoad = (road, term) => (road ? {...term, label: `${road}: ${term.label}`} : term);

// What one step has to say of the number at (row, column): its operation knows.
export function partOf(trace, {record, key}) {
  const {operation, inputs, outputs, settings, part} = record;
  const arrays = {settings, ...inputs, ...outputs};
  for (const [of, array] of Object.entries({...inputs, ...outputs})) {
    if (trace.named.has(array.gradientName)) arrays[`d${of}`] = trace.named.get(array.gradientName);
  }
  for (const working of workingsOf(operation, outputs)) arrays[working] = trace.named.get(`${part}.${working}`);
  return (row, column) => operation.explain[withoutHead(key)](arrays, row, column, headIn(key));
}

// The names of what backward computes on its way: where there are heads, one for each
function workingsOf({workings}, outputs) {
  const heads = [...new Set(Object.keys(outputs).map((key) => headIn(key) ?? ""))];
  return Object.keys(workings ?? {}).flatMap((working) => heads.map((head) => working + head));
}

function withoutOrigin(array, value, place) {
  const note = array.isGradient
    ? `You have arrived at the ${array.gradientOf}: here backward begins, and it moves by as much as itself.`
    : array.parameter ? "A number that is learned: training moves it a little against its gradient, step by step."
      : "A fixed number: it is not learned.";
  const label = array.isGradient ? array.symbol.replace(/^d(.*)/, "∂$1/∂$1") : array.parameter ? "learned" : "fixed";
  return {formula: `${array.symbol}${place}`, terms: [{label, value, factors: [], goes: null}], total: value, note};
}
