// The sentence at the top: its words, what is hidden, what the model guesses, and the loss.

import {chooseAnswer, chooseSentence} from "./actions.js";
import {byId, make} from "./dom.js";
import {counted, percent, plainNumber} from "./format.js";
import {bestOf, indexLabel, maskedPositions} from "./labels.js";
import {state, watch} from "./state.js";

const GUESSES = 3;

// Draw it, and again with another sentence or another model.
export function showSentence() {
  const {examples} = state.data;
  const options = examples.map(({text}, index) => make("option", {value: index}, text));
  byId("sentences").replaceChildren(...options);
  byId("sentences").addEventListener("change", (event) => chooseSentence(examples[Number(event.target.value)]));
  byId("left-out").textContent = leftOut(state.data.left_out);
  watch(["trace"], drawSentence);
}

// What the page does not show of the model: its second task.
function leftOut(count) {
  return count
    ? ` (but for ${counted(count)} that serve its other task, to tell whether one sentence follows another)`
    : "";
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
  const markOf = (word) => (word !== answer ? "" : word === best[0] ? "✓" : "•"); // ✓: guessed right
  const guesses = shown.map((word) => guess(data.vocabulary[word], probabilities[word], markOf(word)));
  const options = data.vocabulary.map((word, id) => make("option", {value: id, selected: id === answer}, word));
  const select = make("select", {"aria-label": `the word hidden at place ${position}`}, ...options);
  select.addEventListener("change", () => {
    chooseAnswer(position, Number(select.value));
    byId("guesses").querySelectorAll("select")[index].focus();
  });
  const title = make("label", {class: "answer"}, `${hiddenAt(position)}: `, select);
  return make("div", {class: "hidden-word"}, title, make("ol", {class: "guess-list"}, ...guesses));
}

// Of several hidden words, which.
function hiddenAt(position) {
  return maskedPositions().length > 1 ? `hidden at ${indexLabel("tokens", position)}` : "hidden here";
}

const MARKS = {
  "✓": ["is-right is-guessed", "right, and guessed"],
  "•": ["is-right", "right, but not the best guess"],
  "": ["", ""],
};

function guess(word, probability, sign) {
  const name = make("bdi", {}, word);
  const [look, title] = MARKS[sign];
  const mark = make("span", {class: "right", title, role: title ? "img" : null, "aria-label": title || null}, sign);
  const track = make("span", {class: "guess-bar", style: `--width: ${100 * probability}%`, "aria-hidden": "true"});
  return make(
    "li",
    {class: look},
    mark,
    name,
    track,
    make("span", {class: "number"}, percent(probability)),
  );
}
