// Attention in three steps, for each head by itself:  S = Q Kᵀ/√d,  P = softmax(S),  C = P V.
//
// q, k, v, c (T, D): each head has its own d = D / H columns of them.   S, P (T, T): a row looks, a column is looked at
//
// A product hands each factor the gradient times the other factor, transposed so that the shapes fit; and 1/√d stands
// in the gradients of both Q and K.

import {eachHead} from "./heads.js";
import {divide, exponential, largestOfEachRow, product, scaled, subtract, sumOfEachRow, times, transposed} from "./tensor.js";
import {constant, forEachColumn, forEachRow, functionOf, MINUS_ONE, range, term} from "./terms.js";

const overRoot = (d) => constant("1/√d", 1 / Math.sqrt(d));

export const Scores = {
  kind: "Scores",
  keeps: ["q", "k"],
  undoing: ({q, k}) => `d${q.symbol} = dS K/√d,  d${k.symbol} = dSᵀ Q/√d`,

  forward: eachHead(({q, k}) => ({s: scaled(product(q, transposed(k)), overRoot(q.columns).value)})),

  backward: eachHead(({ds}, {q, k}) => {
    const share = scaled(ds, overRoot(q.columns).value);
    return {dq: product(share, k), dk: product(transposed(share), q)};
  }),

  explain: {
    s: ({q, k, own}, n, m) => ({terms: forEachColumn(q, (i) => [q.at(n, i), k.at(m, i), overRoot(own.length)], own)}),
    dq: ({ds, k, own}, n, i) => ({terms: forEachColumn(ds, (m) => [ds.at(n, m), k.at(m, i), overRoot(own.length)])}),
    dk: ({ds, q, own}, m, i) => ({terms: forEachRow(ds, (n) => [ds.at(n, m), q.at(n, i), overRoot(own.length)])}),
  },
};

// pⱼ = e^(sⱼ) / Σₖ e^(sₖ) along each row. Raising an s raises its own p, and takes from all others, so that the sum
// stays 1:  ds = p · (dp − Σₖ dpₖ pₖ)
export const Softmax = {
  kind: "Softmax",
  keeps: ["p"],
  undoing: () => "dS = P · (dP − Σₖ dPₖ Pₖ)",
  workings: {
    lean: {symbol: (head) => `Σ dP${head} · P${head}`, meaning: "The mean of dP over the row, weighted by P."},
  },

  forward: eachHead(({s}) => ({p: softmaxOf(s)})),

  backward: eachHead(({dp}, {p}) => {
    const lean = sumOfEachRow(times(dp, p));
    return {lean, ds: times(p, subtract(dp, lean))};
  }),

  explain: {
    p: ({s}, n, m) => shareOf(s, n, m, "S", "S"),
    lean: ({p, dp}, n) => ({terms: forEachColumn(p, (k) => [dp.at(n, k), p.at(n, k)])}),
    ds: ({p, dp, lean}, n, m) => ({
      right: `${p.symbol}[${n}, ${m}] · (${dp.symbol}[${n}, ${m}] − Σₖ ${dp.symbol}[${n}, k] ${p.symbol}[${n}, k])`,
      terms: [
        term("its own share grows", p.at(n, m), dp.at(n, m)),
        term("all shares of the row shrink", MINUS_ONE, p.at(n, m), lean.at(n, 0)),
      ],
      roads: true,
    }),
  },
};

export function softmaxOf(x) {
  const exponentials = exponential(subtract(x, largestOfEachRow(x)));
  return divide(exponentials, sumOfEachRow(exponentials));
}

// One number of softmax(scores). The largest score is why e^0 = 1 stands where a reader expects e^S.
export function shareOf(scores, n, m, name, symbol) {
  const row = range(scores.tensor.columns, (k) => scores.tensor.at(n, k));
  const largest = Math.max(...row);
  const total = row.reduce((sum, score) => sum + Math.exp(score - largest), 0);
  const raised = functionOf(scores.at(n, m), `e^(${symbol} − max)`, Math.exp(row[m] - largest));
  return {
    right: `e^(${name}[${n}, ${m}] − max) / Σₖ e^(${name}[${n}, k] − max)`,
    terms: [term(scores.columnLabel(m), raised, constant(`1/Σ e^(${symbol} − max)`, 1 / total))],
    largest: largest.toPrecision(5),
  };
}

export const WeightedMean = {
  kind: "WeightedMean",
  keeps: ["p", "v"],
  undoing: ({v}) => `d${v.symbol} = Pᵀ dC,  dP = dC Vᵀ`,

  forward: eachHead(({p, v}) => ({c: product(p, v)})),

  backward: eachHead(({dc}, {p, v}) => ({dv: product(transposed(p), dc), dp: product(dc, transposed(v))})),

  explain: {
    c: ({p, v}, n, i) => ({
      right: `Σₙ ${p.symbol}[${n}, n] · V[n, ${i}]`,
      terms: forEachColumn(p, (m) => [v.at(m, i), p.at(n, m)]),
    }),
    dv: ({p, dc}, m, i) => ({terms: forEachRow(dc, (n) => [p.at(n, m), dc.at(n, i)])}),
    dp: ({v, dc, own}, n, m) => ({terms: forEachColumn(v, (i) => [dc.at(n, i), v.at(m, i)], own)}),
  },
};
