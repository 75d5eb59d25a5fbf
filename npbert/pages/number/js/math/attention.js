// Attention in three steps, for each head by itself:  S = Q Kᵀ/√d,  P = softmax(S),  C = P V.
//
// q, k, v, c (T, D): each head has its own d = D / H columns of them.   S, P (T, T): a row looks, a column is looked at
//
// A product hands each factor the gradient times the other factor, transposed so that the shapes fit; and 1/√d stands
// in the gradients of both Q and K.

import {columnsOf, divide, exponential, largestOfEachRow, product, scaled, sideBySide, subtract, sumOfEachRow, times, transposed} from "./tensor.js";
import {constant, forEachColumn, forEachRow, functionOf, range, term} from "./terms.js";

export const headOf = (x, h, heads) => columnsOf(x, h * x.columns / heads, x.columns / heads);
const rootOf = (array, settings) => Math.sqrt(array.tensor.columns / settings.heads);

export const Scores = {
  kind: "Scores",
  keeps: ["q", "k"],
  undoing: ({q, k}) => `d${q.symbol} = dS K/√d,  d${k.symbol} = dSᵀ Q/√d`,

  forward({q, k}, {heads}) {
    const root = Math.sqrt(q.columns / heads);
    return Object.fromEntries(range(heads, (h) =>
      [`s${h}`, scaled(product(headOf(q, h, heads), transposed(headOf(k, h, heads))), 1 / root)]));
  },

  backward(dscores, {q, k}, {heads}) {
    const root = Math.sqrt(q.columns / heads);
    const ds = range(heads, (h) => scaled(dscores[`ds${h}`], 1 / root));
    return {
      dq: sideBySide(ds.map((dsHere, h) => product(dsHere, headOf(k, h, heads)))),
      dk: sideBySide(ds.map((dsHere, h) => product(transposed(dsHere), headOf(q, h, heads)))),
    };
  },

  explain: {
    s: ({q, k, settings}, n, m, h) => {
      const d = q.tensor.columns / settings.heads;
      return {
        right: `Σᵢ Q[${n}, i] · K[${m}, i] / √d`,
        terms: range(d, (i) => h * d + i).map((i) =>
          term(q.columnLabel(i), q.at(n, i), k.at(m, i), constant("1/√d", 1 / Math.sqrt(d)))),
        note: "How well the key of one token fits the query of another: their dot product, within this head.",
      };
    },
    dq: (arrays, n, i) => {
      const {q, k, settings} = arrays;
      const ds = arrays[`ds${headAt(q, i, settings)}`];
      return {
        right: `Σₙ ${ds.symbol}[${n}, n] · K[n, ${i}] / √d`,
        terms: forEachColumn(ds, (m) => [ds.at(n, m), k.at(m, i), constant("1/√d", 1 / rootOf(q, settings))]),
        note: "A query meets the key of every token: so every score of its row comes back, times that key.",
      };
    },
    dk: (arrays, m, i) => {
      const {q, settings} = arrays;
      const ds = arrays[`ds${headAt(q, i, settings)}`];
      return {
        right: `Σₙ ${ds.symbol}[n, ${m}] · Q[n, ${i}] / √d`,
        terms: forEachRow(ds, (n) => [ds.at(n, m), q.at(n, i), constant("1/√d", 1 / rootOf(q, settings))]),
        note: "A key meets the query of every token: so every score of its column comes back, times that query.",
      };
    },
  },
};

const headAt = (array, column, settings) => Math.floor(column * settings.heads / array.tensor.columns);

