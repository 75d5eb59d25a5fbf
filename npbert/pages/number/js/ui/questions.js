// Questions on backprop, drawn from the trace by its formulas: will the loss rise or fall, which factor is missing,
// transposed or not, which road is missing.

import {explain} from "../math/explain.js";
import {refsIn} from "../math/formulas.js";
import {factorInWords} from "./bars.js";
import {make} from "./dom.js";
import {signedNumber} from "./format.js";
import {arrayNamed, isMovable, isRounding, shapeInWords, shownOf, titleOf, valueOf} from "./labels.js";
import {state} from "./state.js";

const DRAWN = 400; // numbers, until one makes a fair question
const formula = (text) => make("p", {class: "formula"}, text);
const symbolNamed = (name) => arrayNamed(name).symbol;

// A gradient of the trace, drawn until one is fair: what `explain` says of it, {step, place}, and `now`, its step.
function drawn(pick, isFair) {
  const steps = state.trace.steps.filter(({phase, writes}) => phase === "backward" && writes.length);
  for (let tries = 0; tries < DRAWN; tries++) {
    const now = pick(steps);
    const {name, rows, columns, shape} = arrayNamed(pick(now.writes));
    const [row, column] = [rows, columns].map((kind, axis) => pick(shownOf(kind, shape[axis])));
    const found = {...explain(state.trace, name, row, column), now, step: now.index, place: {name, row, column}};
    if (isFair(found)) {
      return found;
    }
  }
  return null;
}

// Will the loss rise or fall? From the factors alone, whose signs tell.
function signQuestion(pick) {
  const found = drawn(pick, ({place, terms, value}) => {
    const {gradientOf: of} = arrayNamed(place.name);
    const isWhole = of && isMovable(place) && place.name === `d(${of})`;
    const isLess = ({factors}) => factors.length > 1 && factors.some((factor) => factor.value < 0); // or signs tell all
    return isWhole && terms.length <= 3 && !isRounding(value) && terms.some(isLess);
  });
  const {place, terms, value} = found;
  const {goal} = state.trace;
  return {
    ...found,
    hides: true,
    title: `If ${titleOf(valueOf(place))} rises a little, will the ${goal} rise or fall?`,
    text: [formula(found.formula), ...terms.map(({factors}) => make("p", {}, factors.map(factorInWords).join(" × ")))],
    choices: ["it rises", "it falls", "it does not move"].map((text, n) => ({
      text,
      isRight: n === (value > 0 ? 0 : 1),
      not: `Not so: multiply the signs of the factors${terms.length > 1 ? ", and add" : ""}.`,
    })),
    answer: `the gradient is ${signedNumber(value)}, so the ${goal} ${value > 0 ? "rises" : "falls"}.`,
  };
}

// In a gradient, the factor by which forward multiplies the number: null where it is no product.
function partnerOf({place, terms, now}) {
  const of = arrayNamed(place.name).gradientOf;
  const products = now.of.forward.flatMap((line) => line.terms.map(({factors}) => factors.map(({name}) => name)));
  const isIt = ({name, label}) =>
    label === undefined && name !== of && products.some((names) => names.includes(of) && names.includes(name));
  return terms[0]?.factors.find(isIt)?.name ?? null;
}

function factorQuestion(pick, shuffled) {
  const found = drawn(pick, partnerOf);
  const {place, now} = found;
  const right = symbolNamed(partnerOf(found));
  const of = symbolNamed(arrayNamed(place.name).gradientOf);
  const said = found.formula.replace(/(\S+)\[[^\]]*\]/g, (whole, symbol) => (symbol === right ? "?" : whole));
  const own = [symbolNamed(place.name), ...found.formula.match(/\S+(?=\[)/g)];
  const others = [...now.reads, ...now.writes].map(symbolNamed).filter((symbol) => !own.includes(symbol));
  const not = (text) => `Not ${text}: ask what ${of} is multiplied with on the way forward.`;
  const wrong = [...new Set(others)].slice(0, 3).map((text) => ({text, isRight: false, not: not(text)}));
  return {
    ...found,
    title: `What is missing in the gradient ${titleOf(place)}?`,
    text: [formula(said)],
    choices: shuffled([{text: right, isRight: true}, ...wrong]),
    answer: `it is ${right}: forward multiplies ${of} with it.`,
  };
}

