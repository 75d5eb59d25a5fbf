// The top: the words of the sentence, each of which can be hidden, what the model guesses, the loss, and a line of the
// reader's own. While a number is moved, all of it moves too; the guesses are also beside the slider, and in training.

import {probabilitiesIn} from "../math/steps.js";
import {answered, chooseSentence, compareWith, exampleOfLine, hidden, runAgain} from "./actions.js";
import {byId, make, makeButton, show} from "./dom.js";
import {followFrom} from "./follow.js";
import {counted, percent, plainNumber} from "./format.js";
import {bestOf, gradientOf, indexLabel, steepestWeight} from "./labels.js";
import {state, watch} from "./state.js";

const GUESSES = 3;

export function showSentence() {
  const {examples, vocabulary} = state.data;
  show("sentences", ...examples.map(({text}, index) => make("option", {value: index}, text)));
  show("vocabulary", ...vocabulary.map((word) => make("option", {value: word})));
  const count = [...state.model.parameters.values()].reduce((sum, {values}) => sum + values.length, 0);
  show("size", counted(count, "number"));
  byId("sentences").addEventListener("change", ({target}) => chooseSentence(examples[Number(target.value)]));
  byId("own-line").addEventListener("submit", takeLine);
  byId("loss-value").addEventListener("click", () => followFrom({name: state.trace.goal, row: 0, column: 0}));
  byId("steepest").addEventListener("click", () => followFrom(gradientOf(steepestWeight())));
  watch(["trace", "moved"], drawSentence);
}

function takeLine(event) {
  event.preventDefault();
  const example = exampleOfLine(byId("own").value);
  const {unknown, most} = example;
  const known = state.data.vocabulary.filter((word) => !/^\[/.test(word)).join(" ");
  if (!unknown) {
    show("own-said");
    chooseSentence(example);
    return;
  }
  const lacking = unknown.map((word) => `“${word}”`).join(", ");
  show("own-said", lacking ? `It does not know ${lacking}. ` : "", `Type 1 to ${most} of its words: ${known}.`);
}

function drawSentence() {
  const {data, example, trace, moved} = state;
  show("words", ...example.input_ids.map(wordButton));
  byId("sentences").value = data.examples.some(({text}) => text === example.text) ? state.sentence : "";
  const now = moved ? probabilitiesIn(trace, moved.arrays) : trace.probabilities;
  show("guesses", ...now.map(hiddenWord));
  document.querySelectorAll(".now").forEach((place) => place.replaceChildren(...now.map(hiddenWord)));
  const {loss} = moved ?? trace;
  show("loss", Number.isFinite(loss) ? plainNumber(loss) : "none");
  const before = moved ? trace : state.earlier;
  show("loss-note", before ? `it was ${plainNumber(before.loss)}` : lossInWords());
  const [{values, label}] = now;
  const [best, second] = bestOf(values, 2);
  show("why-this", `Why did it say “${data.vocabulary[best]}”?`);
  byId("why-this").onclick = () => {
    compareWith({masked: 0, word: best === label ? second : best});
    byId("compare").scrollIntoView({block: "nearest"});
  };
}

function wordButton(word, position) {
  const {vocabulary} = state.data;
  const isHidden = state.example.labels[position] !== -100;
  const text = make("bdi", {}, isHidden ? "[MASK]" : vocabulary[word]);
  if (/^\[(CLS|SEP)\]$/.test(vocabulary[word])) {
    return make("span", {class: "quiet"}, text);
  }
  const title = isHidden ? "hidden" : "hide this word instead";
  const hide = () => runAgain({trail: [], rival: null, example: hidden(state.example, position)});
  return makeButton(text, hide, {class: "word", "aria-pressed": String(isHidden), title});
}

function lossInWords() {
  if (state.rival) {
    return "the difference of two logits";
  }
  const [label, ...others] = state.trace.lookups.labels;
  return others.length ? "mean of −ln p, hidden words" : `−ln p of “${indexLabel("vocabulary", label)}”`;
}

// Which word is hidden at one place, to be chosen anew, and the best guesses as bars.
function hiddenWord({position, label, values}, masked) {
  const {data, example, rival, trace} = state;
  const isGuess = example.isGuessed && label === example.given[position];
  const right = isGuess ? null : label;
  const best = bestOf(values, GUESSES);
  const compared = rival?.masked === masked ? [rival.word] : [];
  const shown = [...new Set([label, ...compared, ...best])].slice(0, GUESSES).sort((a, b) => values[b] - values[a]);
  const guesses = shown.map((word) => {
    const why = word === label ? null : whyButton(masked, word, values[word] > values[label]);
    return make(
      "li",
      {class: word === right ? "right" : null},
      markOf(word, right, best),
      guess(masked, word, values),
      why,
    );
  });
  const options = data.vocabulary.map((word, id) => make("option", {value: id, selected: id === label}, word));
  const onchange = ({target}) => {
    runAgain({rival: null, example: answered(example, position, Number(target.value))});
    byId("guesses").querySelectorAll("select")[masked].focus();
  };
  const select = make("select", {"aria-label": `the word hidden at place ${position}`, onchange}, ...options);
  const what = isGuess ? "taken as right" : "the right word";
  const where = trace.masked.length > 1 ? ` at ${indexLabel("tokens", position)}` : "";
  return make("div", {}, make("label", {}, `${what}${where}: `, select), make("ol", {class: "guess-list plain"}, ...guesses));
}

function markOf(word, right, [best]) {
  const [mark, said] = word === best ? ["✓", "right, and guessed"] : ["•", "right, but not the best guess"];
  return word === right ? make("span", {role: "img", "aria-label": said, title: said}, mark) : make("span");
}

// Compare the answer with this word; pressed again, the page shows the loss.
function whyButton(masked, word, isAhead) {
  const isCompared = state.rival?.masked === masked && state.rival.word === word;
  const [text, said] = isAhead ? ["why this?", "why"] : ["why not?", "why not"];
  const title = `${said} ${state.data.vocabulary[word]}?`;
  const attributes = {class: "bare link", "aria-pressed": String(isCompared), "aria-label": title};
  return makeButton(text, () => compareWith(isCompared ? null : {masked, word}), attributes);
}

// A word with its probability, which can be followed.
function guess(masked, word, {[word]: probability}) {
  const go = () => followFrom({name: "p", row: masked, column: word});
  return make(
    "button",
    {type: "button", class: "bare guess", title: "what it is made of", onclick: go},
    make("bdi", {}, state.data.vocabulary[word]),
    make("span", {class: "guess-bar", style: `--width: ${100 * probability}%`, "aria-hidden": "true"}),
    make("span", {}, percent(probability)),
  );
}
