// Train: steps of AdamW in the page, on all its sentences. The words above and the attention here change with them.

import {resetParameters} from "../math/index.js";
import {newTrainer, nextBatch, runAgain, setRate, takeModelBack} from "./actions.js";
import {attentionMap, sharesOfAttention} from "./attention_maps.js";
import {asItWas, beginHere, drawWords} from "./before.js";
import {workBeside} from "./beside.js";
import {byId} from "./dom.js";
import {counted, plainNumber, roundedNumber} from "./format.js";
import {chartOfLosses, SMOOTHED, smoothed} from "./losses.js";
import {change, state, watch} from "./state.js";

const BETWEEN_PICTURES = 60; // milliseconds of training
let losses = [];
let stopTraining = null; // while it runs

// Listen to the buttons; draw when the tab is open.
export function showTrain() {
  byId("train-one").addEventListener("click", () => train(1));
  byId("train-ten").addEventListener("click", () => train(10));
  byId("train-run").addEventListener("click", toggleRunning);
  byId("train-fresh").addEventListener("click", () => startOver(beFresh));
  byId("train-trained").addEventListener("click", () => startOver(takeModelBack));
  byId("changed-out").addEventListener("click", () => {
    startOver(takeModelBack);
    byId(`tab-${state.view}`).focus({preventScroll: true}); // the note, and its button, are gone
  });
  byId("train-rate").addEventListener("input", () => setRate(10 ** Number(byId("train-rate").value)));
  byId("train-rate").value = Math.log10(state.trainer.lr);
  watch(["rate"], drawRate);
  watch(["view", "trace"], () => state.view === "train" && drawTrain());
  watch(["view"], () => state.view !== "train" && stopTraining && toggleRunning());
  drawRate();
}

function startOver(setModel) {
  losses = [];
  change({chosen: null, trail: []});
  setModel();
}

function beFresh() {
  resetParameters(state.model, Math.floor(1e6 * Math.random()));
  runAgain({trainer: newTrainer(), changed: [], isFresh: true, stepsTrained: 0, trainedWith: new Set()});
}

function trainStep() {
  losses.push(state.trainer.step(nextBatch(), {bug: state.bug}).loss);
}

function train(steps) {
  for (let done = 0; done < steps; done += 1) {
    trainStep();
  }
  showTrained();
}

function* endlessly() {
  while (true) {
    yield trainStep();
  }
}

function showTrained() {
  const trainedWith = new Set(state.bug ? [...state.trainedWith, state.bug] : state.trainedWith);
  runAgain({stepsTrained: losses.length, trainedWith, changed: []});
}

function toggleRunning() {
  stopTraining?.();
  stopTraining = stopTraining ? null : workBeside(endlessly(), showTrained, BETWEEN_PICTURES);
  byId("train-run").setAttribute("aria-pressed", String(Boolean(stopTraining)));
}

function drawRate() {
  const text = plainNumber(roundedNumber(state.trainer.lr, 2));
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
  const lines = [
    {label: "loss of each batch", look: "faint", losses},
    {label: SMOOTHED, look: "solid", losses: smoothed(losses)},
  ];
  return chartOfLosses("the loss of each step of training", lines, 10);
}

// How far from looking everywhere alike.
function looksInWords(arrays) {
  const shares = arrays.flatMap(({values}) => [...values]);
  const alike = 1 / state.example.input_ids.length;
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => plainNumber(roundedNumber(share, 2)));
  const said = `If every token got the same share, each would be ${plainNumber(roundedNumber(alike, 3))}; `;
  return `${said}here they go from ${least} to ${most}.`;
}
