// The top: the words of the sentence, each of which can be hidden, what the model guesses, the loss, and a line of the
// reader's own. While a number is moved, all of it moves too.

import {probabilitiesIn} from "../math/steps.js";
import {chooseAnswer, chooseSentence, compareWith, exampleOfLine, hideWord} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {followFrom} from "./follow.js";
import {percent, plainNumber} from "./format.js";
import {bestOf, indexLabel, maskedPositions} from "./labels.js";
import {state, watch} from "./state.js";

const GUESSES = 3;

// Draw it, and again with another sentence or another model.
export function showSentence() {
  const {examples, vocabulary, model} = {...state.data, model: state.model};
  show("sentences", ...examples.map(({text}, index) => make("option", {value: index}, text)));
  show("vocabulary", ...vocabulary.map((word) => make("option", {value: word})));
  const count = [...model.parameters.values()].reduce((sum, {values}) => sum + values.length, 0);
  show("size", `${count.toLocaleString("en-US")} numbers`);
  byId("sentences").addEventListener("change", ({target}) => chooseSentence(examples[Number(target.value)]));
  byId("own-line").addEventListener("submit", (event) => {
    event.preventDefault();
    takeLine(byId("own").value);
  });
  byId("loss-value").addEventListener("click", () => followFrom({name: state.trace.goal, row: 0, column: 0}));
  watch(["trace", "moved"], drawSentence);
}

function takeLine(line) {
  const example = exampleOfLine(line);
  const {unknown, most} = example;
  byId("own-said").textContent = !unknown
    ? ""
    : unknown.length
      ? `It does not know ${unknown.map((word) => `“${word}”`).join(", ")}. Its words: ${wordsKnown()}.`
      : `Type 1 to ${most} of its words: ${wordsKnown()}.`;
  if (!unknown) {
    chooseSentence(example);
  }
}

const wordsKnown = () => state.data.vocabulary.filter((word) => !/^\[/.test(word)).join(" ");

function drawSentence() {
  const {data, example, trace, moved} = state;
  show("words", ...example.input_ids.map(wordButton));
  byId("sentences").value = data.examples.some(({text}) => text === example.text) ? state.sentence : "";
  const now = moved ? probabilitiesIn(trace, moved.arrays) : trace.probabilities;
  show("guesses", ...now.map((one, masked) => hiddenWord(one, masked)));
  const {loss} = moved ?? trace;
  show("loss", Number.isFinite(loss) ? plainNumber(loss) : "none");
  show("loss-note", moved ? `it was ${plainNumber(trace.loss)}` : lossInWords());
  const [{values}] = now;
  const [best] = bestOf(values, 1);
  show("why-this", `Why did it say “${data.vocabulary[best]}”?`);
  byId("why-this").onclick = () => followFrom({name: "p", row: 0, column: best});
}

function wordButton(word, position) {
  const {labels} = state.example;
  const isHidden = labels[position] !== -100;
  const text = make("bdi", {}, isHidden ? "[MASK]" : state.data.vocabulary[word]);
  if (/^\[(CLS|SEP)\]$/.test(state.data.vocabulary[word])) {
    return make("span", {class: "quiet"}, text);
  }
  const title = isHidden ? "hidden" : "hide this word instead";
  const button = makeButton("", () => hideWord(position), {class: "word", "aria-pressed": String(isHidden), title});
  button.append(text);
  return button;
}

function lossInWords() {
  const {rival, example, data} = state;
  if (rival) {
    const answer = example.labels[maskedPositions()[rival.masked]];
    return `the logit of “${data.vocabulary[answer]}” minus that of “${data.vocabulary[rival.word]}”`;
  }
  return maskedPositions().length > 1 ? "mean of −ln p, hidden words" : "−ln p of the hidden word";
}

// Which word is hidden at one place, to be chosen anew, and the best guesses as bars.
function hiddenWord({position, label, values}, masked) {
  const {
    data: {vocabulary},
    rival,
  } = state;
  const best = bestOf(values, GUESSES);
  const shown = [...new Set([label, ...(rival?.masked === masked ? [rival.word] : []), ...best])].slice(0, GUESSES);
  shown.sort((a, b) => values[b] - values[a]);
  const guesses = shown.map((word) => {
    const mark = word !== label ? "" : word === best[0] ? "✓" : "•";
    const said = {"✓": "right, and guessed", "•": "right, but not the best guess"}[mark];
    return make(
      "li",
      {class: mark ? "is-right" : null},
      make("span", {role: said && "img", "aria-label": said, title: said}, mark),
      guess(masked, word, values[word]),
      word === label ? null : whyButton(masked, word, values[word] > values[label]),
    );
  });
  const options = vocabulary.map((word, id) => make("option", {value: id, selected: id === label}, word));
  const select = make("select", {"aria-label": `the word hidden at place ${position}`}, ...options);
  select.addEventListener("change", () => {
    chooseAnswer(position, Number(select.value));
    byId("guesses").querySelectorAll("select")[masked].focus();
  });
  const where = maskedPositions().length > 1 ? `right at ${indexLabel("tokens", position)}` : "right is";
  return make("div", {}, make("label", {}, `${where} `, select), make("ol", {class: "guess-list plain"}, ...guesses));
}

// Compare the answer with this word; pressed again, the page shows the loss.
function whyButton(masked, word, isAhead) {
  const isCompared = state.rival?.masked === masked && state.rival.word === word;
  const [text, said] = isAhead ? ["why this?", "why"] : ["why not?", "why not"];
  const attributes = {
    class: "link",
    "aria-pressed": String(isCompared),
    "aria-label": `${said} ${state.data.vocabulary[word]}?`,
  };
  return makeButton(text, () => compareWith(isCompared ? null : {masked, word}), attributes);
}

// A word with its probability, which can be followed.
function guess(masked, word, probability) {
  const go = () => followFrom({name: "p", row: masked, column: word});
  return make(
    "button",
    {type: "button", class: "guess", title: "what it is made of", onclick: go},
    make("bdi", {}, state.data.vocabulary[word]),
    make("span", {class: "guess-bar", style: `--width: ${100 * probability}%`, "aria-hidden": "true"}),
    make("span", {}, percent(probability)),
  );
}
