// A race: two fresh models are trained beside each other on the same sentences, one of them with the bug.

import {batchAt, makeModel, makeTrainer, resetParameters} from "../math/index.js";
import {axisFor, chart} from "./chart.js";
import {byId} from "./dom.js";
import {plainNumber} from "./format.js";
import {state} from "./state.js";
import {smoothed} from "./smoothed.js";

const STEPS_OF_RACE = 150;
const SMOOTHED_OVER = 10; // steps
const SEED = 3;
let stopRace = () => {};

// No race, until it is started; none without a bug.
export function clearRace() {
  stopRace();
  byId("race-chart").replaceChildren();
  byId("race").disabled = !state.bug;
  byId("race-said").textContent = state.bug ? "" : "Plant a bug first.";
}

// Start it anew.
export function race() {
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
    const batch = batchAt(state.data.examples, right.losses.length);
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
  const points = (losses) => smoothed(losses, SMOOTHED_OVER).map((loss, index) => [index + 1, loss]);
  const isOver = right.length === STEPS_OF_RACE;
  byId("race-said").textContent = isOver ? verdictOf(right, broken) : `step ${right.length} of ${STEPS_OF_RACE}`;
  byId("race-chart").replaceChildren(
    chart({
      title: "the loss of two fresh models: one with the right backward, one with the bug",
      lines: [
        {label: "right", look: "solid", points: points(right)},
        {label: "with the bug", look: "dashed", points: points(broken)},
      ],
      x: {label: "step", from: 1, to: STEPS_OF_RACE},
      y: {...axisFor([...right, ...broken, 0], "loss, smoothed"), from: 0},
    }),
  );
}

// How it ended, in one or two sentences.
export function verdictOf(right, broken) {
  const end = (losses) => smoothed(losses, SMOOTHED_OVER).at(-1);
  const [first, well, ill] = [broken[0], end(right), end(broken)];
  const figures = `After ${right.length} steps the loss is ${short(well)} with the right backward, and ${short(ill)} `
    + `with the bug; both began at ${short(first)}.`;
  const fell = ill < 0.9 * first ? "It fell in spite of the bug" : "With the bug it hardly fell";
  return `${figures} ${fell}${compared(well, ill)}.`;
}

function compared(well, ill) {
  if (ill > 1.1 * well) {
    return ", but less far";
  }
  return ill < 0.9 * well ? ", and this time even further" : ", and as far as with the right backward";
}

const short = (loss) => plainNumber(Number(loss.toPrecision(3)));
