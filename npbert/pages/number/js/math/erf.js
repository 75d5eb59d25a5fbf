// erf, the error function, which JavaScript lacks: erf(z) = 2/√π ∫₀ᶻ e^(−t²) dt, for real and complex numbers.

import {complexExp, each} from "./tensor.js";

const SMALL = 2; // up to here the series, from here on the fraction
const ENOUGH = 1e-18; // a term this small beside the sum, and all after it, is lost in rounding
const DEPTH = 60; // of the fraction: from 2 on, more changes nothing

export const errorFunction = (x) => each(x, complexErf);

// erf(re + i im) as [re, im]
export function complexErf(re, im) {
  if (re < 0) return complexErf(-re, -im).map((part) => -part);
  return re < SMALL ? erfBySeries(re, im) : erfByFraction(re, im);
}

// erf z = 2/√π · z e^(−z²) Σₙ sⁿ / (1·3·5…(2n+1))  with  s = 2z²: for a real z all terms are positive, so none cancels
// another. (Abramowitz & Stegun 1964, 7.1.6.)
function erfBySeries(re, im) {
  const sr = 2 * (re * re - im * im), si = 4 * re * im;
  let lastRe = 1, lastIm = 0, sumRe = 1, sumIm = 0;
  for (let n = 1; Math.abs(lastRe) + Math.abs(lastIm) > ENOUGH * Math.abs(sumRe); n++) {
    const before = lastRe;
    lastRe = (before * sr - lastIm * si) / (2 * n + 1);
    lastIm = (before * si + lastIm * sr) / (2 * n + 1);
    sumRe += lastRe;
    sumIm += lastIm;
  }
  const [er, ei] = complexExp(-sr / 2, -si / 2);
  const factor = 2 / Math.sqrt(Math.PI), zr = factor * (re * er - im * ei), zi = factor * (re * ei + im * er);
  return [zr * sumRe - zi * sumIm, zr * sumIm + zi * sumRe];
}

// 1 − erf z = e^(−z²)/√π · 1/(z + (1/2)/(z + (2/2)/(z + (3/2)/(z + …)))): small, and so is its error.
// (Abramowitz & Stegun 1964, 7.1.14.)
function erfByFraction(re, im) {
  let fr = re, fi = im;
  for (let n = DEPTH; n > 0; n--) {
    const size = (fr * fr + fi * fi) * 2 / n;
    fr = re + fr / size;
    fi = im - fi / size;
  }
  const [er, ei] = complexExp(im * im - re * re, -2 * re * im);
  const size = (fr * fr + fi * fi) * Math.sqrt(Math.PI);
  return [1 - (er * fr + ei * fi) / size, -(ei * fr - er * fi) / size];
}
