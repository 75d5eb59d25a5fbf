// A quiz: a number to be guessed from its sum, or a bug to be found. The questions are drawn from the trace, by rule. A
// wrong try is told what it is and counted; at the end the answer is explained.

import {BUGS, explain, run, uniformNumbers} from "../math/index.js";
import {choose, goToStep, plantBug} from "./actions.js";
import {barsOf} from "./bars.js";
import {changesSomething} from "./break.js";
import {byId, make, makeButton} from "./dom.js";
import {counted, signedNumber} from "./format.js";
import {pointAt, sayInGuide} from "./guide.js";
import {cellOfPlace} from "./heatmap.js";
import {largestPlace} from "./named.js";
import {linesOfBug, nameOfBug} from "./notes.js";
import {titleOf} from "./place.js";
import {said} from "./said.js";
import {change, state, watch} from "./state.js";
import {lossStep} from "./transport.js";

const DRAWN = 400; // numbers, until one makes a fair question
const MOST_TERMS = 6;
const LEAST_GUESS = 1e-12; // a guess that is smaller than this share of the largest part is 0
// what is asked: {title, text, choices, begin: the step to begin at}; where the answer is: {step, place}; and what is
// said of it: {answer, why}
let question = null;
let mistakes = 0;

// Ask, when there is a quiz.
export function showQuiz() {
  watch(["quiz"], () => state.quiz && !state.quiz.isAnswered && ask(state.quiz));
  watch(["trace", "step", "allWords", "quiz"], hideNumber);
}

// The quiz KIND or KIND:SEED, of the kind "bug" or "number"; each seed has its own question. null for none.
export function quizNamed(text) {
  const [, kind, seed = Math.floor(1e4 * Math.random())] = text.match(/^(bug|number)(?::(\d{1,6}))?$/) ?? [];
  return kind ? {kind, seed: Number(seed)} : null;
}

function ask({kind, seed}) {
  const random = uniformNumbers(seed);
  const pick = (list) => list[Math.ceil(list.length * random()) - 1];
  mistakes = 0;
  question = kind === "bug" ? bugQuestion(pick) : numberQuestion(pick);
  if (state.step === 0) {
    goToStep(question.begin);
  }
  sayQuestion(question.text, [...question.choices, makeButton("Show me", () => explainAnswer("Shown"))]);
  pointAt(hideNumber() ?? byId("stage-head"));
}

function sayQuestion(text, choices, said) {
  const another = make("a", {href: `#quiz=${state.quiz.kind}`}, "Another question");
  sayInGuide({title: [question.title], text, choices: [...choices, another], said});
}

// A choice. Where it is wrong, `not` says why, and it costs a mistake.
function judge(isRight, not) {
  if (isRight) {
    explainAnswer("Yes");
    return;
  }
  mistakes += 1;
  byId("guide-said").textContent = `${not} (${counted(mistakes, "mistake")})`;
}

// The question is closed, what was hidden can be seen, and the number that shows it is followed.
function explainAnswer(begin) {
  const {step, place, answer, why} = question;
  change({quiz: {...state.quiz, isAnswered: true}, bug: state.bug, trace: state.trace});
  goToStep(step);
  choose(place);
  sayQuestion(why(), [], `${begin}${mistakes ? `, after ${counted(mistakes, "mistake")}` : ""}: ${answer}`);
}

// Returns the cell that is asked for, where it is on the stage.
function hideNumber() {
  const isAsked = state.quiz?.kind === "number" && !state.quiz.isAnswered;
  const cell = question ? cellOfPlace(byId("stage"), question.place) : null;
  cell?.classList.toggle("asked", isAsked);
  return isAsked ? cell : null;
}

// A number with few terms, of which the usual mistakes give others.
function numberQuestion(pick) {
  const drawn = Array.from({length: DRAWN}, () => {
    const step = pick(state.trace.steps.filter(({writes}) => writes.length));
    const {name, shape} = state.trace.arrays.get(pick(step.writes));
    const [row, column] = shape.map((count) => pick([...Array(count).keys()]));
    return {step: step.index, place: {name, row, column}, explained: explain(state.trace, name, row, column)};
  });
  const isFair = ({explained}) => {
    const {length} = explained.terms.filter(({factors}) => factors.length);
    return 0 < length && length <= MOST_TERMS && guessesOf(explained).length > 3;
  };
  const {step, place, explained} = drawn.find(isFair);
  const formula = make("p", {class: "formula"}, explained.formula);
  const bars = barsOf(explained);
  bars.classList.toggle("one", explained.terms.length === 1); // the only bar would show the number
  bars.querySelector(".total strong, .one .bar-value").textContent = "?";
  const choices = guessesOf(explained).sort((a, b) => a.value - b.value).map(({text, mistake}) =>
    makeButton(text, () => judge(!mistake, `Not ${text}: that is the number ${mistake}.`)));
  return {
    begin: step,
    step,
    place,
    title: `How large is ${titleOf(place)}?`,
    text: [formula, bars],
    choices,
    answer: `it is ${signedNumber(explained.value)}.`,
    why: () => [formula, barsOf(explained)],
  };
}

// What comes out by a mistake, and the number itself: {value, text, mistake}.
function guessesOf({value, terms}) {
  const [most] = terms.toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const rest = value - most.value;
  const factor = most.factors.at(-1);
  const others = most.factors.length > 1 ? most.value / factor.value : NaN;
  const guesses = [
    [`without ${factor.label ?? titleOf(factor)} in its largest part`, rest + others],
    ["with the sign of its largest part wrong", rest - most.value],
    ["without its largest part", rest],
    ["with the wrong sign", -value],
    ["", value],
  ];
  const known = (guess) => (Math.abs(guess) < LEAST_GUESS * Math.abs(most.value) ? 0 : guess);
  const byText = new Map(guesses.map(([mistake, guess]) => [signedNumber(known(guess)), {value: guess, mistake}]));
  return [...byText].map(([text, guess]) => ({text, ...guess})).filter((guess) => Number.isFinite(guess.value));
}

// A bug that changes something in this sentence. It is planted, and not named.
function bugQuestion(pick) {
  const bug = pick(BUGS.filter(({id}) => changesSomething(id, state.example)));
  const right = run(state.model, state.example);
  plantBug(bug.id);
  const step = state.trace.steps.find(({isBroken}) => isBroken);
  const place = largestPlace(step.writes.map((name) => {
    const array = state.trace.arrays.get(name);
    return {...array, values: array.values.map((value, at) => value - right.arrays.get(name).values[at])};
  }));
  const check = () =>
    judge(state.trace.steps[state.step].isBroken, said("quiz.not", {step: state.step + 1}));
  const {value, total} = explain(state.trace, place.name, place.row, place.column);
  const [is, sum] = [value, total].map(signedNumber);
  const sums = said("quiz.sums", {step: step.index + 1, title: titleOf(place), is, sum});
  return {
    begin: lossStep() + 1,
    step: step.index,
    place,
    title: "Find the bug",
    text: [make("p", {}, said("quiz.bug"))],
    choices: [makeButton("It is in this step", check, {class: "main"})],
    answer: `it is “${nameOfBug(bug.id)}”.`,
    why: () => [...linesOfBug(bug.id), make("p", {}, sums)],
  };
}
