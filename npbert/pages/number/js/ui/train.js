// Train: steps of AdamW in the page, on all its sentences. The words above and the attention here change with them.

import {makeModel} from "../math/run.js";
import {resetParameters} from "../math/train.js";
import {newTrainer, nextBatch, runAgain, setRate} from "./actions.js";
import {chartOfLosses, smoothed} from "./chart.js";
import {breath, byId, make, show} from "./dom.js";
import {counted, plainNumber} from "./format.js";
import {heatMap} from "./heatmap.js";
import {partInWords} from "./labels.js";
import {change, state, watch} from "./state.js";

const BETWEEN_PICTURES = 60; // milliseconds of training
const FRESH_RATE = 1e-2; // who knows nothing may take longer steps
let losses = [];
let running = null; // while it trains by itself

export function showTrain() {
  byId("train-one").addEventListener("click", () => train(1));
  byId("train-ten").addEventListener("click", () => train(10));
  byId("train-run").addEventListener("click", toggleRunning);
  byId("train-fresh").addEventListener("click", beginAnew);
  byId("train-trained").addEventListener("click", backToStart);
  byId("train-rate").addEventListener("input", ({target}) => setRate(10 ** Number(target.value)));
  watch(["rate", "trace"], drawRate);
  watch(["view", "trace"], () => state.view === "train" && drawTrain());
  watch(["view"], () => state.view !== "train" && running && toggleRunning());
}

function startOver(parameters, lr, isFresh) {
  losses = [];
  state.model.parameters = parameters;
  runAgain({trainer: newTrainer(lr), stepsTrained: 0, isFresh, trail: []});
}

export const backToStart = () => startOver(makeModel(state.data).parameters, state.data.optimizer.lr, false);

function beginAnew() {
  resetParameters(state.model, Math.floor(1e6 * Math.random()));
  startOver(state.model.parameters, FRESH_RATE, true);
}

function trainStep() {
  losses.push(state.trainer.step(nextBatch(), {bug: state.bug}));
}

function train(steps) {
  const earlier = state.trace;
  for (let done = 0; done < steps; done += 1) {
    trainStep();
  }
  runAgain({stepsTrained: losses.length, earlier});
}

async function toggleRunning() {
  running = running ? null : {earlier: state.trace};
  byId("train-run").setAttribute("aria-pressed", String(Boolean(running)));
  show("train-run", running ? "Stop" : "Train");
  for (const mine = running; mine && running === mine; await breath()) {
    for (const until = performance.now() + BETWEEN_PICTURES; performance.now() < until; ) {
      trainStep();
    }
    runAgain({stepsTrained: losses.length, ...mine});
  }
}

function drawRate() {
  const {lr} = state.trainer;
  byId("train-rate").value = Math.log10(lr);
  byId("train-rate").setAttribute("aria-valuetext", plainNumber(lr, 2));
  show("train-rate-value", plainNumber(lr, 2));
}

function drawTrain() {
  const last = plainNumber(losses.at(-1) ?? 0);
  show(
    "train-said",
    losses.length ? `${counted(losses.length, "step")}, loss of the last batch before its step ${last}` : "no step yet",
  );
  const lines = [
    {label: "loss of each batch", look: "faint", losses},
    {label: "smoothed, over about 10 steps", look: "solid", losses: smoothed(losses)},
  ];
  show("train-chart", ...(losses.length > 1 ? [chartOfLosses("the loss of each step of training", lines, 10)] : []));
  show("train-attention", ...attention());
}

// Who looks at whom: each head's shares.
function attention() {
  const heads = [...state.trace.arrays.values()].filter(({name, gradientOf}) => /\.P\.\d+$/.test(name) && !gradientOf);
  return heads.map((array) => {
    const layer = ` ${partInWords(array.name).split(" › ")[0]}`;
    const title = make("figcaption", {}, make("strong", {}, array.symbol), layer);
    return make("figure", {class: "captioned"}, title, heatMap(array));
  });
}
