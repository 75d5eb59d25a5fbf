// A quiz on backprop: will the loss rise or fall, which factor, transposed or not, which road is missing; and a bug to be
// found. The questions are drawn from the trace, by its formulas. A wrong try is told what it is and counted.

import {explain} from "../math/explain.js";
import {refsIn} from "../math/formulas.js";
import {run} from "../math/run.js";
import {uniformNumbers} from "../math/train.js";
import {choose, goToStep, plantBug} from "./actions.js";
import {barsOf} from "./bars.js";
import {changesSomething} from "./break.js";
import {byId, make, makeButton, show} from "./dom.js";
import {counted, plainNumber, signedNumber} from "./format.js";
import {pointAt, sayInGuide} from "./guide.js";
import {cellOfPlace} from "./heatmap.js";
import {arrayNamed, isMovable, isRounding, shapeInWords, titleOf, valueAt, valueOf} from "./labels.js";
import {bestPlace} from "./named.js";
import {bugNamed, linesOfBug} from "./notes.js";
import {change, state, watch} from "./state.js";

const DRAWN = 400; // numbers, until one makes a fair question
// what is asked: {title, text, choices: [{text, isRight, not}], place: where the answer is, answer: what it is, why}
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
  const shuffled = (list) => list.map((one) => [random(), one]).sort(([a], [b]) => a - b).map(([, one]) => one);
  mistakes = 0;
  question = kind === "bug" ? bugQuestion(pick) : QUESTIONS[seed % QUESTIONS.length](pick, shuffled);
  goToStep(question.begin ?? question.step);
  const choices = question.choices.map(({text, isRight, not, look = null}) =>
    makeButton(text, () => judge(isRight, not ?? `Not ${text}.`), {class: look}));
  sayQuestion(question.text, [...choices, makeButton("Show me", () => explainAnswer("Shown"))]);
  pointAt(hideNumber() ?? byId("stage-head"));
}

function sayQuestion(text, choices, said) {
  const another = make("a", {href: `#quiz=${state.quiz.kind}`}, "Another question");
  sayInGuide({title: [question.title], text, choices: [...choices, another], said});
}

// A choice. Where it is wrong, `not` says why, and it costs a mistake.
function judge(isRight, not) {
  if (typeof isRight === "function" ? isRight() : isRight) {
    explainAnswer("Yes");
    return;
  }
  mistakes += 1;
  show("guide-said", `${typeof not === "function" ? not() : not} (${counted(mistakes, "mistake")})`);
}

// The question is closed, what was hidden can be seen, and the number that shows it is followed.
function explainAnswer(begin) {
  const {step, place, answer, why} = question;
  change({quiz: {...state.quiz, isAnswered: true}, bug: state.bug, trace: state.trace});
  goToStep(step);
  choose(place);
  sayQuestion(why, [], `${begin}${mistakes ? `, after ${counted(mistakes, "mistake")}` : ""}: ${answer}`);
}

// Returns the cell that is asked for, where it is on the stage.
function hideNumber() {
  const isAsked = question?.hides && state.quiz?.kind === "number" && !state.quiz.isAnswered;
  const cell = question ? cellOfPlace(byId("stage"), question.place) : null;
  cell?.classList.toggle("asked", isAsked);
  return isAsked ? cell : null;
}

// A gradient of the trace, drawn until one is fair: {step, place, explained}.
function drawn(pick, isFair) {
  const steps = state.trace.steps.filter(({phase, writes}) => phase === "backward" && writes.length);
  for (let tries = 0; tries < DRAWN; tries++) {
    const step = pick(steps);
    const {name, shape} = arrayNamed(pick(step.writes));
    const [row, column] = shape.map((count) => pick([...Array(count).keys()]));
    const place = {name, row, column};
    const found = {step: step.index, place, now: step, explained: explain(state.trace, name, row, column)};
    if (isFair(found)) {
      return found;
    }
  }
  return null;
}

