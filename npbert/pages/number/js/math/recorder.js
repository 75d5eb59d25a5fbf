// Recorder: while a sentence goes forward it writes down every step and every array; so backward can undo the steps in
// reverse order, and every number can say where it comes from.

import {copied} from "./tensor.js";
import {LETTERS} from "./terms.js";

// An array with its name, and what a reader wants to know of it. rows, columns: what they are, as in `labelOf`. head:
// of which head it is, or null. gradient: what backward calls its gradient, or this road's share of it; null for none.
// gradientOf: the name of the array that it is the gradient of. madeBy: the step. origins: where it was made: by which
// record, what its operation calls it, and what it brings of a gradient. soFar: of what several steps add to, [{step,
// values}], what it was after each; or null.
export class NamedArray {
  constructor({name, symbol, ...about}, tensor, tokens, madeBy = null) {
    Object.assign(this, {name, symbol, head: null, parameter: false, isGradient: false, gradientOf: null, soFar: null});
    Object.assign(this, {gradient: `d(${name})`, gradientSymbol: `d${symbol}`, shape: tensor?.shape, origins: []});
    Object.assign(this, about, {tensor, tokens, madeBy});
  }

  get values() { return this.tensor.re; }

  // One number of it, as a factor of a term
  at(row, column) {
    const {name, isGradient} = this, array = this;
    const value = this.tensor.at(row, column);
    return {name, row, column, value, isGradient, get formula() { return array.symbolAt(row, column); }};
  }

  // As a formula has it: Q[2, 3], b[3]
  symbolAt(row, column) {
    const place = this.rows === "one" ? column : this.columns === "one" ? row : `${row}, ${column}`;
    return `${this.symbol}[${place}]`;
  }

  rowLabel(index) { return labelOf(this.rows, index, this.tokens); }
  columnLabel(index) { return labelOf(this.columns, index, this.tokens); }
}

// The row or column `index` of an axis, for people: n = 2, “are”
function labelOf(axis, index, tokens) {
  if (axis === "tokens") return `n = ${index}, “${tokens.words[index]}”`;
  if (axis === "masked") return `m = ${index}, the [MASK] at n = ${tokens.masked[index]}`;
  if (axis === "vocabulary") return `v = ${index}, “${tokens.vocabulary[index]}”`;
  return LETTERS[axis] ? `${LETTERS[axis]} = ${index}` : "";
}

export class Recorder {
  constructor(model, example) {
    const masked = example.labels.flatMap((label, n) => (label >= 0 ? [n] : []));
    this.model = model;
    this.tokens = {words: example.input_ids.map((id) => model.vocabulary[id]), masked, vocabulary: model.vocabulary};
    this.records = []; // the steps of forward, in order
    this.arrays = new Map(); // by name
  }

  // A parameter as it is now, ready to be read by a step; two steps that read it get the same. A fixed table is none.
  parameter(name, symbol, rows, columns, meaning) {
    if (!this.arrays.has(name)) {
      const learned = this.model.parameters.get(name);
      const about = {name, symbol, rows, columns, meaning, ...(learned ? {parameter: true} : {gradient: null})};
      const tensor = learned ? copied(learned) : this.model.constants.get(name); // training changes the model, no trace
      this.arrays.set(name, new NamedArray(about, tensor, this.tokens));
    }
    return this.arrays.get(name);
  }

  // Do one step, and write it down. inputs: named arrays by what the operation calls them. outputs: what is to be said
  // of each array that comes out, by what the operation calls it. Returns them as named arrays.
  step(operation, {part, title, formula}, inputs, outputs, settings = {}) {
    const results = operation.forward(tensorsOf(inputs), {}, settings);
    const made = {}, index = this.records.length;
    const record = {index, operation, part, title, formula, inputs, outputs: made, settings};
    for (const key in outputs) {
      made[key] = new NamedArray({origins: [{record, key}], ...outputs[key]}, results[key], this.tokens, index);
      if (!this.arrays.has(made[key].name)) this.arrays.set(made[key].name, made[key]);
    }
    this.records.push(record);
    return made;
  }
}

// Their tensors; `now`: those that are others, by name.
export function tensorsOf(arrays, now = new Map()) {
  const tensors = {};
  for (const key in arrays) tensors[key] = now.get(arrays[key].name) ?? arrays[key].tensor;
  return tensors;
}

// The loss (1, 1), if one array were another.
export function replayed(records, name, changed) {
  const {loss} = records.at(-1).outputs;
  return movedBy(records, name, changed).get(loss.name) ?? loss.tensor;
}

// The forward once more, with one array changed: only what hangs on it is computed again. Returns the tensors that are
// then others, by name.
export function movedBy(records, name, changed) {
  const now = new Map([[name, changed]]);
  for (const {operation, inputs, outputs, settings} of records) {
    if (operation.kind === "Fork") continue; // all that comes out of it has the name of what goes in
    const inside = Object.keys(outputs).find((key) => outputs[key].name === name);
    const isTouched = inside !== undefined || Object.values(inputs).some((array) => now.has(array.name));
    if (!isTouched) continue;
    const results = operation.forward(tensorsOf(inputs, now), inside ? {[inside]: changed} : {}, settings);
    for (const key in outputs) {
      const result = key === inside ? null : results[key];
      if (result && !isSame(result, outputs[key].tensor)) now.set(outputs[key].name, result);
    }
  }
  return now;
}

// A row of a table that is not read changes nothing: then nothing after it is computed again.
const isSame = (a, b) => a.im === null && a.re.every((value, i) => value === b.re[i]);