// Which product is it: transposed or not? Of a gradient that is a product of two matrices, as its formula says.
function transposedQuestion(pick, shuffled) {
  const steps = state.trace.steps.filter(({phase}) => phase === "backward");
  const all = steps.flatMap((now) =>
    now.of.backward.map((line) => ({now, line, two: matricesIn(line)})),
  );
  const {now, line, two} = pick(all.filter((one) => one.two.length === 2));
  const {target, terms} = line;
  const [row, column] = target.index.map(({letter}) => letter);
  const constants = terms[0].factors.filter(({constant}) => constant);
  const scale = constants.map(({constant}) => ` · ${constant}`).join("").replace(" · 1/", " / ");
  const [a, b] = two.map(({name}) => symbolNamed(name));
  const [turnsA, turnsB] = [two[0].index[1].letter === row, two[1].index[0].letter === column];
  const written = (x, y) => `${a}${x ? "ᵀ" : ""} ${b}${y ? "ᵀ" : ""}${scale}`;
  const not =
    "Not so: what is summed over stands in the middle, and a row of the answer belongs to a row of its value.";
  const choiceOf = ([x, y]) => ({text: written(x, y), isRight: x === turnsA && y === turnsB, not});
  const ways = [[false, false], [false, true], [true, false], [true, true]];
  const shapes = [...two, target].map(({name}) => `${symbolNamed(name)}: ${shapeInWords(arrayNamed(name))}`);
  const head = Number(column.match(/\d+$/)?.[0] ?? 0);
  return {
    step: now.index,
    place: {name: target.name, row: 0, column: head * state.trace.headSize},
    title: `How is ${symbolNamed(target.name)} computed? Transposed or not?`,
    text: [make("p", {}, `${shapes.join("; ")}. Forward was ${state.trace.steps[now.undoes].formula}.`)],
    choices: shuffled(ways.map(choiceOf)),
    answer: `it is ${written(turnsA, turnsB)}.`,
  };
}

// The two matrices of a product, the one with the rows of the target first; none where the formula is no such product.
function matricesIn({target, terms}) {
  const refs = terms.length === 1 ? refsIn(terms[0].factors) : [];
  const own = target.index.map(({letter}) => refs.filter(({index}) => index.some((one) => one.letter === letter)));
  const isOfMatrices = refs.length === 2 && refs.every(({index}) => index.length === 2);
  return isOfMatrices && own.length === 2 && own.every((found) => found.length === 1) ? own.flat() : [];
}

function roadQuestion(pick, shuffled) {
  const found = drawn(pick, ({roads, terms, value}) => {
    const isSeen = (term) => Math.abs(term.value) > 0.03 * Math.abs(value);
    return roads && terms.length >= 2 && terms.length <= 4 && terms.every(isSeen);
  });
  const {place, terms, value} = found;
  const missing = pick(terms);
  const without = (term) => signedNumber(value - term.value, 3);
  const brings = terms.map((term) => `${term.label}: ${signedNumber(term.value, 3)}`).join("; ");
  return {
    ...found,
    hides: true,
    title: `A wrong backward says that ${titleOf(place)} is ${without(missing)}. Which road does it forget?`,
    text: [make("p", {}, `What comes back: ${brings}.`)],
    choices: shuffled(
      terms.map((term) => ({
        text: term.label,
        isRight: term === missing,
        not: `Not that: without “${term.label}” it would be ${without(term)}.`,
      })),
    ),
    answer: `it forgets “${missing.label}”; all roads together bring ${signedNumber(value)}.`,
  };
}

// The easiest first
export const QUESTIONS = [signQuestion, roadQuestion, factorQuestion, transposedQuestion];