// Will the loss rise or fall? From the factors alone, whose signs tell.
function signQuestion(pick) {
  const found = drawn(pick, ({place, explained: {terms, value}}) => {
    const {gradientOf: of} = arrayNamed(place.name);
    return of && isMovable(place) && place.name === `d(${of})` && terms.length <= 3 && !isRounding(value)
      && terms.some(({factors}) => factors.length > 1);
  });
  const {place, step, explained: {terms, formula, value}} = found;
  const of = titleOf(valueOf(place));
  const factorsOf = (term) => term.factors.map((one) => `${one.label ?? titleOf(one)} = ${signedNumber(one.value, 3)}`).join(", ");
  const {goal} = state.trace;
  return {
    step, place, hides: true, title: `If ${of} rises a little, will the ${goal} rise or fall?`,
    text: [make("p", {class: "formula"}, formula), ...terms.map((term) => make("p", {}, factorsOf(term)))],
    choices: ["it rises", "it falls", "it does not move"].map((text, n) => ({
      text, isRight: n === (value > 0 ? 0 : 1), not: `Not so: multiply the signs of the factors${terms.length > 1 ? ", and add" : ""}.`})),
    answer: `the gradient is ${signedNumber(value)}, so the ${goal} ${value > 0 ? "rises" : "falls"}.`,
    why: [make("p", {class: "formula"}, formula), barsOf(found.explained)],
  };
}

// Which factor is missing in the formula of a gradient?
function factorQuestion(pick, shuffled) {
  const found = drawn(pick, ({explained: {terms}, now}) => {
    const plain = terms[0]?.factors.filter(({name, label}) => name !== null && label === undefined) ?? [];
    return plain.length >= 2 && new Set(plain.map(({name}) => name)).size >= 2 && othersOf(now, plain).length >= 2;
  });
  const {place, step, now, explained} = found;
  const plain = explained.terms[0].factors.filter(({name, label}) => name !== null && label === undefined);
  const missing = plain.find(({isGradient}) => !isGradient) ?? plain[0];
  const right = arrayNamed(missing.name).symbol;
  const others = othersOf(now, plain).slice(0, 3);
  const left = titleOf(place);
  const rest = plain.filter((one) => one !== missing).map(({name}) => arrayNamed(name).symbol).join(" · ");
  return {
    step, place, title: `What is missing in the gradient ${left}?`,
    text: [make("p", {class: "formula"}, `${left} = ${explained.terms.length > 1 ? "Σ " : ""}? · ${rest}`)],
    choices: shuffled([{text: right, isRight: true}, ...others.map((text) => ({
      text, isRight: false, not: `Not ${text}: ask what ${symbolOfValue(place)} is multiplied with on the way forward.`}))]),
    answer: `it is ${right}: forward multiplies ${symbolOfValue(place)} with it.`,
    why: [make("p", {class: "formula"}, explained.formula), barsOf(explained)],
  };
}

const symbolOfValue = ({name}) => arrayNamed(arrayNamed(name).gradientOf ?? name).symbol;

// The symbols of other arrays at this step
function othersOf({reads, writes}, plain) {
  const used = plain.map(({name}) => arrayNamed(name).symbol);
  return [...new Set([...reads, ...writes].map((name) => arrayNamed(name).symbol))].filter((symbol) => !used.includes(symbol));
}

