// The sentence at the top: its words, what is hidden, what the model guesses, and the loss.

import {chooseAnswer, chooseSentence} from "./actions.js";
import {compareNoMore, showWhy} from "./compare.js";
import {byId, make, makeButton} from "./dom.js";
import {beginAt} from "./follow.js";
import {counted, percent, plainNumber} from "./format.js";
import {bestOf, indexLabel, maskedPositions} from "./labels.js";
import {valueAt} from "./place.js";
import {state, watch} from "./state.js";

const GUESSES = 3;
const GUESSED = ["is-right is-guessed", "✓", "right, and guessed"];
const NOT_GUESSED = ["is-right", "•", "right, but not the best guess"];

// Draw it, and again with another sentence or another model.
export function showSentence() {
  const {examples} = state.data;
  const options = examples.map(({text}, index) => make("option", {value: index}, text));
  byId("sentences").replaceChildren(...options);
  byId("sentences").addEventListener("change", (event) => chooseSentence(examples[Number(event.target.value)]));
  const {left_out: count} = state.data; // of the model's second task
  byId("left-out").textContent = count
    ? ` (but for ${counted(count)} that serve its other task, to tell whether one sentence follows another)` : "";
  byId("loss-value").addEventListener("click", () => beginAt({name: state.trace.goal, row: 0, column: 0}));
  watch(["trace"], drawSentence);
}

function drawSentence() {
  const {data, example, trace} = state;
  const words = example.input_ids.map((word, position) => {
    const isHidden = example.labels[position] !== -100;
    const text = isHidden ? indexLabel("tokens", position) : data.vocabulary[word];
    return make("span", {class: isHidden ? "word masked" : "word"}, make("bdi", {}, text));
  });
  byId("words").replaceChildren(...words);
  byId("sentences").value = state.sentence;
  byId("guesses").replaceChildren(...maskedPositions().map((position, index) => hiddenWord(position, index)));
  byId("loss").textContent = plainNumber(trace.loss);
  byId("loss-note").textContent = lossInWords();
}

function lossInWords() {
  const {rival, example, data} = state;
  if (rival) {
    const answer = example.labels[maskedPositions()[rival.masked]];
    return `the logit of “${data.vocabulary[answer]}” minus that of “${data.vocabulary[rival.word]}”`;
  }
  return maskedPositions().length > 1 ? "the mean of −ln p over the hidden words" : "−ln p of the hidden word";
}

// Which word is hidden at one place, to be chosen anew, and the best guesses as bars.
function hiddenWord(position, masked) {
  const {data, example, trace, rival} = state;
  const probabilities = trace.probabilities[masked].values;
  const answer = example.labels[position];
  const best = bestOf(probabilities, GUESSES);
  const shown = [...new Set([answer, ...(rival?.masked === masked ? [rival.word] : []), ...best])].slice(0, GUESSES);
  shown.sort((a, b) => probabilities[b] - probabilities[a]);
  const guesses = shown.map((word) => {
    const why = word === answer ? null : whyButton(masked, word, probabilities[word] > probabilities[answer]);
    const [look, ...mark] = word !== answer ? [""] : word === best[0] ? GUESSED : NOT_GUESSED;
    return make("li", {class: look}, markOf(...mark), guess({name: "p", row: masked, column: word}), why);
  });
  const options = data.vocabulary.map((word, id) => make("option", {value: id, selected: id === answer}, word));
  const select = make("select", {"aria-label": `the word hidden at place ${position}`}, ...options);
  select.addEventListener("change", () => {
    chooseAnswer(position, Number(select.value));
    byId("guesses").querySelectorAll("select")[masked].focus();
  });
  const where = maskedPositions().length > 1 ? `hidden at ${indexLabel("tokens", position)}` : "hidden here";
  const title = make("label", {class: "answer"}, `${where}: `, select);
  return make("div", {class: "hidden-word"}, title, make("ol", {class: "guess-list"}, ...guesses));
}

function markOf(sign = "", title = null) {
  return make("span", {class: "right", title, role: title && "img", "aria-label": title}, sign);
}

// Compare the answer with this word; pressed again, the page shows the loss.
function whyButton(masked, word, isAhead) {
  const isCompared = state.rival?.masked === masked && state.rival.word === word;
  const toggle = () => (isCompared ? compareNoMore() : showWhy({masked, word}));
  const [text, said] = isAhead ? ["why this?", "why"] : ["why not?", "why not"];
  const name = `${said} ${state.data.vocabulary[word]}?`;
  return makeButton(text, toggle, {class: "why", "aria-pressed": String(isCompared), "aria-label": name});
}

// A word with its probability, which can be followed.
function guess(place) {
  const probability = valueAt(place);
  return make("button", {type: "button", class: "guess", title: "what it is made of", onclick: () => beginAt(place)},
    make("bdi", {}, state.data.vocabulary[place.column]),
    make("span", {class: "guess-bar", style: `--width: ${100 * probability}%`, "aria-hidden": "true"}),
    make("span", {class: "number"}, percent(probability)));
}
