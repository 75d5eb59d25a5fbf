// Derivatives without a backward, from forward alone: move a number a little, and look at the loss.
//
// The difference (L(x + h) − L(x − h)) / 2h is wrong by about h² for a large h, as the curve bends, and by about
// 1e-16/h for a small one, as two nearly equal numbers are subtracted. The complex step Im L(x + ih) / h subtracts
// nothing, so h can be as small as one likes. (Squire & Trapp 1998.)

import {replayed} from "./recorder.js";

const numberOf = (trace, {name, row, column}) => trace.arrays.get(name).tensor.at(row, column);

// The loss if one number of a trace had this value: a number, or {re, im}, which gives {re, im}. Forward goes on from
// there.
export function lossWith(trace, {name, row, column}, value) {
  const {tensor} = trace.arrays.get(name);
  const loss = replayed(trace.recorder.records, name, tensor.with(row, column, value));
  return typeof value === "object" ? {re: loss.re[0], im: loss.im?.[0] ?? 0} : loss.re[0];
}

// ∂loss/∂number, by a central difference and by the complex step
export function differenceIn(trace, where, h) {
  const x = numberOf(trace, where);
  return (lossWith(trace, where, x + h) - lossWith(trace, where, x - h)) / (2 * h);
}

export function complexStepIn(trace, where, h = 1e-30) {
  return lossWith(trace, where, {re: numberOf(trace, where), im: h}).im / h;
}

// Six points in place of two: most of what the curve's bends do to one pair, the others undo, up to h⁶.
export function sixPointsIn(trace, where, h) {
  const [near, farther, farthest] = [h, 2 * h, 3 * h].map((step) => differenceIn(trace, where, step));
  return 1.5 * near - 0.6 * farther + 0.1 * farthest;
}

// For steps h from 1 down to 1e-30, how far each estimate lies from what backward says, relative to it. Below 1e-16 a
// difference is lost altogether, and null; the complex step is not.
export function errorsByStep(trace, where) {
  const derivative = numberOf(trace, {...where, name: trace.arrays.get(where.name).gradient});
  return STEPS.map((h) => {
    const errors = Object.entries(estimatesIn(trace, where, h)).map(([way, found]) =>
      [way, h < 0.9e-16 && way !== "complex" ? null : errorOf(found, derivative)]);
    return {h, ...Object.fromEntries(errors)};
  });
}

// The three ways to a slope
export const estimatesIn = (trace, where, h) => ({
  forward: (lossWith(trace, where, numberOf(trace, where) + h) - trace.loss) / h,
  central: differenceIn(trace, where, h),
  complex: complexStepIn(trace, where, h),
});

// How far from the derivative, relative to it
export const errorOf = (found, derivative) => Math.abs(found - derivative) / (Math.abs(derivative) || 1);

const STEPS = [];
for (let power = 0; power <= 30; power += power < 16 ? 0.5 : 1) STEPS.push(10 ** -power);
