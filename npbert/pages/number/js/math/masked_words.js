// From the last hidden state of the masked words to the loss: they are scored against every word, and compared with what
// was hidden there.

import {add, divide, exponential, largestOfEachRow, logarithm, oneHot, product, scaled, subtract, sumOfEachRow, sumOverRows, times, transposed} from "./tensor.js";
import {shareOf} from "./attention.js";
import {constant, forEachColumn, forEachRow, functionOf, term} from "./terms.js";

// logits = h Eᵀ + c: the score of a word is the dot product with its own vector in the table of the embeddings.
// h (M, D)   table E (V, D)   bias c (1, V)   logits (M, V)
export const Decoder = {
  kind: "Decoder",
  keeps: ["h"],
  undoing: ({h, table: {symbol: E}, bias}) =>
    `d${E} += dlogitsᵀ ${h.symbol},  d${bias.symbol} = Σₘ dlogitsₘ,  d${h.symbol} = dlogits ${E}`,

  forward: ({h, table, bias}) => ({logits: add(product(h, transposed(table)), bias)}),

  backward({dlogits}, {h, table}) {
    return {dtable: product(transposed(dlogits), h), dbias: sumOverRows(dlogits), dh: product(dlogits, table)};
  },

  explain: {
    logits: ({h, table, bias}, m, v) => ({
      terms: [
        ...forEachColumn(h, (i) => [h.at(m, i), table.at(v, i)]),
        term(`the bias, ${bias.symbol}`, bias.at(0, v)),
      ],
    }),
    dtable: ({h, dlogits}, v, i) => ({
      terms: forEachRow(h, (m) => [h.at(m, i), dlogits.at(m, v)]),
      road: "as an answer",
    }),
    dbias: ({dlogits}, _, v) => ({terms: forEachRow(dlogits, (m) => [dlogits.at(m, v)])}),
    dh: ({dlogits, table}, m, i) => ({terms: forEachColumn(dlogits, (v) => [dlogits.at(m, v), table.at(v, i)])}),
  },
};

// loss = mean over the masked words of −ln p[label]  with  p = softmax(logits).   logits, p (M, V)   loss (1, 1)
export const CrossEntropy = {
  kind: "CrossEntropy",
  keeps: ["p"],
  undoing: () => "dlogits = (p − onehot(label)) / M",

  forward({logits}, given, {labels}) {
    const ofLabel = (x) => sumOfEachRow(times(x, oneHot(labels, x.columns))); // (M, V) → (M, 1)
    const centred = subtract(logits, largestOfEachRow(logits));
    const total = sumOfEachRow(exponential(centred)); // (M, 1)
    const p = given.p ?? divide(exponential(centred), total);
    const logP = given.p ? logarithm(ofLabel(p)) : subtract(ofLabel(centred), logarithm(total)); // ln p, where p is 0, too
    return {p, loss: scaled(sumOverRows(logP), -1 / labels.length)};
  },

  backward({dloss}, {p}, {labels}) {
    return {dlogits: scaled(subtract(p, oneHot(labels, p.columns)), dloss.re[0] / labels.length)};
  },

  explain: {
    p: ({logits}, m, v) => shareOf(logits, m, v, "logits", "logit"),
    loss: ({p, settings}) => ({
      right: "Σₘ −ln p[m, label] / M",
      terms: settings.labels.map((label, m) => {
        const right = p.at(m, label);
        const surprise = functionOf(right, "−ln p", -Math.log(right.value));
        return term(p.rowLabel(m), surprise, constant("1/M", 1 / settings.labels.length));
      }),
    }),
    dlogits: ({p, dloss, settings}, m, v) => {
      const M = settings.labels.length, isLabel = settings.labels[m] === v;
      const start = dloss.at(0, 0);
      const pulls = isLabel ? constant("−1: this is the right word", -1) : constant("0: this is not the right word", 0);
      return {
        right: `(p[${m}, ${v}] − ${isLabel ? 1 : 0}) / M`,
        terms: [
          term("what the model believes", p.at(m, v), constant("1/M", 1 / M), start),
          term("what is right", pulls, constant("1/M", 1 / M), start),
        ],
      };
    },
  },
};
