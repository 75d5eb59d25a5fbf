// BERT, from the ids of a sentence to the loss of its masked words, or to the difference of two guesses, step by step.
// (Devlin et al. 2018.)
//
// It runs forward only; what each step does, and how backward undoes it, is in the file of its operation.

import {activated, added, ahead, attended, forked, gathered, linear, lookedUp, normed, scored, surprise} from "./steps.js";

// rival: null for the loss; or {masked, word}: by how much the label of the masked word is ahead of another word.
export function maskedWordLoss(recorder, example, rival) {
  const layers = recorder.model.config.num_hidden_layers;
  const layer = (l) => `bert.encoder.layers.${l}`;
  let x = embedded(recorder, example, layer(0));
  for (let l = 0; l < layers; l++) {
    const [where, symbol] = l + 1 < layers ? [layer(l + 1), "x"] : [layer(l), "y"];
    x = encoderLayer(recorder, layer(l), x, where, symbol);
  }
  return predicted(recorder, x, example.labels, rival);
}

// x = LayerNorm(word + position + type)
function embedded(recorder, {input_ids, token_type_ids}, first) {
  const word = lookedUp(recorder, "word", input_ids);
  const position = lookedUp(recorder, "position", input_ids.map((_, n) => n));
  const type = lookedUp(recorder, "type", token_type_ids);
  const sum = added(recorder, "bert.embeddings", word, position, type);
  return normed(recorder, "bert.embeddings.layer_norm", sum, first, "x");
}

// h = LayerNorm(x + Attention(x)),  y = LayerNorm(h + FeedForward(h));   y is the next layer's x: `where` says which
function encoderLayer(recorder, layer, x, where, symbol) {
  const attention = `${layer}.attention`;
  const [pastAttention, toQ, toK, toV] = forked(recorder, attention, x);
  const q = linear(recorder, `${attention}.query`, toQ, layer, "Q");
  const k = linear(recorder, `${attention}.key`, toK, layer, "K");
  const v = linear(recorder, `${attention}.value`, toV, layer, "V");
  const c = attended(recorder, layer, q, k, v);
  const a = linear(recorder, `${attention}.output`, c, layer, "A");
  const h = normed(recorder, `${layer}.attention_norm`, added(recorder, attention, pastAttention, a), layer, "h");

  const feedForward = `${layer}.feed_forward`;
  const [pastFeedForward, intoIt] = forked(recorder, feedForward, h);
  const u = linear(recorder, `${feedForward}.intermediate`, intoIt, layer, "U");
  const g = activated(recorder, `${feedForward}.activation`, u, layer, "G");
  const f = linear(recorder, `${feedForward}.output`, g, layer, "F");
  return normed(recorder, `${layer}.output_norm`, added(recorder, feedForward, pastFeedForward, f), where, symbol);
}

// logits = z Eᵀ + c  with  z = LayerNorm(act(r Wh + bh)), for the masked words alone
function predicted(recorder, y, labels, rival) {
  const r = gathered(recorder, y);
  const t = linear(recorder, "predictions.dense", r, "predictions", "t");
  const a = activated(recorder, "predictions.activation", t, "predictions", "a");
  const z = normed(recorder, "predictions.layer_norm", a, "predictions", "z");
  const logits = scored(recorder, z), known = labels.filter((label) => label >= 0);
  return rival ? ahead(recorder, logits, known, rival) : surprise(recorder, logits, known);
}
