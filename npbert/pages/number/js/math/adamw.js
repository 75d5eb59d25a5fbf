// AdamW: one step of training. Every parameter w gets new values of its gradient g, each number by itself:
//
// m = β₁ m before + (1 − β₁) clip g,   v = β₂ v before + (1 − β₂) (clip g)²,   m̂ = m / (1 − β₁ᵗ),   v̂ = v / (1 − β₂ᵗ)
// Δ = decay − lr m̂ / (√v̂ + eps),   new = w + Δ,   decay = −lr λ w, for matrices alone
// clip = min(1, max_grad_norm / (‖g‖ + 1e-6)),   ‖g‖ = √Σ g² over all parameters
//
// (Kingma & Ba 2015; Loshchilov & Hutter 2019; Pascanu et al. 2013.)

import {add, divide, plus, scaled, squareRoot, subtract, sumOfSquares, tensorOf, times} from "./tensor.js";
import {constant, functionOf, term} from "./terms.js";

const SMALLEST_NORM = 1e-6; // beside ‖g‖, as in npbert's clip_factor

export const AdamW = {
  kind: "AdamW",
  formula: "new = w − lr λ w − lr m̂ / (√v̂ + eps)  with  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ),  "
    + "m = β₁ m before + (1 − β₁) clip g,  v = β₂ v before + (1 − β₂) (clip g)²",

  forward({w, g, m_before, v_before, clip}, {t, lr, betas: [beta1, beta2], eps, lambda}) {
    const g_left = scaled(g, clip.re[0]);
    const m = add(scaled(m_before, beta1), scaled(g_left, 1 - beta1));
    const v = add(scaled(v_before, beta2), scaled(times(g_left, g_left), 1 - beta2));
    const m_hat = scaled(m, 1 / (1 - beta1 ** t)), v_hat = scaled(v, 1 / (1 - beta2 ** t));
    const decay = scaled(w, -lr * lambda);
    const delta = subtract(decay, scaled(divide(m_hat, plus(squareRoot(v_hat), eps)), lr));
    return {m, v, m_hat, v_hat, decay, delta, new: add(w, delta)};
  },

  explain: {
    g: ({dw, settings: {batch}}, row, column) => ({
      right: `Σ share · ${dw.symbol} over the sentences of the batch`,
      terms: batch().map((sentence) => ofSentence(sentence, dw, row, column)),
      special: batch().some(({isShown}) => isShown) ? null : "elsewhere",
    }),
    m_before: ({m_before, settings}, ...place) => remembered(m_before.at(...place), settings),
    v_before: ({v_before, settings}, ...place) => remembered(v_before.at(...place), settings),
    m: ({g, m_before, clip, settings: {betas: [beta]}}, ...place) => ({
      right: "β₁ · m before + (1 − β₁) · clip · g",
      terms: mixed("β₁", beta, m_before.at(...place), g.at(...place), clip.at(0, 0)),
    }),
    v: ({g, v_before, clip, settings: {betas: [, beta]}}, ...place) => ({
      right: "β₂ · v before + (1 − β₂) · (clip · g)²",
      terms: mixed("β₂", beta, v_before.at(...place), squareOf(g.at(...place), "g²"), squareOf(clip.at(0, 0), "clip²")),
    }),
    m_hat: ({m, settings}, ...place) => corrected(m, m.at(...place), "β₁", settings.betas[0], settings.t),
    v_hat: ({v, settings}, ...place) => corrected(v, v.at(...place), "β₂", settings.betas[1], settings.t),
    decay: ({w, settings: {lr, lambda}}, ...place) => ({
      right: `−lr · λ · ${w.symbol}`,
      terms: [term("a pull towards 0", constant("−lr", -lr), constant("λ", lambda), w.at(...place))],
      special: lambda ? null : "none",
    }),
    delta: (arrays, ...place) => ({
      right: "decay − lr · m̂ / (√v̂ + eps)",
      terms: moves(arrays, place),
      special: atFirst(arrays.settings),
    }),
    new: (arrays, ...place) => ({
      right: `${arrays.w.symbol} + decay − lr · m̂ / (√v̂ + eps)`,
      terms: [term("old", arrays.w.at(...place)), ...moves(arrays, place)],
      special: atFirst(arrays.settings),
    }),
    norm: ({norm, settings: {next}}) => ({
      right: "Σ g² / ‖g‖",
      terms: [...next().made].map(([name, {g}]) => ofParameter(name, g, norm.at(0, 0))),
    }),
    clip: ({norm, clip, settings: {max_grad_norm: most}}) => {
      const length = norm.at(0, 0), isClipped = clip.at(0, 0).value < 1;
      const share = functionOf(length, "1/(‖g‖ + 1e−6)", 1 / (length.value + SMALLEST_NORM));
      return {
        right: "min(1, max_grad_norm / (‖g‖ + 1e−6))",
        terms: [isClipped ? term("scaled down", constant("max_grad_norm", most), share)
          : term("left as it is", functionOf(length, "1", 1))],
        special: isClipped ? "less" : null,
      };
    },
  },
};

// ‖g‖, the root of the squares of all gradients, and how much of them is left where it may be no more than `most`
export function normAndClip(squares, most) {
  const norm = Math.sqrt(squares);
  return {norm: tensorOf([1], [norm]), clip: tensorOf([1], [Math.min(1, most / (norm + SMALLEST_NORM))])};
}

const mixed = (sign, beta, before, ...factors) => [
  term("what it remembers", constant(sign, beta), before),
  term("what is new", constant(`1 − ${sign}`, 1 - beta), ...factors),
];

const squareOf = (cell, label) => functionOf(cell, label, cell.value ** 2);

// What one sentence brings. Where it is not the one on top, its gradient is a number of another trace.
function ofSentence({example, share, trace, isShown}, dw, row, column) {
  const {value} = trace.arrays.get(dw.name).at(row, column);
  const gradient = isShown ? dw.at(row, column) : constant(dw.symbol, value);
  const brought = term(`“${example.text}”`, constant("share", share), gradient);
  return isShown ? brought : {...brought, goes: {name: dw.name, row, column, example}};
}

// What one parameter brings to ‖g‖; it leads to the largest number of its gradient.
function ofParameter(name, {re, columns}, length) {
  const largest = re.reduce((best, value, i) => (Math.abs(value) > Math.abs(re[best]) ? i : best), 0);
  const goes = {name: `g(${name})`, row: Math.floor(largest / columns), column: largest % columns};
  const share = functionOf(length, "1/‖g‖", 1 / (length.value || 1));
  return {...term(name, constant("Σ g²", sumOfSquares(re)), share), goes};
}

const atFirst = ({t}) => (t === 1 ? "first" : null);

const remembered = ({value}, {t}) => ({
  right: t === 1 ? "0" : `what step ${t - 1} left`,
  terms: [term("remembered", constant(t === 1 ? "nothing yet" : `of ${t - 1} steps`, value))],
  special: atFirst({t}),
});

const corrected = ({symbol}, cell, power, beta, t) => ({
  right: `${symbol} / (1 − ${power}ᵗ)`,
  terms: [term("made up for the start", cell, constant(`1/(1 − ${power}^${t})`, 1 / (1 - beta ** t)))],
  special: atFirst({t}),
});

const moves = ({m_hat, v_hat, decay, settings: {lr, eps}}, place) => [
  term("decay", decay.at(...place)),
  term("against the gradient", constant("−lr", -lr), m_hat.at(...place),
    functionOf(v_hat.at(...place), "1/(√v̂ + eps)", 1 / (Math.sqrt(v_hat.at(...place).value) + eps))),
];
