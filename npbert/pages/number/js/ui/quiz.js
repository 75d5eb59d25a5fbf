// A quiz: a number to be guessed from its sum, or a bug to be found. The questions are drawn from the trace, by rule.

import {BUGS, explain, run, uniformNumbers} from "../math/index.js";
import {choose, goToStep, plantBug} from "./actions.js";
import {barsOf} from "./bars.js";
import {changesSomething} from "./break.js";
import {byId, make, makeButton} from "./dom.js";
import {signedNumber} from "./format.js";
import {cellOfPlace} from "./heatmap.js";
import {bugAt} from "./notes.js";
import {titleOf} from "./place.js";
import {change, state, watch} from "./state.js";
import {lossStep} from "./transport.js";

const DRAWN = 400; // numbers, until one makes a fair question
const MOST_TERMS = 6;
let asked = null; // the place of the number that is hidden

// Ask, when there is a quiz.
export function showQuiz() {
  watch(["quiz"], ask);
  watch(["trace", "step", "allWords", "quiz"], hideAsked);
  byId("quiz-again").addEventListener("click", () => {
    change({quiz: newQuiz(state.quiz.kind), step: 0, chosen: null, trail: []});
    byId("quiz-title").focus();
  });
}

// A quiz of this kind, "bug" or "number"; each seed has its own question.
export function newQuiz(kind, seed = Math.floor(1e4 * Math.random())) {
  return {kind, seed};
}

function ask() {
  const {quiz} = state;
  byId("quiz").hidden = !quiz;
  if (!quiz || quiz.isAnswered) {
    return;
  }
  const random = uniformNumbers(quiz.seed);
  const pick = (list) => list[Math.ceil(list.length * random()) - 1];
  const {step, title, text, choices} = quiz.kind === "bug" ? bugQuestion(pick) : numberQuestion(pick);
  byId("quiz-title").textContent = title;
  byId("quiz-text").replaceChildren(...text);
  byId("quiz-choices").replaceChildren(...choices);
  byId("quiz-said").textContent = "";
  if (state.step === 0) {
    goToStep(step);
  }
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
  const {step, place, explained, guesses} = drawn.find(({explained: {terms}, guesses: all}) =>
    terms.length <= MOST_TERMS && terms.some(({factors}) => factors.length > 1) && new Set(all).size === all.length);
  asked = place;
  const right = signedNumber(explained.value);
  return {
    step,
    title: `How large is ${titleOf(place)}?`,
    text: [make("p", {class: "formula"}, explained.formula), barsOf({...explained, total: null})],
    choices: guesses.toSorted().map((guess) => makeButton(guess, () => {
      answered(`${guess === right ? "Yes" : `No, not ${guess}`}: it is ${right}. Below it is the sum that it is.`);
      choose(place);
    })),
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
  asked = null;
  plantBug(bug.id);
  const said = `${bug.name}. Right: ${bug.right}. Planted: ${bug.line}. ${bug.text}`;
  const judge = () => {
    const step = state.trace.steps[state.step];
    const isHere = bugAt(step, bug) !== null;
    const not = `Not in step ${step.index + 1}: it does what it should with the numbers that it is given.`;
    return isHere ? answered(`Yes, it is here. ${said}`) : note(not);
  };
  const show = () => {
    goToStep(trace.steps.find((step) => bugAt(step, bug)).index);
    answered(`It is here. ${said}`);
  };
  const rule = "Somewhere in the backward a line is wrong. Click numbers: one that a right step makes is the sum that is "
    + "shown beside it. Go to the step where it is not. (An operation that occurs several times is wrong in all.)";
  return {
    step: lossStep() + 1,
    title: "Find the bug",
    text: [make("p", {}, rule)],
    choices: [makeButton("It is in this step", judge, {class: "main"}), makeButton("Show me", show)],
  };
}

function note(text) {
  byId("quiz-said").textContent = text;
}

// The question is closed, and what was hidden can be seen.
function answered(text) {
  change({quiz: {...state.quiz, isAnswered: true}, bug: state.bug, trace: state.trace});
  byId("quiz-choices").replaceChildren();
  note(text);
}

function hideAsked() {
  const isHidden = state.quiz?.kind === "number" && !state.quiz.isAnswered;
  const cell = asked && cellOfPlace(byId("stage"), asked);
  cell?.classList.toggle("asked", isHidden);
}
