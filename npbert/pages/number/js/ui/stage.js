// The stage: one step, the arrays that it reads and writes, each with its gradient under it; and the update.

import {chooseParameter, goToStep, parameterOf, stepThatMakes, valuesAfter} from "./actions.js";
import {byId, make, makeButton, makeRow, show} from "./dom.js";
import {plainNumber, shortNumber, signedNumber} from "./format.js";
import {cellOfPlace, heatMap, placeOfCell, strongestOf} from "./heatmap.js";
import {
  arrayNamed,
  arrayNow,
  gradientOf,
  largestIn,
  partInWords,
  shapeInWords,
  steepestWeights,
  titleOfParameter,
  valueAt,
  valueOf,
  whyNothing,
} from "./labels.js";
import {bugAt, bugNamed} from "./notes.js";
import {drawRoads} from "./roads.js";
import {state, watch} from "./state.js";

const LEFT_OUT = "left out by the bug";
const UPDATE = [
  // what comes out first: it is made of those below it
  ["before and after", ["", "decay", "delta", "new"]],
  ["what is remembered of the gradients", ["m", "v", "m_hat", "v_hat"]],
  ["what was remembered", ["m_before", "v_before"]],
  ["the gradient of the batch", ["g"], ["norm", "clip"]],
];

// Draw it, and again with every step.
export function showStage() {
  byId("parameter").addEventListener("change", ({target}) => chooseParameter(target.value));
  watch(["trace", "step", "allWords", "rate", "moved"], drawStage);
  watch(["chosen", "parameter"], () => {
    (isOutdated() ? drawStage : markChosen)();
    requestAnimationFrame(() => byId("stage").querySelector("td.chosen")?.scrollIntoView({block: "nearest"}));
  });
}

function drawStage() {
  const {trace, step} = state;
  const now = trace.steps[step];
  const {phase, title, formula, part} = now;
  const focused = byId("stage").contains(document.activeElement) && placeOfCell(document.activeElement);
  show("step-phase", phase);
  byId("step-phase").className = `phase ${phase}`;
  show("step-title", title.replace(/^back: /, ""));
  show("step-formula", formula);
  show("step-where", partInWords(part));
  show("step-bug", bugAt(now) ? `with the bug: ${bugNamed(bugAt(now)).planted}` : "");
  const isUpdate = phase === "update";
  byId("update-head").hidden = !isUpdate;
  show("stage", ...(isUpdate ? groupsOfUpdate() : groupsOf(now)).map((group) => drawnGroup(group, now)));
  if (isUpdate) {
    drawUpdate();
  }
  drawRoads(now);
  markChosen();
  if (focused) {
    cellOfPlace(byId("stage"), focused)?.focus({preventScroll: true});
  }
}

// What goes in, the parameters, what comes out: the same places forward and backward.
function groupsOf(now) {
  const isBack = now.phase === "backward";
  const {reads, writes} = isBack ? state.trace.steps[now.undoes] : now;
  const isParameter = (name) => arrayNamed(name).parameter;
  const inputs = reads.filter((name) => !isParameter(name));
  const shown = new Set([...reads, ...writes]);
  const isOther = (name) => !shown.has(name) && !shown.has(arrayNamed(name).gradientOf);
  return [
    [isBack ? "went in" : "goes in", inputs],
    ["parameters", reads.filter(isParameter)],
    [isBack ? "came out" : "comes out", writes],
    ["also at work", [...new Set([...now.reads, ...now.writes].filter(isOther))]],
  ].filter(([, names]) => names.length);
}

function drawnGroup([title, names], now) {
  const figures = names.map((name) => figure(arrayNow(name), now));
  return make(
    "section",
    {class: "group", "aria-label": title},
    make("h3", {}, title),
    make("div", {class: "figures"}, ...figures),
  );
}

// One array, and its gradient under it: those parts of it that this step reads or makes, or else the whole.
function figure(array, now) {
  const parts = [captioned(array, now)];
  if (now.phase === "backward") {
    const named = [...new Set([...now.reads, ...now.writes])].map(arrayNamed);
    const atWork = named.filter(({gradientOf: of}) => of === array.name);
    const gradient = state.trace.arrays.get(`d(${array.name})`);
    const isKnown = gradient && stepThatMakes(gradient.name) <= state.step;
    const whole = gradient && (isKnown ? captioned(gradient, now) : notYet(gradient));
    parts.push(...(atWork.length || !gradient ? atWork.map((one) => captioned(one, now)) : [whole]));
  }
  return make("div", {class: "figure"}, ...parts);
}

// An array under its symbol. What a gradient is need not be said under each: it is that of the array above it.
function captioned(array, now) {
  const role = roleOf(array.name, now);
  const values = valuesAfter(array, state.step);
  const said = [
    array.gradientOf ? "" : array.meaning,
    whyNothing(array) || (values.length > 1 ? largestInWords(array, values) : ""),
    values === array.values || array.soFar?.at(-1).step <= state.step ? "" : "So far: more is added to it later.",
  ].filter(Boolean);
  const caption = make(
    "figcaption",
    {},
    make("strong", {}, array.symbol),
    " ",
    role ? make("span", {class: "role"}, role) : null,
    ...said.map((text) => make("span", {class: "meaning"}, text)),
  );
  caption.title = `${array.meaning} ${shapeInWords(array)}`;
  return make("figure", {class: `captioned ${role.replaceAll(" ", "-")}`}, caption, heatMap(array, values));
}

// The largest number, with its sign, and what it is measured by where that is another array's.
function largestInWords(array, values) {
  const size = largestIn(values);
  const [largest, scale] = [values.find((value) => Math.abs(value) === size), strongestOf(array)].map(shortNumber);
  return `largest ${largest}${size === strongestOf(array) ? "" : ` (full color: ${scale.slice(1)})`}`;
}

