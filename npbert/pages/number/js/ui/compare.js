// Two guesses compared: why the model prefers one word to another at a hidden place, by words and by features.

import {byFeature, run} from "../math/index.js";
import {compareWith} from "./actions.js";
import {attentionMap, sharesOfAttention} from "./attention_maps.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton} from "./dom.js";
import {beginAt} from "./follow.js";
import {plainNumber, roundedNumber, signedNumber} from "./format.js";
import {bestOf, indexLabel, maskedPositions} from "./labels.js";
import {valueAt} from "./place.js";
import {said} from "./said.js";
import {change, state, watch} from "./state.js";

// Draw it while two guesses are compared, and name what backward begins from wherever the page does.
export function showCompare() {
  byId("rival-out").addEventListener("click", compareNoMore);
  byId("rival").addEventListener("change", (event) => {
    compareWith({...state.rival, word: Number(event.target.value)});
    byId("rival").focus({preventScroll: true});
  });
  // what is followed from here begins a trail of its own
  const begin = ({target}) => target.closest(".bars") && change({trail: []});
  byId("compare").addEventListener("click", begin, {capture: true});
  watch(["trace", "view"], drawCompare);
}

// The loss again. The button that was pressed is gone, or stands for something else.
export function compareNoMore() {
  compareWith(null);
  byId("loss-value").focus({preventScroll: true});
}

// Bring the comparison before the reader's eyes, and the keyboard to it.
export function showWhy(rival) {
  compareWith(rival);
  byId("compare").open = true;
  requestAnimationFrame(() => byId("compare").scrollIntoView({block: "start"})); // after the chosen cell is shown
  byId("compare").querySelector("summary").focus({preventScroll: true});
}

function quoted(word) {
  return `“${state.data.vocabulary[word]}”`;
}

function drawCompare() {
  const {trace, rival, view} = state;
  document.querySelectorAll(".goal").forEach((place) => { place.textContent = trace.goal; });
  byId("rival-note").hidden = !rival;
  byId("compare").hidden = !rival || view !== "step";
  if (byId("compare").hidden) {
    return;
  }
  const position = maskedPositions()[rival.masked], answer = state.example.labels[position];
  const [first, second] = trace.loss < 0 ? [rival.word, answer] : [answer, rival.word];
  byId("compare-title").textContent = `Why ${quoted(first)} and not ${quoted(second)}?`;
  byId("rival").replaceChildren(...state.data.vocabulary.flatMap((word, id) =>
    (id === answer ? [] : [make("option", {value: id, selected: id === rival.word}, word)])));
  byId("rival-answer").textContent = quoted(answer);
  byId("compare-said").replaceChildren(...scoresInWords(first, second), ...strongest(answer));
  byId("compare-for").textContent = `for ${quoted(answer)}`;
  byId("compare-against").textContent = `for ${quoted(rival.word)}`;
  byId("compare-words").replaceChildren(barsOf({terms: byWord(), total: null}));
  byId("compare-features").replaceChildren(barsOf({terms: byFeature(trace), total: trace.loss}));
  const maps = sharesOfAttention().map((array) => attentionMap(array, {marked: [position]}));
  byId("compare-attention").replaceChildren(...maps);
}

// The scores of both, and how much that is in probability: each number leads on.
function scoresInWords(first, second) {
  const {rival, trace} = state;
  const number = (place) => makeButton(signedNumber(valueAt(place)), () => beginAt(place), {class: "factor"});
  const score = (column) => number({name: "logits", row: rival.masked, column});
  const difference = number({name: trace.goal, row: 0, column: 0});
  return [
    `The model gives ${quoted(first)} the score (logit) `, score(first), ` and ${quoted(second)} `, score(second),
    ". Their difference, δ = ", difference, `, makes ${quoted(first)} `,
    make("strong", {}, `${plainNumber(roundedNumber(Math.exp(Math.abs(trace.loss)), 2))} times`), " as probable. ",
  ];
}

// For each word of the sentence what the difference loses when it is hidden, and beside it the slope.
function byWord() {
  return state.example.input_ids.map((_, row) => {
    const [hiding, slope] = ["words.hiding", "words.slope"].map((name) => ({name, row, column: 0}));
    const factors = [{...slope, label: "slope: x · dx", value: valueAt(slope)}];
    return {label: indexLabel("tokens", row), value: valueAt(hiding), factors, goes: hiding};
  });
}

// Which word speaks most for each of the two: the one by which the difference moves most when it is hidden. And what
// the model prefers without any word: often more than with them, and then all words speak for the loser.
function strongest(answer) {
  const {model, trace, rival, example} = state;
  const hiding = Array.from(trace.arrays.get("words.hiding").values);
  const most = [[answer, 1], [rival.word, -1]].flatMap(([guessed, sign]) => {
    const [word] = bestOf(hiding.map((value) => sign * value), 1);
    const then = signedNumber(trace.loss - hiding[word]);
    return sign * hiding[word] > 0
      ? [make("strong", {}, quoted(example.input_ids[word])),
        ` speaks most for ${quoted(guessed)}: were it hidden, δ would be ${then}. `]
      : [`No word speaks for ${quoted(guessed)} when it is hidden alone. `];
  });
  const mask = example.input_ids[maskedPositions()[rival.masked]];
  const nothing = {...example, input_ids: example.input_ids.map(() => mask)};
  const without = run(model, nothing, {backward: false, rival}).loss;
  const ahead = quoted(without < 0 ? rival.word : answer);
  const numbers = {without: signedNumber(without), difference: signedNumber(trace.loss)};
  return [...most, said("compare.nothing", {ahead, ...numbers})];
}
