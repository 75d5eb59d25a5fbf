// Train: steps of AdamW in the page, on all its sentences. The words above and the attention here change with them.

import {makeTrainer, resetParameters} from "../math/index.js";
import {runAgain, takeModelBack} from "./actions.js";
import {attentionMap, sharesOfAttention} from "./attention_maps.js";
import {asItWas, beginHere, drawWords} from "./before.js";
import {axisFor, chart} from "./chart.js";
import {byId} from "./dom.js";
import {counted, plainNumber, roundedNumber} from "./format.js";
import {smoothed} from "./smoothed.js";
import {change, state, watch} from "./state.js";

const IN_A_BATCH = 8;
const TRAIN_AT_ONCE = 60; // of training between two pictures
const SMOOTH_OVER = 10; // steps
let trainer = null;
let losses = [];
let isRunning = false;

// Listen to the buttons; draw when the tab is open.
export function showTrain() {
  byId("train-one").addEventListener("click", () => trainSteps(1));
  byId("train-ten").addEventListener("click", () => trainSteps(10));
  byId("train-run").addEventListener("click", toggleRunning);
  byId("train-fresh").addEventListener("click", () => startOver(beFresh));
  byId("train-trained").addEventListener("click", () => startOver(takeModelBack));
  byId("changed-out").addEventListener("click", () => {
    startOver(takeModelBack);
    byId(`tab-${state.view}`).focus({preventScroll: true}); // the note, and its button, are gone
  });
  byId("train-rate").addEventListener("input", drawRate);
  byId("train-rate").value = Math.log10(state.data.optimizer.lr);
  watch(["view", "trace"], () => state.view === "train" && drawTrain());
  watch(["view"], () => state.view !== "train" && isRunning && toggleRunning());
  drawRate();
}

// Some of the sentences, drawn anew for every step.
export function drawnBatch(random = Math.random) {
  const {examples} = state.data;
  const count = Math.min(IN_A_BATCH, examples.length);
  const order = examples.map((example) => ({example, key: random()})).sort((a, b) => a.key - b.key);
  return order.slice(0, count).map(({example}) => example);
}

function startOver(setModel) {
  trainer = null;
  losses = [];
  change({chosen: null, trail: []});
  setModel();
}

function beFresh() {
  resetParameters(state.model, Math.floor(1e6 * Math.random()));
  runAgain({changed: [], isFresh: true, stepsTrained: 0, trainedWith: new Set()});
}

function trainSteps(count) {
  const until = performance.now() + (count === Infinity ? TRAIN_AT_ONCE : Infinity);
  trainer ??= makeTrainer(state.model, {...state.data.optimizer, lr: learningRate()});
  for (let done = 0; done < count && performance.now() < until; done += 1) {
    trainer.lr = learningRate();
    losses.push(trainer.step(drawnBatch(), {bug: state.bug}).loss);
  }
  const trainedWith = new Set(state.bug ? [...state.trainedWith, state.bug] : state.trainedWith);
  runAgain({stepsTrained: losses.length, trainedWith, changed: []});
}

function toggleRunning() {
  isRunning = !isRunning;
  byId("train-run").textContent = isRunning ? "❚❚ Stop" : "▶ Train";
  byId("train-run").setAttribute("aria-pressed", String(isRunning));
  const again = () => {
    if (isRunning) {
      trainSteps(Infinity);
      setTimeout(again, 0);
    }
  };
  again();
}

function learningRate() {
  return 10 ** Number(byId("train-rate").value);
}

function drawRate() {
  const text = plainNumber(Number(learningRate().toPrecision(2)));
  byId("train-rate-value").textContent = text;
  byId("train-rate").setAttribute("aria-valuetext", text);
}

function drawTrain() {
  if (!losses.length) {
    beginHere();
  }
  const said = losses.length
    ? `${counted(losses.length, "step")}, loss of the last batch ${plainNumber(losses.at(-1))}`
    : "no step yet";
  byId("train-said").textContent = said;
  byId("train-chart").replaceChildren(...(losses.length > 1 ? [lossChart()] : []));
  const arrays = sharesOfAttention();
  byId("train-looks").textContent = looksInWords(arrays);
  const underneath = ({name}) => (losses.length ? [asItWas(name)] : []);
  byId("train-attention").replaceChildren(...arrays.map((array) => attentionMap(array, {under: underneath(array)})));
  drawWords();
}

function lossChart() {
  const pointsOf = (values) => values.map((loss, index) => [index + 1, loss]);
  const mean = smoothed(losses, SMOOTH_OVER);
  return chart({
    title: "the loss of each step of training",
    lines: [
      {label: "loss of each batch", look: "faint", points: pointsOf(losses)},
      {label: `smoothed, over about ${SMOOTH_OVER} steps`, look: "solid", points: pointsOf(mean)},
    ],
    x: {label: "step", from: 1, to: Math.max(10, losses.length)},
    y: {...axisFor([...losses, 0], "loss"), from: 0},
  });
}

// How far from looking everywhere alike.
function looksInWords(arrays) {
  const shares = arrays.flatMap(({values}) => [...values]);
  const alike = 1 / state.example.input_ids.length;
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => plainNumber(roundedNumber(share, 2)));
  const said = `If every token got the same share, each would be ${plainNumber(roundedNumber(alike, 3))}; `;
  return `${said}here they go from ${least} to ${most}.`;
}
