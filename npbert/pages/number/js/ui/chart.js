// Curves as a drawing: lines told apart by dashes as well as by color, marks, and numbers at the ends of both axes.

import {make, makeSvg} from "./dom.js";
import {plainNumber} from "./format.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [560, 260, 80, 40];
const [WIDE, HIGH] = [WIDTH - LEFT, HEIGHT - BOTTOM];

// A figure. lines: {label, look, points: [[x, y]]}; marks: {label, look, x, y}; x and y: {label, from, to}.
export function chart({title, lines, marks = [], x, y}) {
  const placeX = (value) => (WIDE * (value - x.from)) / (x.to - x.from);
  const placeY = (value) => HIGH - (HIGH * (value - y.from)) / (y.to - y.from);
  const pathOf = (points) =>
    `M${points.map(([px, py]) => `${placeX(px).toFixed(1)} ${placeY(py).toFixed(1)}`).join("L")}`;
  const text = (content, place) => makeSvg("text", place, content);
  const drawing = makeSvg(
    "svg",
    {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title},
    // a drawing within the drawing, so that what lies outside the axes is cut off
    makeSvg(
      "svg",
      {x: LEFT, width: WIDE, height: HIGH},
      makeSvg("path", {d: `M0 0V${HIGH}H${WIDE}`, class: "axes"}),
      ...lines.map(({look, points}) => makeSvg("path", {d: pathOf(points), class: `curve ${look}`})),
      ...marks.map(({look, ...at}) => makeSvg("circle", {cx: placeX(at.x), cy: placeY(at.y), r: 6, class: look})),
    ),
    text(plainNumber(x.from, 3), {x: LEFT, y: HIGH + 16}),
    text(x.label, {x: LEFT + WIDE / 2, y: HIGH + 34}),
    text(plainNumber(x.to, 3), {x: WIDTH, y: HIGH + 16, class: "end"}),
    text(plainNumber(y.to, 3), {x: LEFT - 6, y: 14, class: "end"}),
    text(y.label, {x: LEFT - 6, y: HIGH / 2, class: "end"}),
    text(plainNumber(y.from, 3), {x: LEFT - 6, y: HIGH, class: "end"}),
  );
  const keys = [...lines, ...marks].map(({label, look}) => make("span", {}, sample(look), label));
  return make("figure", {class: "chart"}, drawing, make("figcaption", {class: "row"}, ...keys));
}

// A bit of the line, or the mark, for the list of what is what.
function sample(look) {
  const bit = look.startsWith("mark-")
    ? makeSvg("circle", {cx: 14, cy: 6, r: 5, class: look})
    : makeSvg("path", {d: "M1 6H27", class: `curve ${look}`});
  return makeSvg("svg", {viewBox: "0 0 28 12", class: "sample", "aria-hidden": "true"}, bit);
}

// An axis that holds all the values, with a little room at both ends.
export function axisFor(values, label) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const isFlat = high - low <= 1e-9 * Math.abs(high); // then what is left is rounding, and should look like nothing
  const room = isFlat ? 0.1 * Math.abs(high) || 1 : 0.06 * (high - low);
  return {label, from: low - room, to: high + room};
}

// The curve of training: the loss of each step. lines: {label, look, losses}; steps: how far the axis goes.
export function chartOfLosses(title, lines, steps) {
  const all = lines.flatMap(({losses}) => losses);
  return chart({
    title,
    lines: lines.map(({losses, ...line}) => ({...line, points: losses.map((loss, index) => [index + 1, loss])})),
    x: {label: "step", from: 1, to: Math.max(steps, lines[0].losses.length)},
    y: {label: "loss", from: 0, to: 1.06 * Math.max(...all)},
  });
}

// Of each value the mean with those before it, over about 10: one counts less the longer ago it is.
export function smoothed(values) {
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    [sum, weight] = [0.9 * sum + value, 0.9 * weight + 1];
    return sum / weight;
  });
}
