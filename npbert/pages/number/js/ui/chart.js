// Curves as a drawing: axes with few ticks, lines told apart by dashes as well as by color, and marks.

import {make, makeSvg} from "./dom.js";
import {plainNumber} from "./format.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 300, 80, 26, 12, 44];
const [WIDE, HIGH] = [WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
// a drawing within the drawing, so that what lies outside the axes is cut off
const INSIDE = {class: "curves", x: LEFT, y: TOP, width: WIDE, height: HIGH, viewBox: `${LEFT} ${TOP} ${WIDE} ${HIGH}`};

// A figure. lines: {label, look, points: [[x, y]]}; marks: {label, look, x, y}; x and y: {label, log, from, to}. Where an
// axis is `log`, points that are not above 0 lie on its edge.
export function chart({title, lines, marks = [], x, y}) {
  const scaleX = scaleOf(x, LEFT, WIDTH - RIGHT);
  const scaleY = scaleOf(y, HEIGHT - BOTTOM, TOP);
  const drawing = makeSvg(
    "svg",
    {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title},
    ...gridOf(
      x,
      scaleX,
      (at) => `M${at} ${TOP}V${HEIGHT - BOTTOM}`,
      (at) => ({x: at, y: HEIGHT - BOTTOM + 16}),
    ),
    ...gridOf(
      y,
      scaleY,
      (at) => `M${LEFT} ${at}H${WIDTH - RIGHT}`,
      (at) => ({x: LEFT - 6, y: at + 4, class: "end"}),
    ),
    makeSvg("text", {x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, class: "axis"}, x.label),
    makeSvg("text", {x: -(TOP + HEIGHT - BOTTOM) / 2, y: 13, class: "axis", transform: "rotate(-90)"}, y.label),
    makeSvg("svg", INSIDE, ...lines.map(({look, points}) => curve(look, points, scaleX, scaleY))),
    ...marks.map(({look, label, ...at}) => {
      const title = makeSvg("title", {}, label);
      return makeSvg("circle", {cx: scaleX(at.x), cy: scaleY(at.y), r: 6, class: `mark ${look}`}, title);
    }),
  );
  const keys = [...lines, ...marks].map(({label, look}) => make("span", {class: "key"}, sample(look), label));
  return make("figure", {class: "chart"}, drawing, make("figcaption", {}, ...keys));
}

function curve(look, points, scaleX, scaleY) {
  const path = points.map(([px, py], index) => `${index ? "L" : "M"}${scaleX(px).toFixed(1)} ${scaleY(py).toFixed(1)}`);
  return makeSvg("path", {d: path.join(""), class: `curve ${look}`});
}

// A bit of the line, or the mark, for the list of what is what.
function sample(look) {
  const bit = look.startsWith("mark-")
    ? makeSvg("circle", {cx: 14, cy: 6, r: 5, class: `mark ${look}`})
    : makeSvg("path", {d: "M1 6H27", class: `curve ${look}`});
  return makeSvg("svg", {viewBox: "0 0 28 12", class: "sample", "aria-hidden": "true"}, bit);
}

// Where on the drawing a value lies.
function scaleOf({log, from, to}, start, end) {
  const place = log ? (value) => Math.log10(Math.max(value, from)) : (value) => value;
  const [low, high] = [place(from), place(to)];
  return (value) => start + ((end - start) * (place(value) - low)) / (high - low || 1);
}

// Four to eight round values.
function ticksOf({log, from, to}) {
  if (log) {
    const [low, high] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
    const every = Math.max(1, Math.ceil((high - low) / 7));
    const powers = Array.from({length: high - low + 1}, (_, index) => high - index);
    return powers.filter((power) => power % every === 0).map((power) => 10 ** power);
  }
  const rough = (to - from) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const every = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough);
  const first = Math.ceil(from / every);
  const count = Math.floor(to / every) - first + 1;
  return Array.from({length: count}, (_, index) => (first + index) * every);
}

// A line across for each tick, and its text where it ends.
function gridOf(axis, scale, lineAt, textAt) {
  return ticksOf(axis).flatMap((tick) => {
    const {class: look = "", ...place} = textAt(scale(tick));
    const text = makeSvg("text", {...place, class: `tick ${look}`}, tickText(tick, axis.log));
    return [makeSvg("path", {d: lineAt(scale(tick)), class: "grid"}), text];
  });
}

function tickText(tick, log) {
  return log ? `1e${Math.round(Math.log10(tick))}`.replace("-", "\u2212") : plainNumber(Number(tick.toPrecision(6)));
}

// An axis that holds all the values, with a little room at both ends.
export function axisFor(values, label) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const isFlat = high - low <= 1e-9 * Math.abs(high); // then what is left is rounding, and should look like nothing
  const room = isFlat ? 0.1 * Math.abs(high) || 1 : 0.06 * (high - low);
  return {label, from: low - room, to: high + room};
}

// The curve of training: the loss of each step, smoothed. lines: {label, look, losses}; steps: how far the axis goes.
export function chartOfLosses(title, lines, steps) {
  const all = lines.flatMap(({losses}) => losses);
  return chart({
    title,
    lines: lines.map(({losses, ...line}) => ({...line, points: losses.map((loss, index) => [index + 1, loss])})),
    x: {label: "step", from: 1, to: Math.max(steps, lines[0].losses.length)},
    y: {...axisFor([...all, 0], "loss"), from: 0},
  });
}

// Of each value the mean with those before it, weighted so that one counts less the longer ago it is.
export function smoothed(values, over = 10) {
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    [sum, weight] = [(1 - 1 / over) * sum + value, (1 - 1 / over) * weight + 1];
    return sum / weight;
  });
}
