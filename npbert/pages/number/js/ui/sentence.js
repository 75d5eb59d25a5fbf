// The sentence at the top: its words, what is hidden, what the model guesses, and the loss.

import {chooseAnswer, chooseSentence, compareWith} from "./actions.js";
import {showWhy} from "./compare.js";
import {byId, make, makeButton} from "./dom.js";
import {beginAt} from "./follow.js";
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
  byId("loss-value").addEventListener("click", () => beginAt({name: state.trace.goal, row: 0, column: 0}));
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
  byId("sentences").selectedIndex = data.examples.findIndex(({text}) => text === example.text);
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
function hiddenWord(position, index) {
  const {data, example, trace} = state;
  const probabilities = trace.probabilities[index].values;
  const answer = example.labels[position];
  const rivals = state.rival?.masked === index ? [state.rival.word] : [];
  const best = bestOf(probabilities, GUESSES);
  const shown = [...new Set([answer, ...rivals, ...best])].slice(0, GUESSES);
  shown.sort((a, b) => probabilities[b] - probabilities[a]);
  const markOf = (word) => (word !== answer ? "" : word === best[0] ? "✓" : "•"); // ✓: guessed right
  const guesses = shown.map((word) => {
    const why = word === answer ? null : whyButton(index, word, probabilities[word] > probabilities[answer]);
    return guess({name: "p", row: index, column: word}, probabilities[word], markOf(word), why);
  });
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

// Compare the answer with this word; pressed again, the page shows the loss.
function whyButton(masked, word, isAhead) {
  const isCompared = state.rival?.masked === masked && state.rival.word === word;
  const toggle = () => {
    if (isCompared) {
      compareWith(null);
      byId("loss-value").focus({preventScroll: true});
    } else {
      showWhy({masked, word});
    }
  };
  const name = state.data.vocabulary[word];
  const [text, said] = isAhead ? ["why this?", `why ${name}?`] : ["why not?", `why not ${name}?`];
  return makeButton(text, toggle, {class: "why", "aria-pressed": String(isCompared), "aria-label": said});
}

function guess(place, probability, sign, why) {
  const name = make("bdi", {}, state.data.vocabulary[place.column]);
  const [look, title] = MARKS[sign];
  const mark = make("span", {class: "right", title, role: title ? "img" : null, "aria-label": title || null}, sign);
  const track = make("span", {class: "guess-bar", style: `--width: ${100 * probability}%`, "aria-hidden": "true"});
  const parts = [name, track, make("span", {class: "number"}, percent(probability))];
  const go = {type: "button", class: "guess", title: "what it is made of", onclick: () => beginAt(place)};
  return make("li", {class: look}, mark, make("button", go, ...parts), why);
}
