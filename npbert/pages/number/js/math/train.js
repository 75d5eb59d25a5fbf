// Training: steps of AdamW in the page, as npbert has it, on whole batches.

import {AdamW, normAndClip} from "./adamw.js";
import {run} from "./run.js";
import {Tensor} from "./tensor.js";
import {range} from "./terms.js";

const IN_A_BATCH = 8;

// The sentences of step 0, 1, …: they take turns.
export const batchAt = (examples, step) =>
  range(Math.min(IN_A_BATCH, examples.length), (place) => examples[(step * IN_A_BATCH + place) % examples.length]);

// `next` says what the next step is, down the mean loss of all masked words of the examples, and changes nothing: the
// loss and the sentences as they are before it, ‖g‖ and clip, and by parameter all arrays of AdamW. `step` makes this
// step, and returns {loss, gradientNorm}. `steps` counts.
export function makeTrainer(model, settings) {
  const zeros = () => new Map([...model.parameters].map(([name, {shape}]) => [name, new Tensor(...shape)]));
  const means = zeros(), squares = zeros();
  const trainer = {
    steps: 0,
    lr: settings.lr,

    settingsOf(name) {
      const lambda = model.matrices.has(name) ? settings.weight_decay : 0;
      return {...settings, t: trainer.steps + 1, lr: trainer.lr, lambda};
    },

    next(examples, {bug = null} = {}) {
      const {loss, batch, gradients} = lossAndGradients(model, examples, bug);
      const total = [...gradients.values()].reduce((sum, {re}) => sum + sumOfSquares(re), 0);
      const all = normAndClip(total, settings.max_grad_norm);
      const made = new Map([...model.parameters].map(([name, w]) => {
        const given = {w, g: gradients.get(name), m_before: means.get(name), v_before: squares.get(name), ...all};
        return [name, {...given, ...AdamW.forward(given, trainer.settingsOf(name))}];
      }));
      return {loss, batch, ...all, made};
    },

    step(examples, {bug = null} = {}) {
      const {loss, norm, made} = trainer.next(examples, {bug});
      for (const [name, {m, v, new: after}] of made) {
        model.parameters.get(name).re.set(after.re);
        means.set(name, m);
        squares.set(name, v);
      }
      trainer.steps += 1;
      return {loss, gradientNorm: norm.re[0]};
    },
  };
  return trainer;
}

export const sumOfSquares = (values) => values.reduce((sum, value) => sum + value * value, 0);

// The mean over all masked words of the examples, as in one batch: a sentence counts by how many of them it has.
export function lossAndGradients(model, examples, bug = null) {
  const counts = examples.map(({labels}) => labels.filter((label) => label >= 0).length);
  const total = counts.reduce((a, b) => a + b);
  const batch = examples.map((example, e) => ({example, share: counts[e] / total, trace: run(model, example, {bug})}));
  const gradients = new Map([...model.parameters].map(([name, {shape}]) => [name, new Tensor(...shape)]));
  for (const {share, trace} of batch) {
    for (const [name, {re}] of gradients) {
      trace.arrays.get(`d(${name})`)?.tensor.re.forEach((value, i) => { re[i] += share * value; });
    }
  }
  return {loss: batch.reduce((sum, {share, trace}) => sum + share * trace.loss, 0), batch, gradients};
}
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
