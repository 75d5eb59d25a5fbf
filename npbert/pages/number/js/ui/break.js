// Break it: plant a bug in the backward. The check turns red at once; training hardly shows it.

import {BUGS, run} from "../math/index.js";
import {chooseSentence, plantBug, stepThatMakes} from "./actions.js";
import {byId, make, makeButton} from "./dom.js";
import {counted, signedNumber, smallNumber} from "./format.js";
import {beginAt} from "./follow.js";
import {titleOf} from "./place.js";
import {partInWords} from "./labels.js";
import {isSecret, knownBug} from "./notes.js";
import {checkBesides} from "./proof.js";
import {clearRace, race} from "./race.js";
import {state, watch} from "./state.js";
import {openView} from "./tabs.js";

const ROWS = 4; // of wrong arrays that are shown at once
let stopCheck = () => {};

// Draw the list of bugs; check again when one is planted.
export function showBreak() {
  const choices = [{id: null, name: "none: the backward as it should be"}, ...BUGS].map(({id, name}) => {
    const radio = make("input", {type: "radio", name: "bug", value: id ?? "", checked: id === null});
    radio.addEventListener("change", () => plantBug(id));
    return make("label", {}, radio, make("span", {}, name));
  });
  byId("bugs").append(...choices);
  byId("race").addEventListener("click", race);
  byId("bug-out").addEventListener("click", () => {
    plantBug(null);
    byId(`tab-${state.view}`).focus({preventScroll: true}); // the note, and its button, are gone
  });
  watch(["bug"], drawBug);
  drawBug();
  watch(["view", "trace"], () => {
    stopCheck();
    if (state.view === "break") {
      drawCheck();
    }
  });
}

function drawBug() {
  const bug = knownBug();
  for (const radio of byId("bugs").querySelectorAll("input")) {
    radio.checked = radio.value === (bug?.id ?? "");
  }
  const lines = !bug
    ? []
    : [
        make("p", {}, bug.text),
        make("p", {class: "formula"}, "right: ", bug.right),
        make("p", {class: "formula wrong"}, "planted: ", bug.line),
      ];
  byId("bug-lines").replaceChildren(...lines);
  clearRace();
}

function drawCheck() {
  const list = byId("check-list");
  list.replaceChildren();
  const progress = (share) => {
    byId("check-said").className = "proof";
    byId("check-said").textContent = `Checking … ${Math.round(100 * share)} %`;
  };
  stopCheck = checkBesides(state.trace, progress, ({count, worst, perParameter}) => {
    const [right, wrong] = [true, false].map((is) => perParameter.filter(({ok}) => ok === is));
    byId("check-said").className = `proof ${wrong.length ? "bad" : "good"}`;
    const all = `${counted(count, "derivative")} in ${counted(perParameter.length, "array")} of parameters`;
    const figure = `${all} compared with finite differences`;
    const get = wrong.length === 1 ? "array gets" : "arrays get";
    const bad = `✗ ${wrong.length} ${get} a wrong gradient (${figure}).`;
    const good = `✓ All are right: ${figure}, the worst off by ${smallNumber(worst.error)}.`;
    byId("check-said").textContent = wrong.length ? bad : good;
    if (wrong.length && !isSecret()) {
      const said = make("p", {class: "first-wrong", role: "status"});
      list.append(said);
      lookForStep(said);
    }
    list.append(...foldedRows(backwardsOrder(wrong).map(wrongRow)));
    if (state.bug && !wrong.length) {
      list.append(elsewhere());
    }
    if (right.length) {
      const names = make("p", {class: "quiet"}, right.map(({name}) => partInWords(name)).join(", "));
      list.append(make("details", {}, make("summary", {}, `✓ ${right.length} are right`), names));
    }
  });
}

// In this sentence the bug changes nothing: a way to one in which it does.
function elsewhere() {
  const {model, bug, data} = state;
  const example = data.examples.find((one) => changesSomething(run(model, one), run(model, one, {bug})));
  const here = "In this sentence the bug changes nothing.";
  return example
    ? make("p", {}, `${here} It shows in another: `, makeButton(example.text, () => chooseSentence(example)))
    : make("p", {}, `${here} Nor does it in any other of the page.`);
}

// Does the bug move a gradient of a parameter? Both are traces, one without and one with it.
export function changesSomething(right, broken) {
  const gradients = [...right.arrays.values()].filter(({parameter}) => parameter).map(({gradient}) => gradient);
  return gradients.some((name) =>
    right.arrays.get(name).values.some((value, index) =>
      Math.abs(value - broken.arrays.get(name).values[index]) > 1e-5));
}

// In the order in which backward makes them.
function backwardsOrder(entries) {
  const madeAt = ({name}) => stepThatMakes(state.trace.arrays.get(name).gradient);
  return entries.toSorted((a, b) => madeAt(a) - madeAt(b));
}

function foldedRows(rows) {
  const more = rows.slice(ROWS);
  const folded = make("details", {}, make("summary", {}, `✗ and ${more.length} more`), ...more);
  return more.length > 1 ? [...rows.slice(0, ROWS), folded] : rows;
}

// One array of which the gradient is wrong.
function wrongRow({name, worst}) {
  const {gradient} = state.trace.arrays.get(name);
  const {row, column, analytic, numeric} = worst;
  const place = {name: gradient, row, column};
  const figures = `backward says ${signedNumber(analytic)}, the finite difference gives ${signedNumber(numeric)}`;
  const parts = [
    make("strong", {}, `✗ ${partInWords(name)}`),
    make("span", {class: "quiet"}, ` ${titleOf(place)}: ${figures}: ${faultInWords(analytic, numeric)}`),
  ];
  return make(
    "div",
    {class: "wrong-row"},
    makeButton("follow it", () => beginAt(place), {"aria-label": `follow ${titleOf(place)}`}),
    make("div", {}, ...parts),
  );
}

// How a derivative is wrong, beside the one that is right.
export function faultInWords(analytic, numeric) {
  const times = analytic / numeric;
  if (Math.abs(times) < 1e-3) {
    return "it is missing";
  }
  if (!(Math.abs(times) < 1e3)) {
    return "there should be next to nothing";
  }
  if (times < 0) {
    return "it has the wrong sign";
  }
  return `it is ${Number(times.toPrecision(3))} times what it should be`;
}

// Which step the bug is in: of the first array that is wrong on the way back, all that it is made from is right.
function lookForStep(said) {
  const {trace} = state;
  said.textContent = "Looking for the step that it is in …";
  const options = {sample: 24, activations: true, method: "complex"};
  stopCheck = checkBesides(trace, () => {}, ({first}) => said.replaceChildren(...whereToLook(first)), options);
}

function whereToLook(name) {
  const {steps, arrays} = state.trace;
  const {gradient} = arrays.get(name);
  const makers = steps.filter(({writes}) => writes.includes(gradient));
  const [last] = makers.slice(-1);
  const text = `The first that is wrong on the way back is ${arrays.get(gradient).symbol}. `;
  const orElse = last.kind === "Fork"
    ? ", or on one of the roads that are added up there"
    : "; everything it is made from is right";
  const where = makers.length > 1 ? `It is added to in ${makers.length} steps: the bug is in one of them.`
    : `The bug is in the step that makes it${orElse}.`;
  const open = (step) => openView("step", {step, chosen: null, trail: []});
  const goes = makers.map(({index, part}) => makeButton(`Step ${index + 1}: ${partInWords(part)}`, () => open(index)));
  return [text, where, " ", ...goes];
}
