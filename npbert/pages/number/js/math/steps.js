// The steps of which a BERT is made: an operation with its parameters, their names, and what is said of it.

import {activationNamed} from "./activations.js";
import {Add, Fork} from "./add.js";
import {Scores, Softmax, WeightedMean} from "./attention.js";
import {Embedding, FixedPositions, Gather} from "./embedding.js";
import {LayerNorm} from "./layer_norm.js";
import {Linear} from "./linear.js";
import {CrossEntropy, Decoder} from "./masked_words.js";
import {Tensor} from "./tensor.js";
import {range} from "./terms.js";
import {Difference} from "./two_guesses.js";
import {ARRAYS, LINEARS, ROADS, subscript, TABLES} from "./words.js";

// What is said of an array: its name is where it is, and its symbol.
function described(where, symbol, more = {}) {
  const [rows, columns, meaning] = ARRAYS[symbol];
  return {name: where ? `${where}.${symbol}` : symbol, symbol, rows, columns, meaning, ...more};
}

function table(recorder, symbol) {
  const [tableSymbol, rows, meaning] = TABLES[symbol];
  const part = `bert.embeddings.${symbol === "type" ? "token_type" : symbol}_embeddings`;
  const isFixed = recorder.model.constants.has(`${part}.table`);
  const weight = recorder.parameter(`${part}.${isFixed ? "table" : "weight"}`, tableSymbol, rows, "features", meaning);
  return {part, weight, isFixed};
}

// symbol = table[ids]
export function lookedUp(recorder, symbol, ids) {
  const {part, weight, isFixed} = table(recorder, symbol);
  const formula = `${symbol} = ${weight.symbol}[${symbol} ids]`;
  const about = {part, title: `${symbol}s: looked up in a table`, formula};
  const y = described("bert.embeddings", symbol);
  const road = symbol === "word" ? "as it comes in" : null; // the table of words has a second use, as answers
  return recorder.step(isFixed ? FixedPositions : Embedding, about, {x: weight}, {y}, {ids, road}).y;
}

// symbol = x W + b
export function linear(recorder, part, x, where, symbol) {
  const [w, b, what] = Object.entries(LINEARS).find(([end]) => part.endsWith(end))[1];
  const y = described(where, symbol);
  const [turn, add] = [`that turn ${x.symbol} into ${symbol}.`, `that is added to make ${symbol}.`];
  const weight = recorder.parameter(`${part}.weight`, w, x.columns, y.columns, `The weights ${turn}`);
  const bias = recorder.parameter(`${part}.bias`, b, "one", y.columns, `The bias ${add}`);
  const formula = `${symbol} = ${x.symbol} ${w} + ${b}`;
  return recorder.step(Linear, {part, title: `${what}: ${formula}`, formula}, {x, weight, bias}, {y}).y;
}

// symbol = act(x)
export function activated(recorder, part, x, where, symbol) {
  const activation = activationNamed(recorder.model.config.hidden_act);
  const y = described(where, symbol);
  const meaning = "The slope of the activation: kept for backward.";
  const slope = {...y, name: `${y.name}.slope`, symbol: `${symbol}′`, meaning, gradient: null};
  const about = {part, title: `${activation.kind}: what is let through`, formula: activation.formula(symbol, x.symbol)};
  return recorder.step(activation, about, {x}, {y, slope}).y;
}

// s = a + b + …
export function added(recorder, part, ...terms) {
  const formula = `s = ${terms.map(({symbol}) => symbol).join(" + ")}`;
  const inputs = Object.fromEntries(terms.map((array, number) => [`x${number}`, array]));
  const what = ROADS[part.split(".").at(-1)] ? "the residual, added" : "added up";
  return recorder.step(Add, {part, title: `${what}: ${formula}`, formula}, inputs, {y: described(part, "s")}).y;
}

// symbol = γ x̂ + β
export function normed(recorder, part, x, where, symbol) {
  const gamma = recorder.parameter(`${part}.gamma`, "γ", "one", "features", "By how much each feature is stretched.");
  const beta = recorder.parameter(`${part}.beta`, "β", "one", "features", "By how much each feature is shifted.");
  const {rows} = x;
  const inside = (key, sign, columns, meaning) => ({name: `${part}.${key}`, symbol: sign, rows, columns, meaning});
  const outputs = {
    mu: {...inside("mu", "μ", "one", "The mean of each row."), gradient: null},
    sigma: {...inside("sigma", "σ", "one", "How far the numbers of each row spread."), gradient: null},
    xHat: inside("xHat", "x̂", "features", "Each row brought to mean 0 and variance 1."),
    y: described(where, symbol),
  };
  const formula = `${symbol} = γ x̂ + β,  x̂ = (${x.symbol} − μ) / σ`;
  const about = {part, title: `LayerNorm: ${symbol} = γ x̂ + β`, formula};
  const {layer_norm_eps: eps} = recorder.model.config;
  return recorder.step(LayerNorm, about, {x, gamma, beta}, outputs, {eps}).y;
}

