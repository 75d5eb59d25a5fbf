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
    `d${W} = ${x.symbol}ᵀ d${y.symbol},  d${bias.symbol} = Σₙ d${y.symbol}ₙ,  ${x.gradientSymbol} = d${y.symbol} ${W}ᵀ`,

  forward: ({x, weight, bias}) => ({y: add(product(x, weight), bias)}),

  backward({dy}, {x, weight}) {
    return {dweight: product(transposed(x), dy), dbias: sumOverRows(dy), dx: product(dy, transposed(weight))};
  },

  explain: {
    y: ({x, weight, bias}, n, o) => ({
      terms: [
        ...forEachColumn(x, (i) => [x.at(n, i), weight.at(i, o)]),
        term(`the bias, ${bias.symbol}`, bias.at(0, o)),
      ],
    }),
    dweight: ({x, dy}, i, o) => ({terms: forEachRow(x, (n) => [x.at(n, i), dy.at(n, o)])}),
    dbias: ({dy}, _, o) => ({terms: forEachRow(dy, (n) => [dy.at(n, o)])}),
    dx: ({dy, weight}, n, i) => ({terms: forEachColumn(dy, (o) => [dy.at(n, o), weight.at(i, o)])}),
  },
};