// Which product is it: transposed or not, and in which order?
function transposedQuestion(pick, shuffled) {
  const products = state.trace.steps.filter(({phase}) => phase === "backward").flatMap((now) =>
    now.of.backward.filter(({terms, target}) => target.index.length === 2 && terms.length === 1
      && refsIn(terms[0].factors).length === 2 && refsIn(terms[0].factors).every(({index}) => index.length === 2 && !index[0].lookup)
      && target.index.every(({letter}) => refsIn(terms[0].factors).filter(({index}) => index.some((one) => one.letter === letter)).length === 1))
      .map((line) => ({now, line})));
  const {now, line: {target, terms}} = pick(products);
  const [a, b] = target.index.map(({letter}) =>
    refsIn(terms[0].factors).find(({index}) => index.some((one) => one.letter === letter)));
  const symbol = (ref) => arrayNamed(ref.name).symbol;
  const written = (ref, isTurned) => symbol(ref) + (isTurned ? "ᵀ" : "");
  const isTurned = [a.index[1].letter === target.index[0].letter, b.index[0].letter === target.index[1].letter];
  const all = [[0, 0], [0, 1], [1, 0], [1, 1]].map(([x, y]) => ({
    text: `${written(a, Boolean(x))} ${written(b, Boolean(y))}`, isRight: Boolean(x) === isTurned[0] && Boolean(y) === isTurned[1]}));
  const root = terms[0].factors.some(({constant}) => constant) ? " / √d" : "";
  const right = all.find(({isRight}) => isRight).text + root;
  const name = target.name;
  const place = {name, row: 0, column: target.index[1].letter.match(/\d+$/) ? state.trace.headSize * Number(target.index[1].letter.slice(1)) : 0};
  return {
    step: now.index, place, title: `How is ${arrayNamed(name).symbol} computed? Transposed or not?`,
    text: [make("p", {}, [a, b].map((ref) => `${symbol(ref)}: ${shapeInWords(arrayNamed(ref.name))}`).join("; ")
      + `; ${arrayNamed(name).symbol}: ${shapeInWords(arrayNamed(name))}. Forward was ${state.trace.steps[now.undoes].formula}.`)],
    choices: shuffled(all.map((one) => ({...one, text: one.text + root,
      not: "Not so: what is summed over has to stand in the middle, and each row of the answer belongs to a row of its value."}))),
    answer: `it is ${right}.`,
    why: [make("p", {class: "formula"}, now.formula)],
  };
}

// Which road did a backward forget?
function roadQuestion(pick, shuffled) {
  const found = drawn(pick, ({explained: {roads, terms, value}}) => roads && terms.length >= 2 && terms.length <= 4
    && terms.every((term) => Math.abs(term.value) > 0.03 * Math.abs(value)));
  const {place, step, explained} = found;
  const missing = pick(explained.terms);
  const without = explained.value - missing.value;
  const values = explained.terms.map(({label, value}) => `${label}: ${signedNumber(value, 3)}`).join("; ");
  return {
    step, place, hides: true, title: `A backward says that ${titleOf(place)} is ${signedNumber(without, 3)}. Which road does it forget?`,
    text: [make("p", {}, `What comes back: ${values}.`)],
    choices: shuffled(explained.terms.map(({label, value}) => ({text: label, isRight: label === missing.label,
      not: `Not that: without “${label}” it would be ${signedNumber(explained.value - value, 3)}.`}))),
    answer: `it forgets “${missing.label}”; all roads together bring ${signedNumber(valueAt(place))}.`,
    why: [make("p", {class: "formula"}, explained.formula), barsOf(explained)],
  };
}

const QUESTIONS = [signQuestion, factorQuestion, transposedQuestion, roadQuestion];

// A bug that changes something in this sentence. It is planted, and not named.
function bugQuestion(pick) {
  const bug = pick(state.model.program.bugs.filter(({id}) => changesSomething(id, state.example)));
  const right = run(state.model, state.example);
  plantBug(bug.id);
  const {steps} = state.trace;
  const step = steps.find(({isBroken}) => isBroken);
  const differences = step.writes.map((name) => {
    const {values} = right.arrays.get(name);
    return arrayNamed(name).withValues(arrayNamed(name).values.map((value, at) => value - values[at]));
  });
  const place = bestPlace(differences, {}, (value) => Math.abs(value));
  const {value, total} = explain(state.trace, place.name, place.row, place.column);
  return {
    begin: state.trace.program.length, step: step.index, place, title: "Find the bug",
    text: [make("p", {}, "Somewhere in the backward a line is wrong. Click numbers: one that a right step makes is the sum that is "
      + "shown beside it. Go to the step where it is not. (An operation that occurs several times is wrong in all.)")],
    choices: [{text: "It is in this step", look: "main", isRight: () => state.trace.steps[state.step].isBroken,
      not: () => `Not in step ${state.step + 1}: it does what it should with the numbers that it is given.`}],
    answer: `it is “${bugNamed(bug.id).name}”.`,
    why: [...linesOfBug(bug.id), make("p", {}, `So in step ${step.index + 1}, ${titleOf(place)} is ${plainNumber(value)}, and not `
      + `its sum, ${plainNumber(total)}.`)],
  };
}
