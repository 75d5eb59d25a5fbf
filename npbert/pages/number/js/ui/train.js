// Train: steps of AdamW in the page, on all its sentences. The words above and the attention here change with them.

import {makeModel, run} from "../math/run.js";
import {resetParameters} from "../math/train.js";
import {newTrainer, nextBatch, runAgain, setRate, takeModelBack, valuesOf} from "./actions.js";
import {workBeside} from "./beside.js";
import {chartOfLosses, smoothed} from "./chart.js";
import {byId, make, makeRow, show} from "./dom.js";
import {counted, MINUS, plainNumber} from "./format.js";
import {attentionMaps} from "./heatmap.js";
import {bestOf} from "./labels.js";
import {change, state, watch} from "./state.js";

const BETWEEN_PICTURES = 60; // milliseconds of training
const FRESH_RATE = 1e-2; // who knows nothing may take longer steps
const TABLE = "bert.embeddings.word_embeddings.weight";
let losses = [];
let start = null; // the model as it was before the first step
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
  byId("train-rate").addEventListener("input", ({target}) => setRate(10 ** Number(target.value)));
  watch(["rate", "trace"], drawRate);
  watch(["view", "trace"], () => state.view === "train" && drawTrain());
  watch(["view"], () => state.view !== "train" && stopTraining && toggleRunning());
}

function startOver(setModel) {
  losses = [];
  change({chosen: null, trail: []});
  setModel();
}

function beFresh() {
  resetParameters(state.model, Math.floor(1e6 * Math.random()));
  runAgain({trainer: newTrainer(FRESH_RATE), changed: [], isFresh: true, stepsTrained: 0, trainedWith: new Set()});
}

function trainStep() {
  losses.push(state.trainer.step(nextBatch(), {bug: state.bug}));
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
  show("train-run", stopTraining ? "Stop" : "Train");
}

function drawRate() {
  const {lr} = state.trainer;
  byId("train-rate").value = Math.log10(lr);
  show("train-rate-value", plainNumber(lr, 2));
  byId("train-rate").setAttribute("aria-valuetext", plainNumber(lr, 2));
}

function drawTrain() {
  if (!losses.length) {
    start = makeModel(state.data);
    valuesOf(state.model).forEach((values, name) => start.parameters.get(name).values.set(values));
  }
  show(
    "train-said",
    losses.length
      ? `${counted(losses.length, "step")}, loss of the last batch ${plainNumber(losses.at(-1))}`
      : "no step yet",
  );
  const lines = [
    {label: "loss of each batch", look: "faint", losses},
    {label: "smoothed, over about 10 steps", look: "solid", losses: smoothed(losses)},
  ];
  show("train-chart", ...(losses.length > 1 ? [chartOfLosses("the loss of each step of training", lines, 10)] : []));
  const before = losses.length ? run(start, state.example, {backward: false}).arrays : null;
  show("train-attention", ...attentionMaps({under: (name) => (before ? [asItWas(before.get(name))] : [])}));
  drawWords();
}

// The shares of one head as they were, small.
function asItWas({values, shape, symbol}) {
  const cells = Array.from(values, (value) => make("i", {style: `--share: ${Math.round(100 * value)}%`}));
  const look = {class: "mini", role: "img", "aria-label": `${symbol} before training`, style: `--columns: ${shape[1]}`};
  return make("div", look, ...cells);
}

// For each word of the sentence: which words lie nearest to it in the table, before and now, and how far it has moved.
function drawWords() {
  const {
    example,
    data: {
      vocabulary,
      config: {hidden_size: width},
    },
    model,
  } = state;
  const words = [...new Set([...example.input_ids, ...example.labels.filter((label) => label >= 0)])];
  const tables = [start, model].map(({parameters}) => parameters.get(TABLE).values);
  const rowIn = (table, word) => table.slice(word * width, (word + 1) * width);
  const cosine = (a, b) => a.reduce((sum, value, n) => sum + value * b[n], 0) / (Math.hypot(...a) * Math.hypot(...b));
  const nearest = (table, word) => {
    const cosines = vocabulary.map((_, other) =>
      other === word ? -2 : cosine(rowIn(table, word), rowIn(table, other)),
    );
    return bestOf(cosines, 3)
      .map((other) => `${vocabulary[other]} ${cosines[other].toFixed(2).replace("-", MINUS)}`)
      .join(", ");
  };
  show(
    "train-words",
    ...words.map((word) => {
      const [was, now] = tables.map((table) => rowIn(table, word));
      const moved = Math.hypot(...now.map((value, n) => value - was[n])) / Math.hypot(...was);
      return makeRow(
        make("bdi", {}, vocabulary[word]),
        ...tables.map((table) => nearest(table, word)),
        moved ? plainNumber(moved, 2) : "–",
      );
    }),
  );
}
