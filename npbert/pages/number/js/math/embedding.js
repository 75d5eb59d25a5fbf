// Embedding: y = W[ids].   ids (N,)   weight W (V, D)   y (N, D)
//
// dW[v] = Σ dyₙ over all n with idsₙ = v: a row of W that was read n times collects n gradients.

import {rowsAt, scattered} from "./tensor.js";
import {term} from "./terms.js";

export const Embedding = {
  kind: "Embedding",
  keeps: [],
  keepsOf: ({ids}) => ids, // no array of the page
  undoing: ({weight, y}) => `d${weight.symbol}[v] += d${y.symbol}[n]  for every n whose id is v`,

  forward({weight}, _, {ids}) {
    return {y: rowsAt(weight, ids)};
  },

  backward({dy}, {weight}, {ids}) {
    return {dweight: scattered(dy, ids, weight.rows)};
  },

  explain: {
    y: ({weight, settings}, n, i) => ({
      terms: [term(weight.rowLabel(settings.ids[n]), weight.at(settings.ids[n], i))],
      note: "Looked up: the row of the table that this token’s id names.",
    }),
    dweight: ({dy, settings}, v, i) => ({
      right: `Σ ${dy.symbol}[n, ${i}] over all n with id ${v}`,
      terms: settings.ids.flatMap((id, n) =>
        (id === v ? [term(dy.rowLabel(n), dy.at(n, i))] : [])),
      road: settings.road,
      note: settings.ids.includes(v)
        ? "A row of the table moves every token that used it, so it collects the gradient of each."
        : "No token that comes in has this id (a hidden word comes in as [MASK]), so none brings anything back to it.",
    }),
  },
};

// Positions that are not learned: a fixed table of sines and cosines.
export const FixedPositions = {
  ...Embedding,
  kind: "SinusoidalPositions",
  keepsOf: () => [],
  undoing: () => "nothing: the table is fixed",
  backward: () => ({}),
};
