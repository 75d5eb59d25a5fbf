// A race: two fresh models are trained beside each other on the same sentences, one of them with the bug.

import {batchAt, makeModel, makeTrainer, resetParameters} from "../math/index.js";
import {workBeside} from "./beside.js";
import {byId} from "./dom.js";
import {plainNumber, roundedNumber} from "./format.js";
import {chartOfLosses, smoothed} from "./losses.js";
import {said} from "./said.js";
import {state} from "./state.js";

const STEPS_OF_RACE = 150;
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
  const losses = [[], []];
  stopRace = workBeside(racing(losses, state.bug), ({done}) => drawRace(...losses, done), 0);
}

// A step of both at a time.
function* racing(losses, bug) {
  const trainers = losses.map(() => {
    const model = makeModel(state.data);
    resetParameters(model, SEED);
    return makeTrainer(model, state.data.optimizer);
  });
  for (let step = 0; step < STEPS_OF_RACE; step += 1) {
    const batch = batchAt(state.data.examples, step);
    trainers.forEach((trainer, index) => losses[index].push(trainer.step(batch, {bug: index ? bug : null}).loss));
    yield;
  }
}

function drawRace(right, broken, isOver) {
  const lines = [
    {label: "right, smoothed", look: "solid", losses: smoothed(right)},
    {label: "with the bug, smoothed", look: "dashed", losses: smoothed(broken)},
  ];
  const title = "the loss of two fresh models: one with the right backward, one with the bug";
  byId("race-said").textContent = isOver ? howItEnded(broken[0], ...lines) : `step ${right.length} of ${STEPS_OF_RACE}`;
  byId("race-chart").replaceChildren(chartOfLosses(title, lines, STEPS_OF_RACE));
}

// How it ended, in one or two sentences.
function howItEnded(first, ...lines) {
  const [well, ill] = lines.map(({losses}) => losses.at(-1));
  const [begun, right, broken] = [first, well, ill].map((loss) => plainNumber(roundedNumber(loss, 3)));
  const fell = ill < 0.9 * first ? "It fell in spite of the bug" : "With the bug it hardly fell";
  const isEven = ill < 0.9 * well ? "and this time even further" : "and as far as with the right backward";
  const far = ill > 1.1 * well ? "but less far" : isEven;
  return said("race.over", {steps: STEPS_OF_RACE, right, broken, begun, fell, far});
}
