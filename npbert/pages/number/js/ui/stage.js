// The stage: one step, the arrays that it reads and writes, each with its gradient under it.

import {largestIn} from "../math/index.js";
import {chooseParameter, goToStep, isKnown, stepThatMakes} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {shortNumber} from "./format.js";
import {cellOfPlace, heatMap, placeOfCell, strongestOf} from "./heatmap.js";
import {partInWords, shapeInWords} from "./labels.js";
import {bugAt, lineOfBug} from "./notes.js";
import {whyNothing} from "./nothing.js";
import {valuesAfter} from "./place.js";
import {state, watch} from "./state.js";
import {drawUpdate, groupsOfUpdate, updatedParameter} from "./update.js";

const LEFT_OUT = "left out by the bug";

// Draw it, and again with every step.
export function showStage() {
  byId("parameter").addEventListener("change", ({target}) => chooseParameter(target.value));
  watch(["trace", "step", "allWords", "rate"], drawStage);
  watch(["chosen", "parameter"], () => {
    (isOutdated() ? drawStage : markChosen)();
    const showChosen = () => byId("stage").querySelector("td.chosen")?.scrollIntoView({block: "nearest"});
    requestAnimationFrame(showChosen); // when the sheet that may cover it is there
  });
}

function drawStage() {
  const {trace, step} = state;
  const now = trace.steps[step];
  const {phase, title, formula, part, kind} = now;
  const focused = byId("stage").contains(document.activeElement) && placeOfCell(document.activeElement);
  byId("step-phase").textContent = phase;
  byId("step-phase").className = `phase ${phase}`;
  byId("step-printed").textContent = `step ${step + 1} of ${trace.steps.length} ·`;
  byId("step-where").textContent = `${partInWords(part)} · ${kind}`;
  byId("step-reverse").hidden = phase !== "backward";
  byId("step-title").textContent = title;
  byId("step-formula").textContent = title.includes(formula) ? "" : formula;
  byId("step-bug").textContent = bugAt(now) ? `with the bug: ${lineOfBug(bugAt(now))}` : "";
  const isUpdate = phase === "update";
  byId("update-head").hidden = !isUpdate;
  const groups = isUpdate ? groupsOfUpdate() : groupsOf(now);
  byId("stage").replaceChildren(...groups.map((group) => drawnGroup(group, now)));
  if (isUpdate) {
    drawUpdate();
  }
  markChosen();
  if (focused) {
    cellOfPlace(byId("stage"), focused)?.focus();
  }
}

// What goes in, the parameters, what comes out: the same places forward and backward. What backward makes stands under
// what goes in and under the parameters.
function groupsOf(now) {
  const isBack = now.phase === "backward";
  const forward = isBack ? state.trace.steps[now.undoes] : now;
  const array = (name) => state.trace.arrays.get(name);
  const isParameter = (name) => array(name).parameter;
  const isValue = (name) => array(name).gradientOf === null;
  const inputs = forward.reads.filter((name) => isValue(name) && !isParameter(name));
  const parameters = forward.reads.filter(isParameter);
  const outputs = forward.writes.filter(isValue);
  const shown = new Set([...inputs, ...parameters, ...outputs]);
  const isShown = (name) => shown.has(name) || shown.has(array(name).gradientOf);
  const others = [...now.reads, ...now.writes, ...(now.adds ?? [])].filter((name) => !isShown(name));
  return [
    [isBack ? "went in" : "goes in", inputs],
    ["parameters", parameters],
    ["also at work", [...new Set(others)]],
    [isBack ? "came out" : "comes out", outputs],
  ].filter(([, names]) => names.length);
}

function drawnGroup([title, names], now) {
  const figures = names.map((name) => figure(state.trace.arrays.get(name), now));
  return make("section", {class: `group ${title.replaceAll(" ", "-")}`, "aria-label": title},
    make("h3", {}, title), make("div", {class: "figures"}, ...figures));
}

// One array, and its gradient under it: those parts of it that this step reads or makes, or else the whole.
function figure(array, now) {
  const parts = [captioned(array, now)];
  if (now.phase === "backward") {
    const {arrays} = state.trace;
    const named = [...new Set([...now.reads, ...now.writes])].map((name) => arrays.get(name));
    const atWork = named.filter(({gradientOf}) => gradientOf === array.name);
    const gradient = arrays.get(array.gradient);
    parts.push(...atWork.map((one) => captioned(one, now)));
    if (!atWork.length && gradient) {
      parts.push(isKnown(gradient.name, state.step) ? captioned(gradient, now) : notYet(gradient));
    }
  }
  return make("div", {class: parts.length > 2 ? "figure of-many" : "figure"}, ...parts);
}

// An array under its symbol. What a gradient is need not be said under each: it is that of the array above it.
function captioned(array, now) {
  const role = roleOf(array.name, now);
  const values = valuesAfter(array, state.step);
  const said = [
    array.gradientOf ? "" : array.meaning,
    whyNothing(array) || (values.length > 1 ? largestInWords({...array, values}) : ""),
    values === array.values ? "" : "So far: more is added to it later.",
  ].filter(Boolean);
  const caption = make("figcaption", {title: array.meaning}, make("strong", {}, array.symbol), " ",
    role ? make("span", {class: "role"}, role) : null, " ",
    array.gradientOf ? null : make("span", {class: "shape"}, shapeInWords(array)),
    ...said.map((text) => make("span", {class: "meaning"}, text)));
  return make("figure", {class: `captioned ${role === LEFT_OUT ? "unused" : role}`}, caption, heatMap({...array, values}));
}

// The largest number, and what it is measured by where that is another array's.
function largestInWords(array) {
  const sizes = [largestIn(array.values), strongestOf(array)];
  const [largest, scale] = sizes.map((size) => shortNumber(size).replace("+", ""));
  return `largest ${largest}${largest === scale ? "" : ` (full colour: ${scale})`}`;
}

function roleOf(name, now) {
  const {leftOut, adds = [], writes, reads} = now;
  const roles = [[bugAt(now) ? leftOut : [], LEFT_OUT], [adds, "added to"], [writes, "made now"], [reads, "read"]];
  return roles.find(([names]) => names.includes(name))?.[1] ?? "";
}

function notYet(gradient) {
  const step = stepThatMakes(gradient.name);
  const text = `${gradient.symbol} is known after step ${step + 1}`;
  return make("p", {class: "not-yet"}, makeButton(text, () => goToStep(step)));
}

// Mark the chosen number, and its value or gradient beside it.
function markChosen() {
  const stage = byId("stage");
  for (const cell of stage.querySelectorAll("td.chosen, td.twin")) {
    cell.classList.remove("chosen", "twin");
    cell.removeAttribute("aria-selected");
  }
  const {chosen, trace} = state;
  if (!chosen) {
    return;
  }
  const {gradient, gradientOf} = trace.arrays.get(chosen.name);
  const cell = cellOfPlace(stage, chosen);
  cell?.classList.add("chosen");
  cell?.setAttribute("aria-selected", "true");
  cellOfPlace(stage, {...chosen, name: gradient ?? gradientOf})?.classList.add("twin");
}

// Is the update of another parameter on the stage, or the array of the chosen number without its word?
function isOutdated() {
  const {chosen, step, trace} = state;
  const isThere = (name) => byId("stage").querySelector(`table[data-array="${CSS.escape(name)}"]`) !== null;
  const isOtherUpdate = trace.steps[step].phase === "update" && !isThere(`new(${updatedParameter()})`);
  return isOtherUpdate || (chosen && isThere(chosen.name) && !cellOfPlace(byId("stage"), chosen));
}
