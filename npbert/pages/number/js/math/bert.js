// BERT, from the ids of a sentence to the loss of its masked words: what npbert's blocks put together, step by step.
//
// h = LayerNorm(word + position + type); then in every layer  h = LayerNorm(x + Attention(x)),  y = LayerNorm(h +
// FeedForward(h));  then logits = LayerNorm(act(h W + b)) Eᵀ + c for the masked words. (Devlin et al. 2018.)

import {activationNamed} from "./activations.js";
import {Add, Fork} from "./add.js";
import {Scores, Softmax, WeightedMean} from "./attention.js";
import {Embedding, FixedPositions} from "./embedding.js";
import {LayerNorm} from "./layer_norm.js";
import {Linear} from "./linear.js";
import {CrossEntropy, Decoder, Gather} from "./masked_words.js";
import {range} from "./terms.js";

const TABLE = "bert.embeddings.word_embeddings.weight";

export function maskedWordLoss(recorder, example) {
  const {config} = recorder.model;
  let x = embedded(recorder, example, config);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) x = encoderLayer(recorder, x, layer, config);
  return predicted(recorder, x, example, config);
}

const tokensBy = (columns) => ({rows: "tokens", columns});
const wordTable = (recorder) =>
  recorder.parameter(TABLE, "E", "vocabulary", "features", "A learned vector for every word: as it comes in, and as an answer.");

function embedded(recorder, example, config) {
  const part = "bert.embeddings";
  const looked = (name, operation, table, symbol, ids, meaning) => recorder.step(
    operation,
    {part: `${part}.${name}_embeddings`, title: `${symbol}s: looked up in a table`, formula: `${symbol} = ${table.symbol}[${symbol} ids]`},
    {weight: table},
    {y: {name: `${part}.${symbol}`, symbol, ...tokensBy("features"), meaning}},
    {ids},
  ).y;

  const word = looked("word", Embedding, wordTable(recorder), "word", example.input_ids, "What each token is.");
  const fixed = `${part}.position_embeddings.table`;
  const isFixed = recorder.model.constants.has(fixed);
  const positions = recorder.parameter(
    isFixed ? fixed : `${part}.position_embeddings.weight`, "Eᵖ", "positions", "features",
    isFixed ? "A fixed vector for every place in the sentence." : "A learned vector for every place in the sentence.");
  const position = looked("position", isFixed ? FixedPositions : Embedding, positions, "position",
    range(example.input_ids.length, (n) => n), "Where each token stands.");
  const types = recorder.parameter(
    `${part}.token_type_embeddings.weight`, "Eᵗ", "types", "features", "A learned vector for the first sentence, and one for the second.");
  const type = looked("token_type", Embedding, types, "type", example.token_type_ids, "Which sentence each token is in.");

  const {y: sum} = recorder.step(
    Add, {part, title: "what, where and in which sentence: added up", formula: "s = word + position + type"},
    {x0: word, x1: position, x2: type},
    {y: {name: `${part}.s`, symbol: "s", ...tokensBy("features"), meaning: "What each token is, where it stands and which sentence it is in."}});
  return normed(recorder, `${part}.layer_norm`, sum, "x", "bert.encoder.layers.0.x", "The tokens as they come into layer 0.");
}

