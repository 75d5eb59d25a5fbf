// The activations of the feed-forward layer: y = x s(x), for every number by itself. s says how much is let through.
//
// The slope y′ = s + x s′ (the product rule) is computed on the way forward. It is all that backward needs:
// dx = dy · y′, as each x moves its own y alone, y′ times as fast.

import {errorFunction} from "./erf.js";
import {add, each, exponential, plus, scaled, tanhOf, tensorOf, times} from "./tensor.js";
import {functionOf, term} from "./terms.js";

const normalBelow = (x) => plus(scaled(errorFunction(scaled(x, Math.SQRT1_2)), 0.5), 0.5);
const normalDensity = (x) => scaled(exponential(scaled(times(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));

const CUBIC = 0.044715;
const SCALE = Math.sqrt(2 / Math.PI);
// tanh u  with  u = √(2/π) (x + 0.044715 x³)
const tanhInside = (x) => tanhOf(scaled(times(x, plus(scaled(times(x, x), CUBIC), 1)), SCALE));

// ½ x (1 − tanh² u) u′
function tanhSlopeInside(x) {
  const tanh = tanhInside(x);
  const uPrime = scaled(plus(scaled(times(x, x), 3 * CUBIC), 1), SCALE);
  return scaled(times(times(x, plus(scaled(times(tanh, tanh), -1), 1)), uPrime), 0.5);
}

const isPositive = (x) => each(x, (re) => [re > 0 ? 1 : 0, 0]); // the real part decides

// slope: its terms, of which the first is s
function elementwise(kind, formula, slope) {
  const [[label, share]] = slope;
  return {
    kind,
    formula,
    keeps: ["slope"],
    undoing: ({x, y}) => `d${x.symbol} = d${y.symbol} · f′(${x.symbol})`,

    forward({x}) {
      const [passed, ...rest] = slope.map(([, of]) => of(x));
      return {y: times(x, passed), slope: rest.reduce(add, passed)};
    },

    backward: ({dy}, {slope: steepness}) => ({dx: times(dy, steepness)}),

    explain: {
      y: ({x}, n, f) => ({terms: [term(`${x.symbol} · ${label}`, x.at(n, f), partAt(x.at(n, f), label, share))]}),
      slope: ({x}, n, f) => ({terms: slope.map(([name, of]) => term(name, partAt(x.at(n, f), name, of)))}),
      dx: ({x, y, dy, slope: steepness}, n, f) => ({
        right: `${dy.symbol}[${n}, ${f}] · f′[${n}, ${f}]`,
        terms: [term(`${dy.symbol} · f′`, steepness.at(n, f), dy.at(n, f))],
      }),
    },
  };
}

// A function of one number, as a factor
const partAt = (cell, label, of) => functionOf(cell, label, of(tensorOf([1], [cell.value])).re[0]);

const GELU = elementwise("GELU", (y, x) => `${y} = ${x} Φ(${x})`, [ // Φ: the probability that a normal number is smaller
  ["Φ(x)", normalBelow],
  ["x φ(x)", (x) => times(x, normalDensity(x))], // φ = Φ′
]);
const TanhGELU = elementwise("TanhGELU", (y, x) => `${y} = ½ ${x} (1 + tanh u),  u = √(2/π) (${x} + 0.044715 ${x}³)`, [
  ["½ (1 + tanh u)", (x) => scaled(plus(tanhInside(x), 1), 0.5)],
  ["½ x (1 − tanh² u) u′", tanhSlopeInside],
]);
const ReLU = elementwise("ReLU", (y, x) => `${y} = max(${x}, 0)`, [["1 where x > 0, else 0", isPositive]]);

const ACTIVATIONS = {gelu: GELU, gelu_new: TanhGELU, gelu_pytorch_tanh: TanhGELU, relu: ReLU};

export function activationNamed(name) {
  const names = Object.keys(ACTIVATIONS);
  if (!names.includes(name)) throw new Error(`hidden_act is ${name}, wanted one of ${names.join(", ")}`);
  return ACTIVATIONS[name];
}
