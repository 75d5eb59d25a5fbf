// LayerNorm: y = γ x̂ + β  with  x̂ = (x − μ) / σ,  μ = mean(x),  σ = √(mean((x − μ)²) + eps), means over each row.
//
// x (N, D)   gamma γ (1, D)   beta β (1, D)   y (N, D)   mu μ, sigma σ (N, 1)
//
// dγ = Σₙ dyₙ x̂ₙ,  dβ = Σₙ dyₙ,  and with dx̂ = γ dy an x has three roads to the loss: through its own x̂, and through
// μ and σ, which it shares with its whole row:  dx = dx̂/σ − mean(dx̂)/σ − x̂ mean(dx̂ · x̂)/σ.

import {add, divide, meanOfEachRow, plus, squareRoot, subtract, sumOverRows, times} from "./tensor.js";
import {constant, forEachColumn, forEachRow, functionOf, MINUS_ONE, term} from "./terms.js";

export const LayerNorm = {
  kind: "LayerNorm",
  keeps: ["xHat", "sigma"],
  undoing: ({x, y}) => `d${x.symbol} = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ  with  dx̂ = γ d${y.symbol}`,
  workings: {
    shift: {
      symbol: "mean(dx̂)",
      meaning: "The part of dx̂ that moves the whole row: it is taken off, as μ undoes such a move.",
    },
    stretch: {
      symbol: "mean(dx̂ · x̂)",
      meaning: "The part of dx̂ that stretches the row: it is taken off, as σ undoes that.",
    },
  },

  forward({x, gamma, beta}, given, {eps}) {
    const mu = given.mu ?? meanOfEachRow(x);
    const centred = subtract(x, mu);
    const sigma = given.sigma ?? squareRoot(plus(meanOfEachRow(times(centred, centred)), eps));
    const xHat = given.xHat ?? divide(centred, sigma);
    return {mu, sigma, xHat, y: add(times(gamma, xHat), beta)};
  },

  backward({dy}, {xHat, sigma, gamma}) {
    const dgamma = sumOverRows(times(dy, xHat));
    const dbeta = sumOverRows(dy);
    const dxHat = times(gamma, dy);
    const shift = meanOfEachRow(dxHat);
    const stretch = meanOfEachRow(times(dxHat, xHat));
    const dx = divide(subtract(subtract(dxHat, shift), times(xHat, stretch)), sigma);
    return {dgamma, dbeta, dxHat, shift, stretch, dx};
  },

  explain: {
    mu: ({x}, n) => ({terms: forEachColumn(x, (i) => [x.at(n, i), overD(x)])}),
    sigma: ({x, mu, sigma, settings: {eps}}, n) => ({
      right: `(Σᵢ (${x.symbol}[${n}, i] − μ[${n}])² / D + eps) / σ[${n}]`,
      terms: [
        ...forEachColumn(x, (i) => [squareOff(x.at(n, i), mu.at(n, 0)), overD(x), overSigma(sigma.at(n, 0))]),
        term("eps", constant("eps", eps), overSigma(sigma.at(n, 0))),
      ],
    }),
    xHat: ({x, mu, sigma}, n, i) => ({
      right: `(${x.symbol}[${n}, ${i}] − μ[${n}]) / σ[${n}]`,
      terms: [
        term("its own x", x.at(n, i), overSigma(sigma.at(n, 0))),
        term("the row’s mean", MINUS_ONE, mu.at(n, 0), overSigma(sigma.at(n, 0))),
      ],
    }),
    y: ({gamma, xHat, beta}, n, i) => ({
      right: `${gamma.symbol}[${i}] · x̂[${n}, ${i}] + ${beta.symbol}[${i}]`,
      terms: [term("γ · x̂", xHat.at(n, i), gamma.at(0, i)), term("β", beta.at(0, i))],
    }),
    dgamma: ({dy, xHat, y}, _, i) => ({terms: forEachRow(xHat, (n) => [xHat.at(n, i), dy.at(n, i)])}),
    dbeta: ({dy, y}, _, i) => ({terms: forEachRow(dy, (n) => [dy.at(n, i)])}),
    dxHat: ({dy, gamma, y}, n, i) => ({terms: [term(`γ · ${dy.symbol}`, gamma.at(0, i), dy.at(n, i))]}),
    shift: ({dxHat}, n) => ({terms: forEachColumn(dxHat, (i) => [dxHat.at(n, i), overD(dxHat)])}),
    stretch: ({dxHat, xHat}, n) => ({terms: forEachColumn(dxHat, (i) => [dxHat.at(n, i), xHat.at(n, i), overD(xHat)])}),
    dx: ({dxHat, shift, stretch, xHat, sigma}, n, i) => ({
      right: `(dx̂[${n}, ${i}] − mean(dx̂)[${n}] − x̂[${n}, ${i}] · mean(dx̂ · x̂)[${n}]) / σ[${n}]`,
      terms: [
        term("directly", dxHat.at(n, i), overSigma(sigma.at(n, 0))),
        term("through the mean μ", MINUS_ONE, shift.at(n, 0), overSigma(sigma.at(n, 0))),
        term("through the spread σ", MINUS_ONE, stretch.at(n, 0), xHat.at(n, i), overSigma(sigma.at(n, 0))),
      ],
      roads: true,
    }),
  },
};

const overD = (array) => constant("1/D", 1 / array.tensor.columns);
const overSigma = (sigma) => functionOf(sigma, "1/σ", 1 / sigma.value);
const squareOff = (x, mu) => functionOf(x, "(x − μ)²", (x.value - mu.value) ** 2);