function encoderLayer(recorder, x, layer, config) {
  const part = `bert.encoder.layers.${layer}`;
  const settings = {heads: config.num_attention_heads};
  const isLast = layer === config.num_hidden_layers - 1;

  const [past, toQ, toK, toV] = recorder.fork(
    Fork, {part: `${part}.attention`, title: "x goes four ways", formula: "x → past attention, and into Q, K and V"},
    x, ["past attention", "through Q", "through K", "through V"]);
  const q = linear(recorder, `${part}.attention.query`, toQ, "Q", "q", "queries", `${part}.Q`, "What each token looks for.");
  const k = linear(recorder, `${part}.attention.key`, toK, "K", "k", "keys", `${part}.K`, "What each token can be found by.");
  const v = linear(recorder, `${part}.attention.value`, toV, "V", "v", "values", `${part}.V`, "What each token has to offer.");
  const c = attended(recorder, part, q, k, v, settings);
  const a = linear(recorder, `${part}.attention.output`, c, "A", "o", "what attention adds", `${part}.A`, "What attention adds to each token.");
  const h = addedAndNormed(recorder, `${part}.attention`, `${part}.attention_norm`, past, a, "h", `${part}.h`,
    "The tokens after attention: each knows something of the others.");

  const [besides, into] = recorder.fork(
    Fork, {part: `${part}.feed_forward`, title: "h goes two ways", formula: "h → past feed-forward, and into it"},
    h, ["past feed-forward", "through feed-forward"]);
  const f = feedForward(recorder, part, into, config);
  const next = isLast ? ["y", `${part}.y`, "The tokens as they leave the last layer."]
    : ["x", `bert.encoder.layers.${layer + 1}.x`, `The tokens as they come into layer ${layer + 1}.`];
  return addedAndNormed(recorder, `${part}.feed_forward`, `${part}.output_norm`, besides, f, ...next);
}

function attended(recorder, part, q, k, v, settings) {
  const at = `${part}.attention.dot_product`;
  const perHead = (key, symbol, meaning) => Object.fromEntries(range(settings.heads, (h) => [`${key}${h}`, {
    name: `${part}.${symbol}.${h}`, symbol: settings.heads > 1 ? `${symbol}${subscript(h)}` : symbol,
    rows: "tokens", columns: "tokens", head: h, meaning}]));
  const scores = recorder.step(
    Scores, {part: at, title: "scores: every query meets every key", formula: "S = Q Kᵀ/√d"},
    {q, k}, perHead("s", "S", "How well each token (column) fits what each token (row) looks for."), settings);
  const shares = recorder.step(
    Softmax, {part: at, title: "softmax: scores become shares", formula: "P = softmax(S)"},
    scores, perHead("p", "P", "How much each token (row) looks at each token (column): a row adds up to 1."), settings);
  return recorder.step(
    WeightedMean, {part: at, title: "a weighted mean of the values", formula: "C = P V"},
    {...shares, v},
    {c: {name: `${part}.C`, symbol: "C", ...tokensBy("features"), meaning: "What each token has found: a mean of values, head beside head."}},
    settings).c;
}

function feedForward(recorder, part, h, config) {
  const wide = {rows: "tokens", columns: "intermediate"};
  const u = linear(recorder, `${part}.feed_forward.intermediate`, h, "U", "₁", "feed-forward, up", `${part}.U`,
    "Many features of each token, before the activation.", wide);
  const g = activated(recorder, `${part}.feed_forward.activation`, u, "G", `${part}.G`, "The features that were let through.", config);
  return linear(recorder, `${part}.feed_forward.output`, g, "F", "₂", "feed-forward, down", `${part}.F`,
    "What feed-forward adds to each token.");
}

function predicted(recorder, x, example, config) {
  const labels = example.labels.filter((label) => label >= 0);
  const masked = {rows: "masked", columns: "features"};
  const {y: read} = recorder.step(
    Gather, {part: "gather", title: "the masked words alone", formula: "r = y[masked]"}, {x},
    {y: {name: "r", symbol: "r", ...masked, meaning: "The rows of the masked words."}}, {rows: recorder.tokens.masked});
  const t = linear(recorder, "predictions.dense", read, "t", "ᵗ", "the head's own features", "predictions.t", "Features for the answer.", masked);
  const a = activated(recorder, "predictions.activation", t, "a", "predictions.a", "Those that were let through.", config);
  const h = normed(recorder, "predictions.layer_norm", a, "z", "predictions.z", "What is compared with every word.");
  const {logits} = recorder.step(
    Decoder, {part: "predictions", title: "a score for every word", formula: "logits = z Eᵀ + c"},
    {h, table: wordTable(recorder), bias: recorder.parameter("predictions.bias", "c", "one", "vocabulary", "How likely each word is anyway.")},
    {logits: {name: "logits", symbol: "logits", rows: "masked", columns: "vocabulary", meaning: "How well every word fits at each masked place."}});
  return recorder.step(
    CrossEntropy, {part: "cross_entropy", title: "the loss: how surprised by the right words", formula: "loss = mean(−ln p[label]),  p = softmax(logits)"},
    {logits},
    {
      p: {name: "p", symbol: "p", rows: "masked", columns: "vocabulary", meaning: "How probable the model finds every word.", gradientName: null},
      loss: {name: "loss", symbol: "loss", rows: "one", columns: "one", meaning: "How surprised the model is by the right words, on average."},
    },
    {labels}).loss;
}

