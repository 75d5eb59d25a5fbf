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

  forward({x}, _, {ids}) {
    return {y: rowsAt(x, ids)};
  },

  backward({dy}, {x}, {ids}) {
    return {dx: scattered(dy, ids, x.rows)};
  },

  explain: {
    y: ({x, settings: {ids}}, n, i) => ({
      terms: [term(x.rowLabel(ids[n]), x.at(ids[n], i))],
      note: "Looked up: the row of the table that this token’s id names.",
    }),
    dx: ({dy, settings: {ids, road}}, v, i) => ({
      right: `Σ ${dy.symbol}[n, ${i}] over all n with id ${v}`,
      terms: ids.flatMap((id, n) => (id === v ? [term(dy.rowLabel(n), dy.at(n, i))] : [])),
      road,
      note: ids.includes(v)
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

// The rows of the masked words are looked up, too: only these are predicted, and the others get no gradient here.
export const Gather = {
  ...Embedding,
  kind: "Gather",
  undoing: ({x, y}) => `d${x.symbol}[rows] = d${y.symbol},  0 elsewhere`,

  explain: {
    y: (...place) => ({...Embedding.explain.y(...place), note: "The row of a masked word, as it is."}),
    dx: (arrays, n, i) => ({
      ...Embedding.explain.dx(arrays, n, i),
      right: null,
      note: arrays.settings.ids.includes(n)
        ? "This row is read by the head, so its gradient comes back as it is."
        : "Nothing is predicted at this token, so the head does not read its row, and nothing comes back to it here.",
    }),
  },
};
