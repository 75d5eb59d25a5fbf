// Break it: plant a bug in the backward. The check turns red at once; training hardly shows it.

import {BUGS, makeModel, makeTrainer, resetParameters} from "../math/index.js";
import {follow, plantBug, stepThatMakes} from "./actions.js";
import {axisFor, chart} from "./chart.js";
import {byId, make, makeButton} from "./dom.js";
import {counted, signedNumber, smallNumber} from "./format.js";
import {titleOf} from "./place.js";
import {partInWords} from "./labels.js";
import {checkBesides} from "./proof.js";
import {change, state, watch} from "./state.js";
import {drawnBatch, runningMean} from "./train.js";

const STEPS_OF_RACE = 150;
const SEED = 3;
let stopCheck = () => {};
let stopRace = () => {};

// Draw the list of bugs; check again when one is planted.
export function showBreak() {
  const choices = [{id: null, name: "none: the backward as it should be"}, ...BUGS].map(({id, name}) => {
    const radio = make("input", {type: "radio", name: "bug", value: id ?? "", checked: id === null});
    radio.addEventListener("change", () => plantBug(id));
    return make("label", {}, radio, ` ${name}`);
  });
  byId("bugs").append(...choices);
  byId("race").addEventListener("click", race);
  byId("bug-out").addEventListener("click", () => plantBug(null));
  watch(["bug"], drawBug);
  drawBug();
  watch(["view", "trace"], () => state.view === "break" && drawCheck());
}

function drawBug() {
  const bug = BUGS.find(({id}) => id === state.bug);
  for (const radio of byId("bugs").querySelectorAll("input")) {
    radio.checked = radio.value === (state.bug ?? "");
  }
  byId("bug-note").hidden = !bug;
  byId("proof").hidden = Boolean(bug); // it was without the bug
  byId("bug-name").textContent = bug ? bug.name : "";
  const lines = !bug
    ? []
    : [
        make("p", {}, bug.text),
        make("p", {class: "formula"}, "right: ", bug.right),
        make("p", {class: "formula wrong"}, "planted: ", bug.line),
      ];
  byId("bug-lines").replaceChildren(...lines);
  stopRace();
  byId("race-chart").replaceChildren();
  byId("race").disabled = !bug;
  byId("race-said").textContent = bug ? "" : "Plant a bug first.";
}

function drawCheck() {
  stopCheck();
  const list = byId("check-list");
  list.replaceChildren();
  const progress = (share) => {
    byId("check-said").className = "proof";
    byId("check-said").textContent = `Checking … ${Math.round(100 * share)} %`;
  };
  stopCheck = checkBesides(state.trace, progress, ({count, worst, perParameter}) => {
    const [right, wrong] = [true, false].map((is) => perParameter.filter(({ok}) => ok === is));
    byId("check-said").className = `proof ${wrong.length ? "bad" : "good"}`;
    const all = `${counted(count, "derivative")} of ${counted(perParameter.length, "parameter")}`;
    const figure = `${all} compared with finite differences`;
    const bad = `✗ ${wrong.length} of ${perParameter.length} parameters get a wrong gradient (${figure}).`;
    const good = `✓ All are right: ${figure}, the worst off by ${smallNumber(worst.error)}.`;
    const here = state.bug && !wrong.length ? " In this sentence the bug changes nothing: try another." : "";
    byId("check-said").textContent = (wrong.length ? bad : good) + here;
    list.append(...firstBack(wrong).map((entry, index) => wrongRow(entry, index === 0)));
    if (right.length) {
      const names = make("p", {class: "quiet"}, right.map(({name}) => partInWords(name)).join(", "));
      list.append(make("details", {}, make("summary", {}, `✓ ${right.length} are right`), names));
    }
  });
}

// In the order in which backward makes them: the first of them is where to look for the bug.
function firstBack(wrong) {
  const gradient = ({name}) => state.trace.arrays.get(name).gradient;
  return wrong.toSorted((a, b) => stepThatMakes(gradient(a)) - stepThatMakes(gradient(b)));
}

function wrongRow({name, worst}, isFirst) {
  const gradient = state.trace.arrays.get(name).gradient;
  const {row, column, analytic, numeric, error} = worst;
  const go = () => {
    change({view: "step", trail: []});
    follow({name: gradient, row, column});
  };
  const off = error < 0.001 ? smallNumber(error) : `${Number((100 * error).toPrecision(2))} %`;
  const figures = `backward says ${signedNumber(analytic)}, the difference ${signedNumber(numeric)}: off by ${off}`;
  const parts = [
    make("strong", {}, `✗ ${partInWords(name)}`),
    make("span", {class: "quiet"}, ` ${titleOf({name: gradient, row, column})}: ${figures}`),
  ];
  if (isFirst) {
    parts.push(
      make("span", {class: "first-wrong"}, "the first that is wrong on the way back: the bug is here or just before"),
    );
  }
  return make(
    "div",
    {class: "wrong-row"},
    makeButton("follow it", go, {"aria-label": `follow ${titleOf({name: gradient, row, column})}`}),
    make("div", {}, ...parts),
  );
}

// Train two fresh models beside each other, one of them with the bug.
function race() {
  stopRace();
  const [right, broken] = [racer(null), racer(state.bug)];
  let isOn = true;
  stopRace = () => {
    isOn = false;
  };
  const work = () => {
    if (!isOn) {
      return;
    }
    const batch = drawnBatch();
    right.learn(batch);
    broken.learn(batch);
    drawRace(right.losses, broken.losses);
    if (right.losses.length < STEPS_OF_RACE) {
      setTimeout(work, 0);
    }
  };
  work();
}

function racer(bug) {
  const model = makeModel(state.data);
  resetParameters(model, SEED);
  const trainer = makeTrainer(model, state.data.optimizer);
  const losses = [];
  return {losses, learn: (batch) => losses.push(trainer.step(batch, {bug}).loss)};
}

function drawRace(right, broken) {
  const points = (losses) => runningMean(losses, 10).map((loss, index) => [index + 1, loss]);
  byId("race-said").textContent = `step ${right.length} of ${STEPS_OF_RACE}`;
  byId("race-chart").replaceChildren(
    chart({
      title: "the loss of two fresh models: one with the right backward, one with the bug",
      lines: [
        {label: "right", look: "solid", points: points(right)},
        {label: "with the bug", look: "dashed", points: points(broken)},
      ],
      x: {label: "step", from: 1, to: STEPS_OF_RACE},
      y: {...axisFor([...right, ...broken, 0], "loss, mean of 10 steps"), from: 0},
    }),
  );
}
