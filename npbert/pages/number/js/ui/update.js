// The update on the stage: the arrays of one parameter, and what the whole step does to the losses and to all of them.

import {chooseParameter, parameterOf} from "./actions.js";
import {make, makeButton} from "./dom.js";
import {exactNumber, plainNumber, roundedNumber} from "./format.js";
import {partInWords} from "./labels.js";
import {largestOf} from "./nothing.js";
import {steepestWeights} from "./place.js";
import {state} from "./state.js";

const GROUPS = [ // what comes out first: it is made of those below it
  ["before and after", ["", "decay", "delta", "new"]],
  ["what is remembered of the gradients", ["m", "v", "m_hat", "v_hat"]],
  ["what was remembered", ["m_before", "v_before"]],
  ["the gradient of the batch", ["g"], ["norm", "clip"]],
];

// Whose update it is: that of the chosen number, or the last one that was chosen, by name or by a number; or the steepest.
export function updatedParameter() {
  return (state.chosen && parameterOf(state.chosen)) ?? state.parameter ?? steepestWeights(1)[0].name;
}

// The groups of the stage: titles, and the names of their arrays.
export function groupsOfUpdate() {
  const name = updatedParameter();
  const {t} = state.trace.update;
  const groups = GROUPS.filter(([, [first]]) => t > 1 || first !== "m_before"); // nothing but 0 is remembered at first
  return groups.map(([title, own, ofAll = []]) =>
    [title, [...own.map((key) => (key ? `${key}(${name})` : name)), ...ofAll]]);
}

// What is said above them.
export function headOfUpdate() {
  const {t, lr, parameters} = state.trace.update;
  const {betas, eps, weight_decay: decay, max_grad_norm: most} = state.data.optimizer;
  const here = updatedParameter();
  const options = parameters.map((name) =>
    make("option", {value: name, selected: name === here}, titleOfParameter(name)));
  const select = make("select", {id: "parameter", onchange: () => chooseParameter(select.value)}, ...options);
  const rate = plainNumber(roundedNumber(lr, 2));
  const said = t === 1
    ? "This is the first step: nothing is remembered yet, so m̂/√v̂ is +1 or −1, and every number moves by about the "
      + `learning rate, ${rate}, whether its gradient is large or small: even a model that guesses well may get worse.`
    : `This is step ${t} of the training under “Train it”: “1 step” there makes exactly this one.`;
  const constants = `t = ${t}, lr = ${rate}, β₁ = ${betas[0]}, β₂ = ${betas[1]}, eps = ${exactNumber(eps)}, `
    + `λ = ${decay}, max_grad_norm = ${most}`;
  return [
    make("p", {class: "formula"}, constants),
    make("p", {}, `${said} Click a number under “before and after” to see what makes it.`),
    make("label", {}, "Every parameter does the same. Here: ", select),
  ];
}

// Below them: the losses before and after the step, and how far each parameter moves.
export function tablesOfUpdate() {
  return [
    tableOf("The losses before and after", ["sentence", "its share", "before", "after"], rowsOfLosses()),
    tableOf("Which parameters move most", ["parameter", "‖Δ‖/‖w‖", "largest |Δ|"], rowsOfMoves()),
  ];
}

function rowsOfLosses() {
  const {trace: {loss, update}, example} = state;
  const {batch, next, lossAfter} = update;
  update.after ??= batch().map((one) => lossAfter(one.example)); // once, however often the step is shown
  const rows = batch().map(({isShown, example: {text}, share, trace: {loss: before}}, index) =>
    [isShown ? `${text} (on top)` : text, share, before, update.after[index]]);
  const whole = ["the whole batch", 1, next().loss, rows.reduce((sum, [, share, , after]) => sum + share * after, 0)];
  const isIn = batch().some(({isShown}) => isShown);
  return [...rows, whole, ...(isIn ? [] : [["on top, not in the batch", 0, loss, lossAfter(example)]])];
}

function rowsOfMoves() {
  const moves = [...state.trace.update.next().made].map(([name, {w, delta}]) => [
    makeButton(titleOfParameter(name), () => chooseParameter(name)),
    ...[Math.hypot(...delta.re) / Math.hypot(...w.re), largestOf(delta.re)].map((value) => roundedNumber(value, 3)),
  ]);
  return moves.sort(([, a], [, b]) => b - a);
}

function tableOf(title, heads, rows) {
  const head = heads.map((text, index) => make("th", {scope: "col", class: index ? "number" : ""}, text));
  const body = rows.map(([name, ...figures]) => make("tr", {}, make("th", {scope: "row"}, make("bdi", {}, name)),
    ...figures.map((value) => make("td", {class: "number"}, plainNumber(value)))));
  const table = make("table", {class: "words-table"},
    make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  return make("section", {class: "group", "aria-label": title}, make("h3", {}, title),
    make("div", {class: "scrolls heat-box", tabindex: 0, role: "group", "aria-label": title}, table));
}

function titleOfParameter(name) {
  return `${state.trace.arrays.get(name).symbol}, ${partInWords(name.replace(/\.[^.]*$/, ""))}`;
}
