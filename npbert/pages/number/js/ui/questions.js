// Questions on backprop, drawn from the trace by its formulas: will the loss rise or fall, which factor is missing,
// transposed or not, which road is missing.

import {explain} from "../math/explain.js";
import {refsIn} from "../math/formulas.js";
import {barsOf} from "./bars.js";
import {make} from "./dom.js";
import {signedNumber} from "./format.js";
import {arrayNamed, isMovable, isRounding, shapeInWords, titleOf, valueAt, valueOf} from "./labels.js";
import {state} from "./state.js";

const DRAWN = 400; // numbers, until one makes a fair question

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
    return (
      of &&
      isMovable(place) &&
      place.name === `d(${of})` &&
      terms.length <= 3 &&
      !isRounding(value) &&
      terms.some(({factors}) => factors.length > 1)
    );
  });
  const {
    place,
    step,
    explained: {terms, formula, value},
  } = found;
  const of = titleOf(valueOf(place));
  const factorsOf = (term) =>
    term.factors.map((one) => `${one.label ?? titleOf(one)} = ${signedNumber(one.value, 3)}`).join(", ");
  const {goal} = state.trace;
  return {
    step,
    place,
    hides: true,
    title: `If ${of} rises a little, will the ${goal} rise or fall?`,
    text: [make("p", {class: "formula"}, formula), ...terms.map((term) => make("p", {}, factorsOf(term)))],
    choices: ["it rises", "it falls", "it does not move"].map((text, n) => ({
      text,
      isRight: n === (value > 0 ? 0 : 1),
      not: `Not so: multiply the signs of the factors${terms.length > 1 ? ", and add" : ""}.`,
    })),
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
  const rest = plain
    .filter((one) => one !== missing)
    .map(({name}) => arrayNamed(name).symbol)
    .join(" · ");
  return {
    step,
    place,
    title: `What is missing in the gradient ${left}?`,
    text: [make("p", {class: "formula"}, `${left} = ${explained.terms.length > 1 ? "Σ " : ""}? · ${rest}`)],
    choices: shuffled([
      {text: right, isRight: true},
      ...others.map((text) => ({
        text,
        isRight: false,
        not: `Not ${text}: ask what ${symbolOfValue(place)} is multiplied with on the way forward.`,
      })),
    ]),
    answer: `it is ${right}: forward multiplies ${symbolOfValue(place)} with it.`,
    why: [make("p", {class: "formula"}, explained.formula), barsOf(explained)],
  };
}

const symbolOfValue = ({name}) => arrayNamed(arrayNamed(name).gradientOf ?? name).symbol;

// The symbols of other arrays at this step
function othersOf({reads, writes}, plain) {
  const used = plain.map(({name}) => arrayNamed(name).symbol);
  return [...new Set([...reads, ...writes].map((name) => arrayNamed(name).symbol))].filter(
    (symbol) => !used.includes(symbol),
  );
}

// Which product is it: transposed or not? Of a gradient that is a product of two matrices, as its formula says.
function transposedQuestion(pick, shuffled) {
  const steps = state.trace.steps.filter(({phase}) => phase === "backward");
  const all = steps.flatMap((now) => now.of.backward.map((line) => ({now, line, factors: matricesIn(line)})));
  const {
    now,
    line: {target},
    factors: [a, b],
  } = pick(all.filter(({factors}) => factors.length === 2));
  const [row, column] = target.index.map(({letter}) => letter);
  const isRight = (x, y) => x === (a.index[1].letter === row) && y === (b.index[0].letter === column);
  const written = ({name}, isTurned) => arrayNamed(name).symbol + (isTurned ? "ᵀ" : "");
  const root = now.kind === "Scores" ? " / √d" : "";
  const choices = [
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ].map(([x, y]) => ({
    text: `${written(a, x)} ${written(b, y)}${root}`,
    isRight: isRight(x, y),
    not: "Not so: what is summed over stands in the middle, and a row of the answer belongs to a row of its value.",
  }));
  const shapes = [a, b, target].map(({name}) => `${arrayNamed(name).symbol}: ${shapeInWords(arrayNamed(name))}`);
  const head = Number(column.match(/\d+$/)?.[0] ?? 0);
  return {
    step: now.index,
    place: {name: target.name, row: 0, column: head * state.trace.headSize},
    title: `How is ${arrayNamed(target.name).symbol} computed? Transposed or not?`,
    text: [make("p", {}, `${shapes.join("; ")}. Forward was ${state.trace.steps[now.undoes].formula}.`)],
    choices: shuffled(choices),
    answer: `it is ${choices.find((one) => one.isRight).text}.`,
    why: [make("p", {class: "formula"}, now.formula)],
  };
}

// The two matrices of a product, the one with the rows of the target first; none where the formula is no such product.
function matricesIn({target, terms}) {
  const refs = terms.length === 1 ? refsIn(terms[0].factors) : [];
  const own = target.index.map(({letter}) => refs.filter(({index}) => index.some((one) => one.letter === letter)));
  const isProduct =
    refs.length === 2 &&
    own.length === 2 &&
    own.every((found) => found.length === 1) &&
    refs.every(({index}) => index.length === 2);
  return isProduct ? own.flat() : [];
}

// Which road did a backward forget?
function roadQuestion(pick, shuffled) {
  const found = drawn(
    pick,
    ({explained: {roads, terms, value}}) =>
      roads &&
      terms.length >= 2 &&
      terms.length <= 4 &&
      terms.every((term) => Math.abs(term.value) > 0.03 * Math.abs(value)),
  );
  const {place, step, explained} = found;
  const missing = pick(explained.terms);
  const without = explained.value - missing.value;
  const values = explained.terms.map(({label, value}) => `${label}: ${signedNumber(value, 3)}`).join("; ");
  return {
    step,
    place,
    hides: true,
    title: `A backward says that ${titleOf(place)} is ${signedNumber(without, 3)}. Which road does it forget?`,
    text: [make("p", {}, `What comes back: ${values}.`)],
    choices: shuffled(
      explained.terms.map(({label, value}) => ({
        text: label,
        isRight: label === missing.label,
        not: `Not that: without “${label}” it would be ${signedNumber(explained.value - value, 3)}.`,
      })),
    ),
    answer: `it forgets “${missing.label}”; all roads together bring ${signedNumber(valueAt(place))}.`,
    why: [make("p", {class: "formula"}, explained.formula), barsOf(explained)],
  };
}

export const QUESTIONS = [signQuestion, factorQuestion, transposedQuestion, roadQuestion];