// x, as often as it is used in this part: one road for each, with a gradient of its own, which backward adds up
export function forked(recorder, part, x) {
  const roads = ROADS[part.split(".").at(-1)];
  const count = {2: "two", 4: "four"}[roads.length];
  const title = `${x.symbol} goes ${count} ways, one of them the residual`;
  const about = {part, title, formula: `${x.symbol} → ${roads.join(", ")}`};
  const onRoad = (road) => ({...x, gradient: `d(${x.name}) ${road}`, gradientSymbol: `d${x.symbol} ${road}`});
  const outputs = Object.fromEntries(roads.map((road, number) => [`y${number}`, onRoad(road)]));
  return Object.values(recorder.step(Fork, about, {x}, outputs, {roads}));
}

// C = P V  with  P = softmax(S),  S = Q Kᵀ/√d, for each head
export function attended(recorder, where, q, k, v) {
  const part = `${where}.attention.dot_product`, heads = recorder.model.config.num_attention_heads;
  const ofHead = (symbol, h) =>
    ({name: `${where}.${symbol}.${h}`, symbol: symbol + (heads > 1 ? subscript(h) : ""), head: h});
  const perHead = (key, symbol) => Object.fromEntries(
    range(heads, (h) => [`${key}${h}`, described(where, symbol, ofHead(symbol, h))]));
  const step = (operation, title, formula, inputs, outputs) =>
    recorder.step(operation, {part, title, formula}, inputs, outputs, {heads, width: q.tensor.columns / heads});
  const scores = step(Scores, "scores: every query meets every key", "S = Q Kᵀ/√d", {q, k}, perHead("s", "S"));
  const shares = step(Softmax, "softmax: scores become shares", "P = softmax(S)", scores, perHead("p", "P"));
  return step(WeightedMean, "a weighted mean of the values", "C = P V", {...shares, v}, {c: described(where, "C")}).c;
}

// r = y[masked]
export function gathered(recorder, x) {
  const about = {part: "gather", title: "the rows of the masked words alone", formula: "r = y[masked]"};
  return recorder.step(Gather, about, {x}, {y: described("", "r")}, {ids: recorder.tokens.masked}).y;
}

// logits = z Eᵀ + c: the table is that of the words that come in
export function scored(recorder, h) {
  const about = {part: "predictions", title: "a score for every word", formula: `logits = ${h.symbol} Eᵀ + c`};
  const meaning = "A score that each word has anyway, in every sentence.";
  const bias = recorder.parameter("predictions.bias", "c", "one", "vocabulary", meaning);
  const inputs = {h, table: table(recorder, "word").weight, bias};
  return recorder.step(Decoder, about, inputs, {logits: described("", "logits")}).logits;
}

// loss = mean(−ln p[label])  with  p = softmax(logits)
export function surprise(recorder, logits, labels) {
  const formula = "loss = mean(−ln p[label]),  p = softmax(logits)";
  const about = {part: "cross_entropy", title: "the loss: how surprised by the right words", formula};
  const outputs = {p: described("", "p", {gradient: null}), loss: described("", "loss")};
  return recorder.step(CrossEntropy, about, {logits}, outputs, {labels}).loss;
}

// δ = logits[m, label] − logits[m, word], of the masked word m alone
export function ahead(recorder, logits, labels, {masked, word}) {
  const [one, other] = [labels[masked], word].map((id) => `“${recorder.model.vocabulary[id]}”`);
  const signs = new Tensor(...logits.shape).with(masked, labels[masked], 1).with(masked, word, -1);
  const title = `the difference: how far ${one} is ahead of ${other}`;
  const about = {part: "difference", title, formula: "δ = logits[one] − logits[other],  p = softmax(logits)"};
  const outputs = {p: described("", "p", {gradient: null}), loss: described("", "δ", {name: "difference"})};
  return recorder.step(Difference, about, {logits}, outputs, {labels, m: masked, a: labels[masked], b: word, signs}).loss;
}
