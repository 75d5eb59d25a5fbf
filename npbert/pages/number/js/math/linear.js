// Linear: y = x W + b.   x (N, I)   weight W (I, O)   bias b (1, O)   y (N, O)
//
// dW = xᵀ dy: W[i, o] moves y[n, o] in every row n, x[n, i] times as fast.
// db = Σₙ dyₙ: b[o] moves y[n, o] in every row n, as fast as itself.
// dx = dy Wᵀ: x[n, i] moves every y[n, o] of its row, W[i, o] times as fast.

import {add, product, sumOverRows, transposed} from "./tensor.js";
import {forEachColumn, forEachRow, term} from "./terms.js";

export const Linear = {
  kind: "Linear",
  keeps: ["x"],
  undoing: ({y, x, weight: {symbol: W}, bias}) =>
    `d${W} = ${x.symbol}ᵀ d${y.symbol},  d${bias.symbol} = Σₙ d${y.symbol}ₙ,  d${x.symbol} = d${y.symbol} ${W}ᵀ`,

  forward({x, weight, bias}) {
    return {y: add(product(x, weight), bias)};
  },

  backward({dy}, {x, weight}) {
    return {dweight: product(transposed(x), dy), dbias: sumOverRows(dy), dx: product(dy, transposed(weight))};
  },

  explain: {
    y: ({x, weight, bias}, n, o) => ({
      right: `Σᵢ ${x.symbol}[${n}, i] · ${weight.symbol}[i, ${o}] + ${bias.symbol}[${o}]`,
      terms: [
        ...forEachColumn(x, (i) => [x.at(n, i), weight.at(i, o)]),
        term(`the bias, ${bias.symbol}`, bias.at(0, o)),
      ],
      note: "Every feature of the row votes, and W says how much each vote counts; the bias comes on top.",
    }),
    dweight: ({x, dy}, i, o) => ({
      right: `Σₙ ${x.symbol}[n, ${i}] · ${dy.symbol}[n, ${o}]`,
      terms: forEachRow(x, (n) => [x.at(n, i), dy.at(n, o)]),
      note: "This weight is used once in every row, and moves that row's output x times as fast as itself: so it "
        + "collects x · dy from every row.",
    }),
    dbias: ({dy}, _, o) => ({
      right: `Σₙ ${dy.symbol}[n, ${o}]`,
      terms: forEachRow(dy, (n) => [dy.at(n, o)]),
      note: "The bias is added to every row, and moves each output as fast as itself: it collects dy from every row.",
    }),
    dx: ({dy, weight}, n, i) => ({
      right: `Σₒ ${dy.symbol}[${n}, o] · ${weight.symbol}[${i}, o]`,
      terms: forEachColumn(dy, (o) => [dy.at(n, o), weight.at(i, o)]),
      note: "This number votes in every output of its row, W times as fast: every dy of the row comes back, times W.",
    }),
  },
};
