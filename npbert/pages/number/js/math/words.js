// What is said of the arrays and steps of a BERT, by the symbols that bert.js has for them.

// By symbol: what the rows and columns are, and what the numbers mean.
export const ARRAYS = {
  word: ["tokens", "features", "What each token is."],
  position: ["tokens", "features", "Where each token stands."],
  type: ["tokens", "features", "Which sentence each token is in."],
  s: ["tokens", "features", "A sum of what was known, and what is added to it."],
  x: ["tokens", "features", "The tokens as they come into this layer."],
  Q: ["tokens", "features", "What each token looks for."],
  K: ["tokens", "features", "What each token can be found by."],
  V: ["tokens", "features", "What each token has to offer."],
  S: ["tokens", "tokens", "How well each token (column) fits what each token (row) looks for."],
  P: ["tokens", "tokens", "How much each token (row) looks at each token (column): a row adds up to 1."],
  C: ["tokens", "features", "What each token has found: a weighted mean of values, head beside head."],
  A: ["tokens", "features", "What attention adds to each token."],
  h: ["tokens", "features", "The tokens after attention: each knows something of the others."],
  U: ["tokens", "intermediate", "Many features of each token, before the activation."],
  G: ["tokens", "intermediate", "Of those features, what was let through."],
  F: ["tokens", "features", "What feed-forward adds to each token."],
  y: ["tokens", "features", "The tokens as they leave the last layer."],
  r: ["masked", "features", "The rows of the masked words, as they leave the last layer."],
  t: ["masked", "features", "Features of the answer, before the activation."],
  a: ["masked", "features", "Of those features, what was let through."],
  z: ["masked", "features", "What is compared with the vector of every word."],
  logits: ["masked", "vocabulary", "How well every word fits at each masked place."],
  p: ["masked", "vocabulary", "How probable the model finds every word at each masked place."],
  δ: ["one", "one", "How far one guess is ahead of another: the difference of their logits."],
  loss: ["one", "one", "How surprised the model is by the right words, on average."],
};

// By part, of which the last words count: the symbols of W and b, and what comes out, for people.
export const LINEARS = {
  query: ["Wq", "bq", "queries"],
  key: ["Wk", "bk", "keys"],
  value: ["Wv", "bv", "values"],
  "attention.output": ["Wo", "bo", "what attention adds"],
  intermediate: ["W₁", "b₁", "feed-forward, up"],
  "feed_forward.output": ["W₂", "b₂", "feed-forward, down"],
  dense: ["Wh", "bh", "features of the answer"],
};

// By symbol of what is looked up: the symbol of the table, its rows, and what is in them.
export const TABLES = {
  word: ["E", "vocabulary", "A vector for every word: as it comes in, and as an answer."],
  position: ["Eᵖ", "positions", "A vector for every place in the sentence."],
  type: ["Eˢ", "types", "A vector for the first sentence, and one for the second."],
};

export const ROADS = {
  attention: ["past attention", "through Q", "through K", "through V"],
  feed_forward: ["past feed-forward", "through feed-forward"],
};

export const subscript = (number) => String(number).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);
