// The sentence at the top: its words, what is hidden, what the model guesses, and the loss.

import {chooseAnswer, chooseSentence} from "./actions.js";
import {byId, make} from "./dom.js";
import {percent, plainNumber} from "./format.js";
import {bestOf, maskedPositions} from "./labels.js";
import {state, watch} from "./state.js";

const GUESSES = 3;

// Draw it, and again with another sentence or another model.
export function showSentence() {
  const {examples} = state.data;
  const options = examples.map(({text}, index) => make("option", {value: index}, text));
  byId("sentences").replaceChildren(...options);
  byId("sentences").addEventListener("change", (event) => chooseSentence(examples[Number(event.target.value)]));
  watch(["trace"], drawSentence);
}

function drawSentence() {
  const {data, example, trace} = state;
  const words = example.input_ids.map((word, position) => {
    const isHidden = example.labels[position] !== -100;
    return make("span", {class: isHidden ? "word masked" : "word"}, make("bdi", {}, data.vocabulary[word]));
  });
  byId("words").replaceChildren(...words);
  byId("guesses").replaceChildren(...maskedPositions().map((position, index) => hiddenWord(position, index)));
  byId("loss").textContent = plainNumber(trace.loss);
  byId("loss-note").textContent =
    maskedPositions().length > 1 ? "the mean of −ln p over the hidden words" : "−ln p of the hidden word";
}

// Which word is hidden at one place, to be chosen anew, and the best guesses as bars.
function hiddenWord(position, index) {
  const {data, example, trace} = state;
  const probabilities = trace.probabilities[index].values;
  const answer = example.labels[position];
  const best = bestOf(probabilities, GUESSES);
  const shown = best.includes(answer) ? best : [...best.slice(0, GUESSES - 1), answer];
  const guesses = shown.map((word) => guess(data.vocabulary[word], probabilities[word], word === answer));
  const options = data.vocabulary.map((word, id) => make("option", {value: id, selected: id === answer}, word));
  const select = make("select", {"aria-label": `the word hidden at place ${position}`}, ...options);
  select.addEventListener("change", () => {
    chooseAnswer(position, Number(select.value));
    byId("guesses").querySelectorAll("select")[index].focus();
  });
  const title = make("label", {class: "answer"}, "hidden here: ", select);
  return make("div", {class: "hidden-word"}, title, make("ol", {class: "guess-list"}, ...guesses));
}

function guess(word, probability, isRight) {
  const name = make("bdi", {}, word);
  const mark = make("span", {class: "right"}, isRight ? "✓" : "");
  const track = make("span", {class: "guess-bar", style: `--width: ${100 * probability}%`, "aria-hidden": "true"});
  return make(
    "li",
    {class: isRight ? "is-right" : ""},
    mark,
    name,
    track,
    make("span", {class: "number"}, percent(probability)),
  );
}