function roleOf(name, now) {
  const {leftOut, adds = [], writes, reads} = now;
  const roles = [
    [bugAt(now) ? leftOut : [], LEFT_OUT],
    [adds, "added to"],
    [writes, "made now"],
    [reads, "read"],
  ];
  return roles.find(([names]) => names.includes(name))?.[1] ?? "";
}

function notYet(gradient) {
  const step = stepThatMakes(gradient.name);
  return makeButton(`${gradient.symbol} is known after step ${step + 1}`, () => goToStep(step), {class: "not-yet"});
}

// Mark the chosen number, and its value or gradient beside it.
function markChosen() {
  const stage = byId("stage");
  stage.querySelectorAll("td.chosen, td.twin").forEach((cell) => cell.classList.remove("chosen", "twin"));
  const {chosen} = state;
  if (chosen) {
    const twin = valueOf(chosen).name === chosen.name ? gradientOf(chosen) : valueOf(chosen);
    cellOfPlace(stage, chosen)?.classList.add("chosen");
    cellOfPlace(stage, twin)?.classList.add("twin");
  }
}

// Does what is chosen need another parameter, or another word, than the stage shows?
function isOutdated() {
  const {trace, step, chosen} = state;
  const isThere = chosen && cellOfPlace(byId("stage"), chosen);
  return (
    trace.steps[step].phase === "update" ||
    (chosen && !isThere && byId("stage").querySelector(`[data-array="${CSS.escape(chosen.name)}"]`))
  );
}

// ---- the update: the arrays of one parameter, and what the whole step does ----

const updatedParameter = () =>
  (state.chosen && parameterOf(state.chosen)) ?? state.parameter ?? steepestWeights(1)[0].name;

function groupsOfUpdate() {
  const name = updatedParameter();
  const groups = UPDATE.filter(([, [first]]) => state.trace.update.t > 1 || first !== "m_before");
  return groups.map(([title, own, ofAll = []]) => [
    title,
    [...own.map((key) => (key ? `${key}(${name})` : name)), ...ofAll],
  ]);
}

function drawUpdate() {
  const {t, lr, parameters} = state.trace.update;
  const name = updatedParameter();
  show(
    "update-said",
    t === 1
      ? "The first step of AdamW: nothing is remembered yet, so every number moves by about lr, "
      : `Step ${t} of the training under “Train it”, where “1 step” makes it. lr is `,
    `${plainNumber(lr, 2)}.`,
  );
  show(
    "parameter",
    ...parameters.map((one) => make("option", {value: one, selected: one === name}, titleOfParameter(one))),
  );
  show("update-way", ...wayOfUpdate(name));
  show("update-losses", ...rowsOfLosses());
  show("update-moves", ...rowsOfMoves());
}

// From the gradient of one number to its step: each link can be followed.
function wayOfUpdate(name) {
  const {row, column} =
    state.chosen && parameterOf(state.chosen) === name && state.chosen.name !== "norm"
      ? state.chosen
      : steepestIn(name);
  const at = (array) => ({name: array, row, column});
  const clipped = valueAt(at(`g(${name})`)) * arrayNamed("clip").values[0];
  const links = [
    ["gradient of this sentence", valueAt(at(`d(${name})`)), `d(${name})`],
    ["mean of the batch, g", valueAt(at(`g(${name})`)), `g(${name})`],
    ["clipped, clip · g", clipped, `g(${name})`],
    ["mean of the steps, m̂", valueAt(at(`m_hat(${name})`)), `m_hat(${name})`],
    ["its step, Δw", valueAt(at(`delta(${name})`)), `delta(${name})`],
  ];
  return links.map(([text, value, array]) =>
    make(
      "li",
      {},
      makeButton(`${text}: ${signedNumber(value, 3)}`, () => chooseUpdated(at(array))),
    ),
  );
}

function steepestIn(name) {
  const {values, shape} = arrayNamed(`d(${name})`);
  const at = values.reduce((best, value, i) => (Math.abs(value) > Math.abs(values[best]) ? i : best), 0);
  return {row: Math.floor(at / shape[1]), column: at % shape[1]};
}

let chooseUpdated = () => {};

// What a click on a link of the update does: follow.js says it, which draws what is followed.
export function onUpdateLink(act) {
  chooseUpdated = act;
}

function rowsOfLosses() {
  const {update} = state.trace;
  const {batch, loss} = update.next();
  update.after ??= batch.map(({example}) => update.lossAfter(example)); // once, however often the step is shown
  const rows = batch.map(({example, trace}, n) => [example.text, trace.loss, update.after[n]]);
  const mean = batch.reduce((sum, {share}, n) => sum + share * update.after[n], 0);
  return [["the whole batch", loss, mean], ...rows].map(([text, ...losses]) =>
    makeRow(make("bdi", {}, text), ...losses.map((value) => plainNumber(value, 3))),
  );
}

function rowsOfMoves() {
  const moves = state.trace.update.parameters.map((name) => {
    const [w, delta] = [arrayNamed(name), arrayNamed(`delta(${name})`)].map(({values}) => values);
    return [name, Math.hypot(...delta) / (Math.hypot(...w) || 1), largestIn(delta)];
  });
  return moves
    .sort(([, a], [, b]) => b - a)
    .map(([name, ...sizes]) =>
      makeRow(
        makeButton(titleOfParameter(name), () => chooseParameter(name)),
        ...sizes.map((size) => plainNumber(size, 3)),
      ),
    );
}
