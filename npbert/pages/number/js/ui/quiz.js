// A quiz: questions on backprop, and a bug to be found. A wrong try is told what it is and counted.

import {explain} from "../math/explain.js";
import {uniformNumbers} from "../math/train.js";
import {goToStep, runAgain} from "./actions.js";
import {changesSomething} from "./break.js";
import {byId, make, makeButton, show} from "./dom.js";
import {counted, plainNumber} from "./format.js";
import {pointAt, sayInGuide} from "./guide.js";
import {cellOfPlace} from "./heatmap.js";
import {arrayNamed, titleOf} from "./labels.js";
import {bestPlace} from "./named.js";
import {bugNamed, linesOfBug} from "./notes.js";
import {QUESTIONS} from "./questions.js";
import {change, state, watch} from "./state.js";

// what is asked: {title, text, choices: [{text, isRight, not}], step and place: where the answer is, answer: what it is},
// and of a bug also `why`
let question = null;
let mistakes = 0;

export function showQuiz() {
  watch(["quiz"], () => state.quiz && !state.quiz.isAnswered && ask(state.quiz));
  watch(["trace", "step", "trail", "allWords", "quiz"], hideNumber);
}

// The quiz KIND or KIND:SEED, of the kind "bug" or "number", or null. A seed is a question; the next one is harder.
export function quizNamed(text) {
  const [, kind, seed = QUESTIONS.length * Math.floor(1e3 * Math.random())] = text.match(/^(bug|number)(?::(\d{1,6}))?$/) ?? [];
  return kind ? {kind, seed: Number(seed)} : null;
}

function ask({kind, seed}) {
  const random = uniformNumbers(seed);
  const pick = (list) => list[Math.ceil(list.length * random()) - 1];
  const shuffled = (list) => {
    const drawn = list.map((one) => [random(), one]).sort(([a], [b]) => a - b);
    return drawn.map(([, one]) => one);
  };
  mistakes = 0;
  question = kind === "bug" ? bugQuestion(pick) : QUESTIONS[seed % QUESTIONS.length](pick, shuffled);
  goToStep(question.begin ?? question.step);
  const choices = question.choices.map((one) => makeButton(one.text, () => judge(one), {class: one.look}));
  sayQuestion(question.text, [...choices, makeButton("Show me", () => explainAnswer("Shown"))]);
  pointAt(hideNumber() ?? byId("stage-head"));
}

function sayQuestion(text, choices, said) {
  const {kind, seed} = state.quiz;
  const isLast = kind === "number" && (seed + 1) % QUESTIONS.length === 0; // then the easiest comes again
  const another = make("a", {href: `#quiz=${kind}:${seed + 1}`}, isLast ? "Next question, the easiest again" : "Next question");
  sayInGuide({title: [question.title], text, choices: [...choices, another], said});
}

// A choice. Where it is wrong, `not` says why, and it costs a mistake.
function judge({isRight, not}) {
  if (isRight) {
    explainAnswer("Yes");
    return;
  }
  mistakes += 1;
  show("guide-said", `${not} (${counted(mistakes, "mistake")})`);
}

// The question is closed, what was hidden can be seen, and the number that shows it is followed.
function explainAnswer(begin) {
  const {step, place, answer, why = []} = question;
  const {quiz, bug, trace} = state; // all is drawn again, as a bug may be named now
  change({quiz: {...quiz, isAnswered: true}, bug, trace, step, trail: [place], moved: null});
  sayQuestion(why, [], `${begin}${mistakes ? `, after ${counted(mistakes, "mistake")}` : ""}: ${answer}`);
}

// Returns the cell that is asked for, where it is on the stage.
function hideNumber() {
  const isOpen = state.quiz?.kind === "number" && !state.quiz.isAnswered;
  const isAsked = Boolean(isOpen && question?.hides);
  document.documentElement.classList.toggle("asking", isOpen); // then no formula and no code tells
  const cell = question ? cellOfPlace(byId("stage"), question.place) : null;
  cell?.classList.toggle("asked", isAsked);
  cell?.removeAttribute("title");
  return isAsked ? cell : null;
}

// A bug that changes something in this sentence. It is planted, and not named.
function bugQuestion(pick) {
  const bug = pick(state.model.program.bugs.filter(({id}) => changesSomething(id, state.example)));
  runAgain({bug: bug.id});
  const step = state.trace.steps.find(({isBroken}) => isBroken);
  const place = bestPlace(step.writes.map(arrayNamed), {}, (value, {name, row, column}) =>
    Math.abs(value - state.trace.right.arrays.get(name).at(row, column)),
  );
  const {value, total} = explain(state.trace, place.name, place.row, place.column);
  const text =
    "Somewhere in the backward a line is wrong. Follow numbers: one that a right step makes is the sum that is shown " +
    "with it. Go to the step where it is not. (An operation that occurs several times is wrong in all.)";
  const says = `is ${plainNumber(value)}, and not its sum, ${plainNumber(total)}.`;
  const choice = {
    text: "It is in this step",
    look: "main",
    get isRight() {
      return state.trace.steps[state.step].isBroken;
    },
    get not() {
      return `Not in step ${state.step + 1}: it does what it should with the numbers that it is given.`;
    },
  };
  return {
    begin: state.trace.program.length,
    step: step.index,
    place,
    title: "Find the bug",
    text: [make("p", {}, text)],
    choices: [choice],
    answer: `it is “${bugNamed(bug.id).name}”.`,
    why: [...linesOfBug(bug.id), make("p", {}, `So in step ${step.index + 1}, ${titleOf(place)} ${says}`)],
  };
}
