// The functions that formulas may call, by name: what they compute, and how a reader sees them, of the symbol x.

const TANH_SCALE = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;
const tanhInside = (x) => Math.tanh(TANH_SCALE * (x + CUBIC * x ** 3));

export const FUNCTIONS = {
  exp: {of: (x, largest) => Math.exp(x - largest), said: (x) => `e^(${x} − max)`},
  over: {of: (x) => 1 / x, said: (x) => `1/${x}`},
  overroot: {of: (x, eps) => 1 / (Math.sqrt(x) + eps), said: (x) => `1/(√${x} + eps)`},
  root: {of: Math.sqrt, said: (x) => `√${x}`},
  square: {of: (x) => x * x, said: (x) => `${x}²`},
  squareoff: {of: (x, mean) => (x - mean) ** 2, said: (x) => `(${x} − μ)²`},
  surprise: {of: (p) => -Math.log(p), said: () => "−ln p"},
  normal: {of: (x) => (1 + erf(x * Math.SQRT1_2)) / 2, said: () => "Φ(x)"},
  density: {of: (x) => (x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI), said: () => "x φ(x)"},
  tanhshare: {of: (x) => (1 + tanhInside(x)) / 2, said: () => "½ (1 + tanh u)"},
  tanhbend: {
    of: (x) => 0.5 * x * (1 - tanhInside(x) ** 2) * TANH_SCALE * (1 + 3 * CUBIC * x * x),
    said: () => "½ x (1 − tanh² u) u′",
  },
  above: {of: (x) => (x > 0 ? 1 : 0), said: () => "1 where x > 0, else 0"},
  clipped: {
    of: (norm, most) => Math.min(1, most / (norm + 1e-6)),
    said: (x) => `min(1, max_grad_norm / (${x} + 1e−6))`,
  },
};

// The error function, which JavaScript lacks: a series of numbers above 0, and 1 from where e^(−x²) is lost beside it.
// (Abramowitz & Stegun 1964, 7.1.6.)
function erf(x) {
  if (Math.abs(x) > 6) {
    return Math.sign(x);
  }
  let term = 1;
  let sum = 1;
  for (let n = 1; term > 1e-18 * sum; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * x * Math.exp(-x * x) * sum;
}
