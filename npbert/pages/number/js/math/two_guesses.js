// Two guesses compared: backward begins from the difference of their logits in place of the loss, so that all gradients
// say how fast this difference moves. Then, word by word: what each does for the one guess and against the other.

import {rowsAt, sumOfEachRow, sumOverRows, tensorOf, times} from "./tensor.js";
import {softmaxOf} from "./attention.js";
import {partOf} from "./explain.js";
import {CrossEntropy} from "./masked_words.js";
import {NamedArray, replayed} from "./recorder.js";
import {constant, forEachColumn, MINUS_ONE, term, totalOf} from "./terms.js";

const SIGNS = {"1": "+1: this guess is ahead", "-1": "−1: this guess is subtracted", "0": "0: neither of the two"};
// δ = logits[m, a] − logits[m, b].   logits, p (M, V)   δ (1, 1): it is the `loss` of this trace
// signs (M, V): +1 at [m, a], −1 at [m, b], 0 elsewhere
export const Difference = {
  kind: "Difference",
  keeps: [],
  undoing: () => "dlogits = +1 at the one guess, −1 at the other, 0 elsewhere",

  forward: ({logits}, _, {signs}) => ({p: softmaxOf(logits), loss: sumOverRows(sumOfEachRow(times(logits, signs)))}),
  backward: ({dloss}, _, {signs}) => ({dlogits: times(signs, dloss)}),

  explain: {
    p: CrossEntropy.explain.p,
    loss: ({logits, settings: {m, a, b}}) => ({
      right: `logits[${m}, ${a}] − logits[${m}, ${b}]`,
      terms: [term(logits.columnLabel(a), logits.at(m, a)), term(logits.columnLabel(b), MINUS_ONE, logits.at(m, b))],
    }),
    dlogits: ({dloss, settings: {signs}}, ...place) => {
      const sign = signs.at(...place);
      return {
        right: `${sign} · ${dloss.symbol}`,
        terms: [term("its part in the difference", constant(SIGNS[sign], sign), dloss.at(0, 0))],
      };
    },
  },
};

// The difference as a sum over the features: Σᵢ h[m, i] · dh[m, i] + c[a] − c[b], since dh[m, i] is E[a, i] − E[b, i].
export function byFeature({recorder, arrays}) {
  const [{inputs: {h, bias}}, {settings: {m, a, b}}] = recorder.records.slice(-2);
  return [
    ...slopeAt(h, arrays.get(h.gradient), m),
    term(`bias, ${bias.columnLabel(a)}`, bias.at(0, a)),
    term(`bias, ${bias.columnLabel(b)}`, MINUS_ONE, bias.at(0, b)),
  ];
}

const slopeAt = (x, dx, n) => forEachColumn(x, (i) => [x.at(n, i), dx.at(n, i)]);

const ByWord = {
  kind: "ByWord",
  meanings: {
    slope: "What each word brings to the difference, to first order.",
    hiding: "What the difference loses when the word is hidden.",
  },

  explain: {
    slope: ({x, dx}, n) => ({terms: slopeAt(x, dx, n)}),
    hiding: ({loss, settings: {without, mask}}, n) => ({
      right: `δ − δ with ${mask} at ${n}`,
      terms: [
        term("the difference as it is", loss.at(0, 0)),
        term(`with ${mask} in its place`, MINUS_ONE, constant("by forward, once more", without[n])),
      ],
    }),
  },
};

// Two more arrays in a trace, with a number for each token: `slope` is Σᵢ x dx of what the embeddings give, and
// `hiding` what the difference loses when the token at the hidden place (as a rule [MASK]) stands for this one, too.
export function addWords({recorder: {records, tokens}, arrays}) {
  const {outputs: {loss}, settings} = records.at(-1);
  const norm = records.find(({operation}) => operation.kind === "LayerNorm");
  const word = arrays.get("bert.embeddings.word"), x = norm.outputs.y, dx = arrays.get(x.gradient);
  const hidden = tokens.masked[settings.m];
  const without = tokens.words.map((_, n) =>
    replayed(records, word.name, rowsAt(word.tensor, tokens.words.map((_, m) => (m === n ? hidden : m)))).re[0]);
  const record = {operation: ByWord, inputs: {x, dx, loss}, outputs: {}, settings: {without, mask: tokens.words[hidden]}};
  for (const [key, meaning] of Object.entries(ByWord.meanings)) {
    const sums = tokens.words.map((_, n) => totalOf(partOf({record, key})(n, 0).terms));
    const about = {name: `words.${key}`, symbol: key, rows: "tokens", columns: "one", meaning, isGradient: true};
    const tensor = tensorOf([sums.length, 1], sums);
    arrays.set(about.name, new NamedArray({...about, gradient: null, origins: [{record, key}]}, tensor, tokens));
  }
}
