// Training: steps of AdamW in the page, as npbert has it, on whole batches.
//
// At step t, with gradient g:  m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,
// θ ← θ − lr · λ θ (matrices alone),  θ ← θ − lr · m̂ / (√v̂ + eps)  with  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ).
// (Kingma & Ba 2015; Loshchilov & Hutter 2019.)

import {run} from "./run.js";

// step(examples, {bug}) makes one step down the mean loss of all masked words of the examples, and returns {loss,
// gradientNorm} as they were before it. `steps` counts. Parameters are changed in place.
export function makeTrainer(model, {lr, betas: [beta1, beta2], eps, weight_decay: decay}) {
  const moments = new Map([...model.parameters].map(([name, {re}]) =>
    [name, {m: new Float64Array(re.length), v: new Float64Array(re.length)}]));

  function update(name, g, t) {
    const {re: value} = model.parameters.get(name), {m, v} = moments.get(name);
    const kept = model.matrices.has(name) ? 1 - trainer.lr * decay : 1;
    for (let i = 0; i < value.length; i++) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      const mHat = m[i] / (1 - beta1 ** t), vHat = v[i] / (1 - beta2 ** t);
      value[i] = kept * value[i] - trainer.lr * mHat / (Math.sqrt(vHat) + eps);
    }
  }

  const trainer = {
    steps: 0,
    lr,
    step(examples, {bug = null} = {}) {
      const {loss, gradients} = lossAndGradients(model, examples, bug);
      trainer.steps += 1;
      for (const [name, g] of gradients) update(name, g, trainer.steps);
      const squares = [...gradients.values()].map((g) => g.reduce((sum, one) => sum + one * one, 0));
      return {loss, gradientNorm: Math.sqrt(squares.reduce((a, b) => a + b))};
    },
  };
  return trainer;
}

// The mean over all masked words of the examples, as in one batch: a sentence counts by how many of them it has.
export function lossAndGradients(model, examples, bug = null) {
  const counts = examples.map(({labels}) => labels.filter((label) => label >= 0).length);
  const total = counts.reduce((a, b) => a + b);
  const gradients = new Map([...model.parameters].map(([name, {re}]) => [name, new Float64Array(re.length)]));
  let loss = 0;
  examples.forEach((example, e) => {
    const share = counts[e] / total;
    const trace = run(model, example, {bug, dloss: share});
    loss += share * trace.loss;
    for (const [name, sum] of gradients) {
      const gradient = trace.arrays.get(`d(${name})`)?.values;
      gradient?.forEach((value, i) => { sum[i] += value; });
    }
  });
  return {loss, gradients};
}

// Fresh parameters, as npbert's Init makes them: weights from normal(0, initializer_range), γ 1, biases and β 0. BERT's
// own 0.02 is for 768 features; a model of 8 learns sooner from about 0.3.
export function resetParameters(model, seed, std = model.config.initializer_range) {
  const normal = normalNumbers(seed);
  for (const [name, {re}] of model.parameters) {
    const start = model.matrices.has(name) ? () => std * normal() : () => (name.endsWith(".gamma") ? 1 : 0);
    re.forEach((_, i) => { re[i] = start(); });
  }
}

// Numbers from normal(0, 1), the same for the same seed. (Box & Muller 1958.)
function normalNumbers(seed) {
  const uniform = uniformNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

// Numbers above 0, up to 1, the same for the same seed. (mulberry32, Tommy Ettinger's.)
export function uniformNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (((bits ^ (bits >>> 14)) >>> 0) + 1) / 2 ** 32;
  };
}
