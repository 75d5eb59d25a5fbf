// What training has changed since it began: the attention of this sentence, and the words in the table E.

import {makeModel, run} from "../math/index.js";
import {restore, valuesOf} from "./actions.js";
import {byId, make, makeRow} from "./dom.js";
import {MINUS, plainNumber, roundedNumber} from "./format.js";
import {state} from "./state.js";

const TABLE = "bert.embeddings.word_embeddings.weight";
const NEAREST = 3;
let start = null; // {values, model}: the parameters before the first step, and a model that has them
let [seen, seenIn] = [null, null]; // the trace of that model, and the sentence that it is of

// Training begins from the model as it is now.
export function beginHere() {
  start = {values: valuesOf(state.model), model: makeModel(state.data)};
  restore(start.model, start.values);
  seen = null;
}

// One array of this sentence as it was before the first step: small, to be looked at.
export function asItWas(name) {
  if (!seen || seenIn !== state.example) {
    [seen, seenIn] = [run(start.model, state.example, {backward: false}), state.example];
  }
  const {values, shape, symbol} = seen.arrays.get(name);
  const cells = Array.from(values, (value) => make("i", {style: `--share: ${Math.round(100 * value)}%`}));
  const look = {class: "mini", role: "img", "aria-label": `${symbol} before training`, style: `--columns: ${shape[1]}`};
  return make("div", {}, make("div", look, ...cells), make("p", {class: "quiet"}, "at the start"));
}

// For each word of the sentence: which words lie nearest to it in the table, before and now, and how far it has moved.
export function drawWords() {
  const {example, data} = state;
  const words = [...new Set([...example.input_ids, ...example.labels.filter((label) => label !== -100)])];
  const [before, now] = [start.values.get(TABLE), state.model.parameters.get(TABLE).re];
  const rows = words.map((word) => {
    const was = rowIn(before, word);
    const moved = Math.hypot(...rowIn(now, word).map((value, index) => value - was[index])) / Math.hypot(...was);
    const nearest = [before, now].map((table) => ["", nearestTo(table, word)]);
    const far = ["number", moved ? plainNumber(roundedNumber(moved, 2)) : "–"];
    return makeRow(make("bdi", {}, data.vocabulary[word]), ...nearest, far);
  });
  byId("train-words").replaceChildren(...rows);
}

// The words whose rows point most nearly the same way, each with its cosine.
function nearestTo(table, word) {
  const {vocabulary} = state.data;
  const others = vocabulary.map((_, other) => other).filter((other) => other !== word);
  const cosines = new Map(others.map((other) => [other, cosine(rowIn(table, word), rowIn(table, other))]));
  const nearest = others.sort((a, b) => cosines.get(b) - cosines.get(a)).slice(0, NEAREST);
  return nearest.map((other) => `${vocabulary[other]} ${cosines.get(other).toFixed(2).replace("-", MINUS)}`).join(", ");
}

function rowIn(table, word) {
  const {hidden_size: width} = state.data.config;
  return Array.from(table.slice(word * width, (word + 1) * width));
}

function cosine(a, b) {
  return a.reduce((sum, value, index) => sum + value * b[index], 0) / (Math.hypot(...a) * Math.hypot(...b));
}
