// Training: steps of AdamW in the page, as npbert has it, on whole batches.

import {AdamW, normAndClip} from "./adamw.js";
import {computed} from "./run.js";
import {add, scaled, sumOfSquares, Tensor} from "./tensor.js";
import {range} from "./terms.js";

const IN_A_BATCH = 8;

// The sentences of step 0, 1, …: they take turns.
export const batchAt = (examples, step) =>
  range(Math.min(IN_A_BATCH, examples.length), (place) => examples[(step * IN_A_BATCH + place) % examples.length]);

// `next` says what the next step is, down the mean loss of all masked words of the examples, and changes nothing: the
// loss and the sentences as they are before it, ‖g‖ and clip, and by parameter all arrays of AdamW. `step` makes this
// step, and returns {loss, gradientNorm}. `steps` counts.
export function makeTrainer(model, settings) {
  const byParameter = (make) => new Map([...model.parameters].map(([name, tensor]) => [name, make(name, tensor)]));
  const means = byParameter((_, {shape}) => new Tensor(...shape));
  const squares = new Map(means);
  const trainer = {
    steps: 0,
    lr: settings.lr,

    settingsOf(name) {
      const lambda = model.matrices.has(name) ? settings.weight_decay : 0;
      return {...settings, t: trainer.steps + 1, lr: trainer.lr, lambda};
    },

    next(examples, {bug = null} = {}) {
      const batch = tracesOf(model, examples, bug);
      const ofSentence = ({share, trace}, name) => scaled(trace.arrays.get(`d(${name})`).tensor, share);
      const gradients = byParameter((name) => batch.map((one) => ofSentence(one, name)).reduce(add));
      const total = [...gradients.values()].reduce((sum, {re}) => sum + sumOfSquares(re), 0);
      const all = normAndClip(total, settings.max_grad_norm);
      const made = byParameter((name, w) => {
        const given = {w, g: gradients.get(name), m_before: means.get(name), v_before: squares.get(name), ...all};
        return {...given, ...AdamW.forward(given, trainer.settingsOf(name))};
      });
      return {loss: batch.reduce((sum, {share, trace}) => sum + share * trace.loss, 0), batch, ...all, made};
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

// The loss is the mean over all masked words of the examples: a sentence has a share in it by how many of them it has.
function tracesOf(model, examples, bug) {
  const counts = examples.map(({labels}) => labels.filter((label) => label >= 0).length);
  const total = counts.reduce((a, b) => a + b);
  return examples.map((example, e) => ({example, share: counts[e] / total, trace: computed(model, example, {bug})}));
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