// ---- the steps that come again and again ----

function linear(recorder, part, x, symbol, of, what, name, meaning, axes = tokensBy("features")) {
  const weight = recorder.parameter(`${part}.weight`, `W${superscript(of)}`, x.columns, axes.columns, `The weights of ${part.split(".").slice(-2).join(" ")}.`);
  const bias = recorder.parameter(`${part}.bias`, `b${superscript(of)}`, "one", axes.columns, `The bias of ${part.split(".").slice(-2).join(" ")}.`);
  return recorder.step(
    Linear, {part, title: `${what}: ${symbol} = ${x.symbol} ${weight.symbol} + ${bias.symbol}`, formula: `${symbol} = ${x.symbol} ${weight.symbol} + ${bias.symbol}`},
    {x, weight, bias}, {y: {name, symbol, ...axes, meaning}}).y;
}

function activated(recorder, part, x, symbol, name, meaning, config) {
  const activation = activationNamed(config.hidden_act);
  const axes = {rows: x.rows, columns: x.columns};
  return recorder.step(
    activation, {part, title: `${activation.kind}: what is let through`, formula: activation.formula.replace("y =", `${symbol} =`)}, {x},
    {
      y: {name, symbol, ...axes, meaning},
      slope: {name: `${name}.slope`, symbol: `${symbol}′`, ...axes, meaning: "The slope of the activation: kept for backward.", gradientName: null},
    }).y;
}

function normed(recorder, part, x, symbol, name, meaning) {
  const axes = {rows: x.rows, columns: "features"};
  const gamma = recorder.parameter(`${part}.gamma`, "γ", "one", "features", "By how much each feature is stretched.");
  const beta = recorder.parameter(`${part}.beta`, "β", "one", "features", "By how much each feature is shifted.");
  const perRow = {rows: x.rows, columns: "one", gradientName: null};
  return recorder.step(
    LayerNorm, {part, title: `LayerNorm: ${symbol} = γ x̂ + β`, formula: `${symbol} = γ x̂ + β,  x̂ = (${x.symbol} − μ) / σ`},
    {x, gamma, beta},
    {
      mu: {name: `${part}.mu`, symbol: "μ", ...perRow, meaning: "The mean of each row."},
      sigma: {name: `${part}.sigma`, symbol: "σ", ...perRow, meaning: "How far the numbers of each row spread."},
      xHat: {name: `${part}.xHat`, symbol: "x̂", ...axes, meaning: "Each row brought to mean 0 and variance 1."},
      y: {name, symbol, ...axes, meaning},
    },
    {eps: recorder.model.config.layer_norm_eps}).y;
}

function addedAndNormed(recorder, part, normPart, past, through, symbol, name, meaning) {
  const {y: sum} = recorder.step(
    Add, {part, title: `a residual: ${past.symbol} + ${through.symbol}`, formula: `s = ${past.symbol} + ${through.symbol}`},
    {x0: past, x1: through},
    {y: {name: `${part}.s`, symbol: "s", ...tokensBy("features"), meaning: `${past.symbol}, and what the sub-layer adds to it.`}});
  return normed(recorder, normPart, sum, symbol, name, meaning);
}

const SUPERSCRIPTS = {q: "ᑫ", k: "ᵏ", v: "ᵛ", o: "ᴼ"};
const superscript = (letter) => SUPERSCRIPTS[letter] ?? letter;
const subscript = (digit) => String(digit).replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[d]);
