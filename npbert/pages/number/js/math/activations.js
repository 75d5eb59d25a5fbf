// The activations of the feed-forward layer: y = f(x), for every number by itself.
//
// f′, the slope, is computed on the way forward, beside f, as both share what is slowest to compute. It is all that backward
// needs: dx = dy · f′(x), as each x moves its own y alone, f′(x) times as fast.

import {errorFunction} from "./erf.js";
import {add, each, exponential, plus, scaled, tanhOf, times} from "./tensor.js";
import {functionOf, term} from "./terms.js";

const GELU = {
  kind: "GELU",
  formula: (y, x) => `${y} = ${x} Φ(${x})`, // Φ: the probability that a standard normal number is smaller
  slopeFormula: "Φ(x) + x φ(x)", // the product rule; φ = Φ′
  value: (x) => times(x, normalBelow(x)),
  slope: (x) => add(normalBelow(x), times(x, normalDensity(x))),
  passes: (x) => ["Φ(x)", normalBelow(x)],
  slopeTerms: (x) => [["Φ(x)", normalBelow(x)], ["x φ(x)", times(x, normalDensity(x))]],
};

const normalBelow = (x) => plus(scaled(errorFunction(scaled(x, Math.SQRT1_2)), 0.5), 0.5);
const normalDensity = (x) => scaled(exponential(scaled(times(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));

const CUBIC = 0.044715;
const SCALE = Math.sqrt(2 / Math.PI);
const cube = (x) => times(x, times(x, x));
// tanh u  with  u = √(2/π) (x + 0.044715 x³)
const tanhInside = (x) => tanhOf(scaled(add(x, scaled(cube(x), CUBIC)), SCALE));
const tanhBelow = (x) => scaled(plus(tanhInside(x), 1), 0.5);

// ½ x (1 − tanh² u) u′
function tanhSlopeInside(x) {
  const tanh = tanhInside(x);
  const uPrime = scaled(plus(scaled(times(x, x), 3 * CUBIC), 1), SCALE);
  return scaled(times(times(x, plus(scaled(times(tanh, tanh), -1), 1)), uPrime), 0.5);
}

const TanhGELU = {
  kind: "TanhGELU",
  formula: (y, x) => `${y} = ½ ${x} (1 + tanh u),  u = √(2/π) (${x} + 0.044715 ${x}³)`,
  slopeFormula: "½ (1 + tanh u) + ½ x (1 − tanh² u) u′",
  value: (x) => times(x, tanhBelow(x)),
  slope: (x) => add(tanhBelow(x), tanhSlopeInside(x)),
  passes: (x) => ["½ (1 + tanh u)", tanhBelow(x)],
  slopeTerms: (x) => [["½ (1 + tanh u)", tanhBelow(x)], ["½ x (1 − tanh² u) u′", tanhSlopeInside(x)]],
};

const isPositive = (x) => each(x, (re) => (re > 0 ? 1 : 0), (re) => [re > 0 ? 1 : 0, 0]); // the real part decides

const ReLU = {
  kind: "ReLU",
  formula: (y, x) => `${y} = max(${x}, 0)`,
  slopeFormula: "1 where x > 0, else 0",
  value: (x) => times(x, isPositive(x)),
  slope: isPositive,
  passes: (x) => ["1 where x > 0, else 0", isPositive(x)],
  slopeTerms: (x) => [["1 where x > 0, else 0", isPositive(x)]],
};

function elementwise(activation) {
  return {
    ...activation,
    keeps: ["slope"],
    undoing: ({x, y}) => `d${x.symbol} = d${y.symbol} · f′(${x.symbol})`,

    forward({x}, _, given, isKept) {
      return {y: activation.value(x), slope: isKept ? activation.slope(x) : null};
    },

    backward({dy}, {slope}) {
      return {dx: times(dy, slope)};
    },

    explain: {
      y: ({x}, n, f) => {
        const [label, passed] = activation.passes(x.tensor);
        return {
          right: `${x.symbol}[${n}, ${f}] · ${label}`,
          terms: [term(`${x.symbol} · ${label}`, x.at(n, f), functionOf(x.at(n, f), label, passed.at(n, f)))],
          note: "How much of the number is let through: all of a large one, and next to nothing of one below zero.",
        };
      },
      slope: ({x}, n, f) => ({
        right: activation.slopeFormula,
        terms: activation.slopeTerms(x.tensor).map(([label, part]) =>
          term(label, functionOf(x.at(n, f), label, part.at(n, f)))),
        note: "The slope of the curve at this x. It is computed on the way forward, for the way back.",
      }),
      dx: ({x, y, dy, slope}, n, f) => ({
        right: `${dy.symbol}[${n}, ${f}] · f′[${n}, ${f}]`,
        terms: [term(`${dy.symbol} · f′`, slope.at(n, f), dy.at(n, f))],
        note: `Each ${x.symbol} moves its own ${y.symbol} alone, by as much as the curve is steep (f′). Where it is flat, `
          + "nothing comes back.",
      }),
    },
  };
}

const ACTIVATIONS = {gelu: elementwise(GELU), gelu_new: elementwise(TanhGELU), relu: elementwise(ReLU)};
ACTIVATIONS.gelu_pytorch_tanh = ACTIVATIONS.gelu_new;

export function activationNamed(name) {
  const names = Object.keys(ACTIVATIONS);
  if (!names.includes(name)) throw new Error(`hidden_act is ${name}, wanted one of ${names.join(", ")}`);
  return ACTIVATIONS[name];
}