// pⱼ = e^(sⱼ) / Σₖ e^(sₖ) along each row. Raising an s raises its own p, and takes from all others, so that the sum
// stays 1:  ds = p · (dp − Σₖ dpₖ pₖ)
export const Softmax = {
  kind: "Softmax",
  keeps: ["p"],
  undoing: () => "dS = P · (dP − Σₖ dPₖ Pₖ)",
  workings: {
    lean: {symbol: (head) => `Σ dP${head} · P${head}`, meaning: "The mean of dP over the row, weighted by P."},
  },

  forward(scores, {heads}) {
    return Object.fromEntries(range(heads, (h) => [`p${h}`, softmaxOf(scores[`s${h}`])]));
  },

  backward(dps, arrays, {heads}) {
    const gradients = {};
    for (let h = 0; h < heads; h++) {
      const p = arrays[`p${h}`], dp = dps[`dp${h}`];
      const lean = sumOfEachRow(times(dp, p));
      gradients[`lean${h}`] = lean;
      gradients[`ds${h}`] = times(p, subtract(dp, lean));
    }
    return gradients;
  },

  explain: {
    p: (arrays, n, m, h) => {
      const s = arrays[`s${h}`];
      const row = range(s.tensor.columns, (k) => s.tensor.at(n, k));
      const largest = Math.max(...row);
      const total = row.reduce((sum, score) => sum + Math.exp(score - largest), 0);
      const raised = functionOf(s.at(n, m), "e^(S − max)", Math.exp(s.tensor.at(n, m) - largest));
      return {
        right: `e^(S[${n}, ${m}] − max) / Σₖ e^(S[${n}, k] − max)`,
        terms: [term(s.columnLabel(m), raised, constant("1/Σ e^(S − max)", 1 / total))],
        note: `Its share of the row’s exponentials: the row adds up to 1. ${subtracted(largest, "S")}`,
      };
    },
    lean: (arrays, n, _, h) => {
      const p = arrays[`p${h}`], dp = arrays[`dp${h}`];
      return {
        right: `Σₙ ${dp.symbol}[${n}, n] · ${p.symbol}[${n}, n]`,
        terms: forEachColumn(p, (k) => [p.at(n, k), dp.at(n, k)]),
        note: "What all shares of the row would gain on average: a score that is raised takes this from them.",
      };
    },
    ds: (arrays, n, m, h) => {
      const p = arrays[`p${h}`], dp = arrays[`dp${h}`], lean = arrays[`lean${h}`];
      return {
        right: `${p.symbol}[${n}, ${m}] · (${dp.symbol}[${n}, ${m}] − Σₖ ${dp.symbol}[${n}, k] ${p.symbol}[${n}, k])`,
        terms: [
          term("its own share grows", p.at(n, m), dp.at(n, m)),
          term("all shares of the row shrink", constant("−1", -1), p.at(n, m), lean.at(n, 0)),
        ],
        roads: true,
        note: "Two roads: a higher score raises its own share, and takes from all shares of its row.",
      };
    },
  },
};

// Why e^0 = 1 stands where a reader expects e^S.
export const subtracted = (largest, symbol) =>
  `(The largest ${symbol} of the row, ${largest.toPrecision(5)}, is subtracted from all of them first: that changes no `
  + "share, and no exponential can overflow.)";

export function softmaxOf(x) {
  const exponentials = exponential(subtract(x, largestOfEachRow(x)));
  return divide(exponentials, sumOfEachRow(exponentials));
}

export const WeightedMean = {
  kind: "WeightedMean",
  keeps: ["p", "v"],
  undoing: ({v}) => `d${v.symbol} = Pᵀ dC,  dP = dC Vᵀ`,

  forward(inputs, {heads}) {
    return {c: sideBySide(range(heads, (h) => product(inputs[`p${h}`], headOf(inputs.v, h, heads))))};
  },

  backward({dc}, arrays, {heads}) {
    const dcs = range(heads, (h) => headOf(dc, h, heads));
    const gradients = {dv: sideBySide(dcs.map((dcHere, h) => product(transposed(arrays[`p${h}`]), dcHere)))};
    dcs.forEach((dcHere, h) => { gradients[`dp${h}`] = product(dcHere, transposed(headOf(arrays.v, h, heads))); });
    return gradients;
  },

  explain: {
    c: (arrays, n, i) => {
      const {v, settings} = arrays;
      const p = arrays[`p${headAt(v, i, settings)}`];
      return {
        right: `Σₙ ${p.symbol}[${n}, n] · V[n, ${i}]`,
        terms: forEachColumn(p, (m) => [v.at(m, i), p.at(n, m)]),
        note: "A mean of what all tokens offer, weighted by how much this token looks at each.",
      };
    },
    dv: (arrays, m, i) => {
      const {dc, v, settings} = arrays;
      const p = arrays[`p${headAt(v, i, settings)}`];
      return {
        right: `Σₙ ${p.symbol}[n, ${m}] · ${dc.symbol}[n, ${i}]`,
        terms: forEachRow(dc, (n) => [p.at(n, m), dc.at(n, i)]),
        note: "What a token offers is taken by every token that looks at it: each brings back its dC, times how "
          + "much it looked.",
      };
    },
    dp: ({v, dc, settings}, n, m, h) => {
      const d = v.tensor.columns / settings.heads;
      return {
        right: `Σᵢ ${dc.symbol}[${n}, i] · V[${m}, i]`,
        terms: range(d, (i) => h * d + i).map((i) => term(v.columnLabel(i), v.at(m, i), dc.at(n, i))),
        note: "Looking a little more at a token would bring in more of its V: how much that is worth, dC says.",
      };
    },
  },
};
