// From the last hidden state to the loss: the masked rows are gathered, scored against every word, and compared with
// what was hidden there.

import {add, divide, exponential, largestOfEachRow, logarithm, product, rowsAt, scaled, scattered, subtract, sumOfEachRow, sumOverRows, Tensor, transposed} from "./tensor.js";
import {shareOf} from "./attention.js";
import {constant, forEachColumn, forEachRow, functionOf, term} from "./terms.js";

// y = x[rows]: only the masked words are predicted. The other rows get no gradient here.
export const Gather = {
  kind: "Gather",
  keeps: [],
  keepsOf: ({rows}) => rows, // no array of the page
  undoing: ({x, y}) => `d${x.symbol}[rows] = d${y.symbol},  0 elsewhere`,

  forward({x}, _, {rows}) {
    return {y: rowsAt(x, rows)};
  },

  backward({dy}, {x}, {rows}) {
    return {dx: scattered(dy, rows, x.rows)};
  },

  explain: {
    y: ({x, settings}, m, i) => ({
      terms: [term(x.rowLabel(settings.rows[m]), x.at(settings.rows[m], i))],
      note: "The row of a masked word, as it is.",
    }),
    dx: ({dy, settings}, n, i) => ({
      terms: settings.rows.flatMap((row, m) => (row === n ? [term(dy.rowLabel(m), dy.at(m, i))] : [])),
      note: settings.rows.includes(n)
        ? "This row is read by the head, so its gradient comes back as it is."
        : "Nothing is predicted at this token, so the head does not read its row, and nothing comes back to it here.",
    }),
  },
};

// logits = h Eᵀ + c: the score of a word is the dot product with its own vector in the table of the embeddings.
// h (M, D)   table E (V, D)   bias c (1, V)   logits (M, V)
export const Decoder = {
  kind: "Decoder",
  keeps: ["h"],
  undoing: ({h, table: {symbol: E}, bias}) =>
    `d${E} += dlogitsᵀ ${h.symbol},  d${bias.symbol} = Σₘ dlogitsₘ,  d${h.symbol} = dlogits ${E}`,

  forward({h, table, bias}) {
    return {logits: add(product(h, transposed(table)), bias)};
  },

  backward({dlogits}, {h, table}) {
    return {dtable: product(transposed(dlogits), h), dbias: sumOverRows(dlogits), dh: product(dlogits, table)};
  },

  explain: {
    logits: ({h, table, bias}, m, v) => ({
      terms: [
        ...forEachColumn(h, (i) => [h.at(m, i), table.at(v, i)]),
        term(`the bias, ${bias.symbol}`, bias.at(0, v)),
      ],
      note: "How well the row fits the word’s own vector, the one by which the word comes in.",
    }),
    dtable: ({h, dlogits}, v, i) => ({
      terms: forEachRow(h, (m) => [h.at(m, i), dlogits.at(m, v)]),
      road: "as an answer",
      note: "The table is used twice, and collects from both uses. As the answers that a masked word is compared with, every "
        + "row gets something.",
    }),
    dbias: ({dlogits}, _, v) => ({
      terms: forEachRow(dlogits, (m) => [dlogits.at(m, v)]),
      note: "The bias of a word is added to its score at every masked word.",
    }),
    dh: ({dlogits, table}, m, i) => ({
      terms: forEachColumn(dlogits, (v) => [dlogits.at(m, v), table.at(v, i)]),
      note: "The row is compared with every word: the right one pulls, every other pushes, as much as it is believed.",
    }),
  },
};

// loss = mean over the masked words of −ln p[label]  with  p = softmax(logits).   logits, p (M, V)   loss (1, 1)
export const CrossEntropy = {
  kind: "CrossEntropy",
  keeps: ["p"],
  undoing: () => "dlogits = (p − onehot(label)) / M",

  forward({logits}, given, {labels}) {
    const centred = subtract(logits, largestOfEachRow(logits));
    const total = sumOfEachRow(exponential(centred)); // (M, 1)
    const p = given.p ?? divide(exponential(centred), total);
    const logP = given.p ? logarithm(p) : subtract(centred, logarithm(total)); // a p may be 0, which has no logarithm
    const M = labels.length;
    const loss = new Tensor(1, 1, logP.im !== null);
    labels.forEach((label, m) => {
      loss.re[0] -= logP.re[m * logP.columns + label] / M;
      if (loss.im) loss.im[0] -= logP.im[m * logP.columns + label] / M;
    });
    return {p, loss};
  },

  backward({dloss}, {p}, {labels}) {
    const share = dloss.re[0] / labels.length;
    const dlogits = scaled(p, share);
    labels.forEach((label, m) => { dlogits.re[m * p.columns + label] -= share; });
    return {dlogits};
  },

  explain: {
    p: ({logits}, m, v) => shareOf(logits, m, v, "logits", "logit",
      "Its share of the row’s exponentials: how probable the model finds this word here."),
    loss: ({p, settings}) => ({
      right: "Σₘ −ln p[m, label] / M",
      terms: settings.labels.map((label, m) => {
        const right = p.at(m, label);
        const surprise = functionOf(right, "−ln p", -Math.log(right.value));
        return term(p.rowLabel(m), surprise, constant("1/M", 1 / settings.labels.length));
      }),
      note: "How surprised the model is by the right words, on average: 0 if it was certain of each of them.",
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
        note: "A step against it pulls up the right word by 1 minus its probability, and pushes down every other by its "
          + "own probability.",
      };
    },
  },
};
