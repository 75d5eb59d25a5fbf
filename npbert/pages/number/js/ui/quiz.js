// A quiz: a number to be guessed from its sum, or a bug to be found. The questions are drawn from the trace, by rule.

import {BUGS, explain, run, uniformNumbers} from "../math/index.js";
import {choose, goToStep, plantBug} from "./actions.js";
import {barsOf} from "./bars.js";
import {changesSomething} from "./break.js";
import {byId, make, makeButton} from "./dom.js";
import {signedNumber} from "./format.js";
import {pointAt, sayInGuide} from "./guide.js";
import {cellOfPlace} from "./heatmap.js";
import {bugAt} from "./notes.js";
import {titleOf} from "./place.js";
import {change, state, watch} from "./state.js";
import {lossStep} from "./transport.js";

const DRAWN = 400; // numbers, until one makes a fair question
const MOST_TERMS = 6;
let question = null; // what is asked: {step, title, text, choices}, and the place of the number that is hidden

// Ask, when there is a quiz.
export function showQuiz() {
  watch(["quiz"], () => state.quiz && !state.quiz.isAnswered && ask(state.quiz));
  watch(["trace", "step", "allWords", "quiz"], hideNumber);
}

// A quiz of this kind, "bug" or "number"; each seed has its own question.
export function newQuiz(kind, seed = Math.floor(1e4 * Math.random())) {
  return {kind, seed};
}

function ask({kind, seed}) {
  const random = uniformNumbers(seed);
  const pick = (list) => list[Math.ceil(list.length * random()) - 1];
  question = kind === "bug" ? bugQuestion(pick) : numberQuestion(pick);
  if (state.step === 0) {
    goToStep(question.step);
  }
  putQuestion(question);
  pointAt(hideNumber() ?? byId("stage-head"));
}

function putQuestion({title, text, choices, said}) {
  const another = make("a", {href: `#quiz=${state.quiz.kind}`}, "Another question");
  sayInGuide({title: [title], text, choices: [...choices, another], said});
}

// The question is closed, and what was hidden can be seen.
function answered(said) {
  change({quiz: {...state.quiz, isAnswered: true}, bug: state.bug, trace: state.trace});
  putQuestion({...question, choices: [], said});
}

// Returns the cell that is asked for, where it is on the stage.
function hideNumber() {
  const isAsked = state.quiz?.kind === "number" && !state.quiz.isAnswered;
  const cell = question?.place ? cellOfPlace(byId("stage"), question.place) : null;
  cell?.classList.toggle("asked", isAsked);
  return cell;
}

// A number with few terms, of which the usual mistakes give others.
function numberQuestion(pick) {
  const drawn = Array.from({length: DRAWN}, () => {
    const step = pick(state.trace.steps.filter(({writes}) => writes.length));
    const {name, shape} = state.trace.arrays.get(pick(step.writes));
    const [row, column] = shape.map((count) => pick([...Array(count).keys()]));
    const explained = explain(state.trace, name, row, column);
    return {step: step.index, place: {name, row, column}, explained, guesses: guessesOf(explained)};
  });
  const isFair = ({explained: {terms}, guesses}) => terms.length <= MOST_TERMS
    && terms.some(({factors}) => factors.length > 1) && new Set(guesses).size === guesses.length;
  const {step, place, explained, guesses} = drawn.find(isFair) ?? drawn[0];
  const bars = barsOf(explained);
  bars.classList.toggle("one", explained.terms.length === 1); // the only bar would show the number
  bars.querySelector(".total strong, .one .bar-value").textContent = "?";
  const right = signedNumber(explained.value);
  const judge = (guess) => {
    answered(`${guess === right ? "Yes" : `No, not ${guess}`}: it is ${right}. Its sum is shown where it is followed.`);
    choose(place);
  };
  return {
    step,
    place,
    title: `How large is ${titleOf(place)}?`,
    text: [make("p", {class: "formula"}, explained.formula), bars],
    choices: guesses.toSorted().map((guess) => makeButton(guess, () => judge(guess))),
  };
}

// The number itself; with the other sign; and, of a sum, with the sign of its largest term wrong.
function guessesOf({value, terms}) {
  const sizes = terms.map((term) => term.value).sort((a, b) => Math.abs(b) - Math.abs(a));
  const guesses = [value, -value, value - 2 * sizes[0]];
  return guesses.slice(0, terms.length > 1 ? 3 : 2).map(signedNumber);
}

// A bug that changes something in this sentence. It is planted, and not named.
function bugQuestion(pick) {
  const {model, example, trace} = state;
  const right = run(model, example);
  const bug = pick(BUGS.filter(({id}) => changesSomething(right, run(model, example, {bug: id}))));
  plantBug(bug.id);
  const named = `${bug.name}. Right: ${bug.right}. Planted: ${bug.line}. ${bug.text}`;
  const judge = () => {
    if (bugAt(state.trace.steps[state.step], bug)) {
      answered(`Yes, it is here: ${named}`);
    } else {
      const not = `Not in step ${state.step + 1}: it does what it should with the numbers that it is given.`;
      byId("guide-said").textContent = not;
    }
  };
  const show = () => {
    goToStep(trace.steps.find((step) => bugAt(step, bug)).index);
    answered(`It is here: ${named}`);
  };
  const rule = "Somewhere in the backward a line is wrong. Click numbers: one that a right step makes is the sum that "
    + "is shown beside it. Go to the step where it is not. (An operation that occurs several times is wrong in all.)";
  return {
    step: lossStep() + 1,
    title: "Find the bug",
    text: [make("p", {}, rule)],
    choices: [makeButton("It is in this step", judge, {class: "main"}), makeButton("Show me", show)],
  };
}
