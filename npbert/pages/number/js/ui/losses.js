// The curve of training: the loss of each step.

import {axisFor, chart} from "./chart.js";

const OVER = 10; // steps

// Smooth: of each value the mean with those before it, weighted so that one counts less the longer ago it is; over
// about ten of them, without a kink where an old one leaves the mean.
export function smoothed(values) {
  const keep = 1 - 1 / OVER;
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    [sum, weight] = [keep * sum + value, keep * weight + 1];
    return sum / weight;
  });
}

// What a smoothed line is called.
export const SMOOTHED = `smoothed, over about ${OVER} steps`;

// lines: {label, look, losses}; steps: how far the axis goes at least.
export function chartOfLosses(title, lines, steps) {
  const points = ({losses}) => losses.map((loss, index) => [index + 1, loss]);
  const all = lines.flatMap(({losses}) => losses);
  return chart({
    title,
    lines: lines.map((line) => ({...line, points: points(line)})),
    x: {label: "step", from: 1, to: Math.max(steps, lines[0].losses.length)},
    y: {...axisFor([...all, 0], "loss"), from: 0},
  });
}
