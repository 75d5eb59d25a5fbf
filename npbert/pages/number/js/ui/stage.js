// The stage: one step, the arrays that it reads and writes, each with its gradient under it.

import {linksOf} from "../math/explain.js";
import {goToStep, stepThatMakes, updatedParameter, valuesAfter} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {plainNumber, signedNumber} from "./format.js";
import {cellOfPlace, heatMap, placeOfCell, strongestOf} from "./heatmap.js";
import {arrayNamed, arrayNow, gradientOf, largestIn, partInWords, shapeInWords, valueOf, whyNothing} from "./labels.js";
import {bugAt, bugNamed, knownBug} from "./notes.js";
import {state, watch} from "./state.js";

const UPDATE = [
  // what comes out first: it is made of those below it
  ["before and after", ["", "decay", "delta", "new"]],
  ["what is remembered of the gradients", ["m", "v", "m_hat", "v_hat"]],
  ["what was remembered", ["m_before", "v_before"]],
  ["the gradient of the batch", ["g"]],
  ["of all parameters together", ["norm", "clip"]],
];

export function showStage() {
  watch(["trace", "step", "allWords", "rate", "moved", "trail"], drawStage);
  watch(["trail"], () => {
    requestAnimationFrame(() => byId("stage").querySelector("td.chosen")?.scrollIntoView({block: "nearest"}));
  });
}

function drawStage() {
  const now = state.trace.steps[state.step];
  const {phase, title, formula, part} = now;
  const stage = byId("stage");
  const focused = stage.contains(document.activeElement) && placeOfCell(document.activeElement);
  show("step-phase", phase);
  byId("step-phase").className = `phase ${phase}`;
  show("step-title", title);
  show("step-formula", formula);
  show("step-where", partInWords(part));
  show("step-bug", bugAt(now) ? `with the bug: ${bugNamed(bugAt(now)).planted}` : "");
  const groups = phase === "update" ? groupsOfUpdate() : groupsOf(now);
  show("stage", ...groups.filter(([, names]) => names.length).map((group) => drawnGroup(group, now)));
  markChosen();
  if (focused) {
    cellOfPlace(stage, focused)?.focus({preventScroll: true});
  }
}

// What goes in, the parameters, what comes out: the same places forward and backward.
function groupsOf(now) {
  const isBack = now.phase === "backward";
  const {reads, writes} = isBack ? state.trace.steps[now.undoes] : now;
  const isParameter = (name) => arrayNamed(name).parameter;
  const shown = [...reads, ...writes];
  const isOther = (name) => !shown.includes(name) && !shown.includes(arrayNamed(name).gradientOf);
  return [
    [isBack ? "went in" : "goes in", reads.filter((name) => !isParameter(name))],
    ["parameters", reads.filter(isParameter)],
    [isBack ? "came out" : "comes out", writes],
    ["also at work", atWork(now).filter(isOther)],
  ];
}

function groupsOfUpdate() {
  const parameter = updatedParameter();
  const nameOfKey = (key) => (["norm", "clip"].includes(key) ? key : key ? `${key}(${parameter})` : parameter);
  const groups = UPDATE.filter(([, [first]]) => state.trace.update.t > 1 || first !== "m_before");
  return groups.map(([title, keys]) => [title, keys.map(nameOfKey)]);
}

const atWork = ({reads, writes}) => [...new Set([...reads, ...writes])];

function drawnGroup([title, names], now) {
  const figures = names.map((name) => figure(arrayNow(name), now));
  const head = make("h3", {}, title);
  return make("section", {class: "group", "aria-label": title}, head, make("div", {class: "row figures"}, ...figures));
}

// One array, and its gradient under it: those parts of it that this step reads or makes, or else the whole.
function figure(array, now) {
  const parts = now.phase === "backward" ? gradientsOf(array, now) : [];
  return make("div", {class: "figure"}, captioned(array, now), ...parts);
}

function gradientsOf({name}, now) {
  const parts = atWork(now)
    .map(arrayNamed)
    .filter(({gradientOf: of}) => of === name);
  const whole = state.trace.arrays.get(`d(${name})`);
  if (parts.length || !whole) {
    return parts.map((part) => captioned(part, now));
  }
  const step = stepThatMakes(whole.name);
  return step <= state.step
    ? [captioned(whole, now)]
    : [makeButton(`${whole.symbol} is known after step ${step + 1}`, () => goToStep(step), {class: "quiet"})];
}

// An array under its symbol. What a gradient is need not be said under each: it is that of the array above it.
function captioned(array, now) {
  const role = roleOf(array.name, now);
  const values = valuesAfter(array, state.step);
  const isToldOf = array.isGradient && knownBug();
  const right = isToldOf ? valuesAfter(state.trace.right.arrays.get(array.name), state.step) : values;
  const isWhole = values === array.values || array.soFar?.at(-1).step <= state.step;
  const said = [
    array.gradientOf ? "" : array.meaning,
    whyNothing(array) || (values.length > 1 ? largestInWords(array, values) : ""),
    isWhole ? "" : "So far: more is added to it later.",
  ].filter(Boolean);
  const caption = make(
    "figcaption",
    {title: `${array.meaning} ${shapeInWords(array)}`},
    make("strong", {}, array.symbol),
    " ",
    role ? make("span", {class: "role"}, role) : null,
    ...said.map((text) => make("span", {class: "meaning"}, text)),
  );
  return make("figure", {class: `captioned ${role.replaceAll(" ", "-")}`}, caption, heatMap(array, values, right));
}

// The largest number, with its sign, and what it is measured by where that is another array's.
function largestInWords(array, values) {
  const size = largestIn(values);
  const largest = signedNumber(values.find((value) => Math.abs(value) === size), 3);
  const scale = strongestOf(array);
  return `largest ${largest}${size === scale ? "" : ` (full color: ${plainNumber(scale, 3)})`}`;
}

function roleOf(name, now) {
  const {leftOut, adds = [], writes, reads} = now;
  const roles = [
    [bugAt(now) ? leftOut : [], "left out by the bug"],
    [adds, "added to"],
    [writes, "made now"],
    [reads, "read"],
  ];
  return roles.find(([names]) => names.includes(name))?.[1] ?? "";
}

// Mark the chosen number, its value or gradient beside it, and the numbers that it comes from and goes to.
function markChosen() {
  const {chosen, trace} = state;
  const mark = (look, places) => places.forEach((place) => cellOfPlace(byId("stage"), place)?.classList.add(look));
  if (chosen) {
    mark("chosen", [chosen]);
    mark("twin", [valueOf(chosen).name === chosen.name ? gradientOf(chosen) : valueOf(chosen)]);
    ["from", "to"].forEach((way) => mark(way, linksOf(trace, chosen, way)));
  }
}
