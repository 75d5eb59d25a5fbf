// Embedding: y = x[ids], where x is a table with a row for every id.   ids (N,)   x (V, D)   y (N, D)
//
// dx[v] = Σ dyₙ over all n with idsₙ = v: a row of x that was read n times collects n gradients.

import {rowsAt, scattered} from "./tensor.js";
import {term} from "./terms.js";

export const Embedding = {
  kind: "Embedding",
  keeps: [],
  keepsOf: ({ids}) => ids, // no array of the page
  undoing: ({x, y}) => `d${x.symbol}[v] += d${y.symbol}[n]  for every n whose id is v`,

  forward: ({x}, _, {ids}) => ({y: rowsAt(x, ids)}),
  backward: ({dy}, {x}, {ids}) => ({dx: scattered(dy, ids, x.rows)}),

  explain: {
    y: ({x, settings: {ids}}, n, i) => ({terms: [term(x.rowLabel(ids[n]), x.at(ids[n], i))]}),
    dx: ({dy, settings: {ids, road}}, v, i) => ({
      right: `Σ ${dy.symbol}[n, ${i}] over all n with id ${v}`,
      terms: ids.flatMap((id, n) => (id === v ? [term(dy.rowLabel(n), dy.at(n, i))] : [])),
      road,
      special: ids.includes(v) ? null : "unread",
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

// The rows of the masked words are looked up, too: only these are predicted, and the others get no gradient here.
export const Gather = {
  ...Embedding,
  kind: "Gather",
  undoing: ({x, y}) => `d${x.symbol}[rows] = d${y.symbol},  0 elsewhere`,

  explain: {...Embedding.explain, dx: (...place) => ({...Embedding.explain.dx(...place), right: null})},
};
