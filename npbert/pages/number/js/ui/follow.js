// The number that is followed: the sum that it is, a bar for each term, and the way by which the reader came.

import {chainOf, explain, largestTerm, wayToLoss} from "../math/explain.js";
import {follow, goBackTo, goToStep, parameterOf, stepThatMakesNumber} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton, show} from "./dom.js";
import {plainNumber, signedNumber} from "./format.js";
import {cellOfPlace} from "./heatmap.js";
import {
  arrayBefore,
  arrayNamed,
  arrayNow,
  gradientOf,
  isMovable,
  isOnRoad,
  isRounding,
  partInWords,
  titleOf,
  valueAt,
  valueOf,
  whyNothing,
  wordsByNumber,
} from "./labels.js";
import {knownBug} from "./notes.js";
import {change, state, watch} from "./state.js";

const RISE = 0.01;
const [FIRST, LAST] = [2, 2]; // shown of a long trail; those between are folded
const NOTES = {
  start: () => `You have arrived at the ${state.trace.goal}: here backward begins, as only here a slope is known at once: 1. From here, one pass serves all weights.`,
  learned: () => "A number that is learned: training moves it a little against its gradient, step by step.",
  fixed: () => "A fixed number: it is not learned.",
};

export function showFollowed() {
  byId("follow").parentElement.addEventListener("toggle", ({target}) => target.open && reveal(target), {capture: true});
  watch(["trace", "trail"], drawFollowed);
  watch(["moved"], () => byId("followed-head").querySelector("output")?.replaceChildren(valueInWords()));
  watch(["trace", "trail", "step"], () => show("ways", ...(state.chosen ? waysOn() : [])));
}

// Once it is drawn: what was unfolded may lie below the edge of what scrolls.
const reveal = (part) => requestAnimationFrame(() => part.scrollIntoView({block: "nearest"}));

export function followTo(...places) {
  follow(...places);
  showSum();
}

// The same, on a trail of its own: where the reader asks for a number anywhere on the page.
export function followFrom(place) {
  change({view: "step", trail: []});
  followTo(place);
}

function drawFollowed() {
  const {chosen, trace} = state;
  byId("follow-hint").hidden = Boolean(chosen);
  byId("followed").hidden = !chosen;
  show("followed");
  show("followed-head");
  byId("follow").scrollTop = 0;
  byId("follow").parentElement.scrollTop = 0; // where the column scrolls by itself
  if (!chosen) {
    return;
  }
  const explained = explain(trace, chosen.name, chosen.row, chosen.column);
  const {terms, formula, notes, origin} = explained;
  const words = wordsByNumber(chosen); // which the formula numbers
  const said = make("span", {class: "quiet"}, words && ` (${words})`);
  show("followed-head", ...trailOf(), ...titleBox());
  show(
    "followed",
    make("p", {}, make("span", {class: "formula"}, formula), said),
    barsOf(explained),
    ...spoiledSum(explained),
    make("p", {class: "quiet"}, "In the arrays: ", swatch("from"), " its sources, ", swatch("to"), " its uses."),
    make("p", {}, origin ? NOTES[origin]() : notes.filter((note) => note !== arrayNamed(chosen.name).meaning).join(" ")),
  );
}

const swatch = (look) => make("span", {class: `swatch ${look}`}, "\u00a0");

// With a bug planted at this very step, the number is not the sum that it should be.
function spoiledSum({value, total, terms}) {
  const size = terms.reduce((most, term) => Math.max(most, Math.abs(term.value)), Math.abs(value));
  const text =
    `Backward, with the bug planted here, says ${signedNumber(value)}; without it this sum, ${signedNumber(total)}, ` +
    "would come out of the same numbers.";
  return Math.abs(value - total) > 1e-9 * size && state.bug ? [make("p", {class: "bad"}, text)] : [];
}

function titleBox() {
  const {chosen, trace} = state;
  const array = arrayNamed(chosen.name);
  const maker = stepThatMakesNumber(chosen);
  const where = maker === null ? "" : ` (${partInWords(trace.steps[maker].part)})`;
  const says = array.gradientOf && isMovable(chosen) ? make("p", {id: "what-it-says"}, whatItSays()) : "";
  const leave = makeButton("✕", () => leaveNumber(), {class: "leave bare screen-only", "aria-label": "follow no number"});
  const value = make("output", {}, valueInWords());
  const title = make("h3", {id: "followed-title", tabindex: -1}, leave, `${titleOf(chosen)} = `, value);
  return [title, make("p", {class: "quiet"}, `${array.meaning}${where}`), says];
}

// The value of the followed number; where it was moved or trained, what it was and what it is now.
function valueInWords() {
  const {chosen} = state;
  const [before, now] = [arrayBefore, arrayNow].map((arrayOf) => valueAt(chosen, arrayOf(chosen.name)));
  return signedNumber(before) + (now === before ? "" : ` → ${signedNumber(now)}`);
}

// A gradient in words: what backward says, and where a bug is planted, what the loss really does.
function whatItSays() {
  const {chosen, trace} = state;
  const {goal} = trace;
  const {symbol} = arrayNamed(chosen.name);
  const nothing = whyNothing(arrayNamed(chosen.name));
  if (nothing) {
    return nothing;
  }
  const value = valueAt(chosen);
  const title = titleOf(valueOf(chosen));
  if (isOnRoad(chosen)) {
    const road = symbol.slice(symbol.indexOf(" ") + 1);
    return `On this road alone (${road}), the ${goal} would ${fallBy(value)} if ${title} rose by ${RISE}.`;
  }
  const really = knownBug() ? valueAt(chosen, trace.right.arrays.get(chosen.name)) : value;
  const said = `f ${title} rose by ${RISE}, the ${goal} would ${fallBy(value)}`;
  return Math.abs(value - really) > 1e-9 * Math.abs(really)
    ? `Backward, with the bug, says: i${said}. It is wrong: the ${goal} would really ${fallBy(really)}.`
    : `I${said}.`;
}

function fallBy(slope) {
  return isRounding(slope)
    ? "not move at all"
    : `${slope > 0 ? "rise" : "fall"} by about ${plainNumber(Math.abs(RISE * slope), 3)}`;
}

// From here on: to the gradient or back to the value, to the step.
function waysOn() {
  const {chosen, trace, step, trail} = state;
  const {gradientOf: of} = arrayNamed(chosen.name);
  const parameter = parameterOf(chosen);
  const updated = parameter && `new(${parameter})`;
  const maker = stepThatMakesNumber(chosen) ?? step;
  const toLoss = () => followTo(...wayToLoss(trace, chosen));
  const ways = [
    // whether it is one, its button, and where it leads
    [trail.length > 1, "← Previous number", goBackOnTrail],
    [largestTerm(trace, chosen), `Follow the largest to the ${trace.goal}`, toLoss],
    [trace.arrays.has(`d(${chosen.name})`), "Its gradient", () => followTo(gradientOf(chosen))],
    [of, "Its value", () => followTo(valueOf(chosen))],
    [updated && chosen.name !== updated, "After the next step", () => followTo({...chosen, name: updated})],
    [maker !== step, `Step ${maker + 1}: ${partInWords(trace.steps[maker].part)}`, () => goToStep(maker)],
  ];
  return ways.filter(([isThere]) => isThere).map(([, text, go]) => makeButton(text, go));
}

// Bring the sum before the reader's eyes, and the keyboard to it.
export function showSum() {
  byId("followed-title")?.focus({preventScroll: true});
  const {top, bottom} = byId("follow").getBoundingClientRect();
  if (top < 0 || Math.min(bottom, top + 200) > innerHeight) {
    byId("follow").scrollIntoView({block: "start"});
  }
}

export function goBackOnTrail() {
  if (state.trail.length > 1) {
    goBackTo(state.trail.length - 2);
    showSum();
  }
}

// Follow no number. The keyboard returns to its cell; or, where there is none or from the cell itself, to stepping.
export function leaveNumber({toCell = true} = {}) {
  const place = state.chosen;
  change({trail: [], moved: null});
  const cell = toCell && place ? cellOfPlace(byId("stage"), place) : null;
  (cell ?? byId("go-forward")).focus({preventScroll: !cell});
}

// ---- the trail: the numbers on the way here, each with what it was multiplied with in the one before, and the product
// of all these factors so far; the last is a factor itself ----

function trailOf() {
  const chain = chainOf(state.trace, state.trail);
  const items = state.trail.map((place, index) => trailItem(place, index, chain[index]));
  const folded = items.length > FIRST + LAST + 1 ? items.splice(FIRST, items.length - FIRST - LAST) : [];
  if (folded.length) {
    const unfold = makeButton(`… ${folded.length} more`, () => unfold.parentElement.replaceWith(...folded));
    items.splice(FIRST, 0, make("li", {}, unfold));
  }
  const list = make("ol", {class: "plain"}, ...items);
  const trail = make("nav", {class: "trail", "aria-label": "the way here"}, list, chainInWords(chain));
  return items.length > 1 ? [trail] : [];
}

function trailItem(place, index, {factor, product}) {
  const isHere = index === state.trail.length - 1;
  const goBack = () => {
    goBackTo(index);
    showSum();
  };
  const look = {"aria-current": isHere ? "true" : null, disabled: isHere};
  const [value, times] = [valueAt(place), factor === null ? "" : ` × ${plainNumber(factor)} = ${plainNumber(product)}`];
  const itself = times && isHere ? `, × itself (${signedNumber(value)}) = ${signedNumber(product * value)}` : "";
  return make("li", {}, makeButton(titleOf(place), goBack, look), make("span", {class: "quiet"}, times + itself));
}

// How much of the number where the chain begins comes along it.
function chainInWords(chain) {
  const begin = chain.findLastIndex(({factor}) => factor === null);
  if (begin === chain.length - 1) {
    return null;
  }
  const [whole, end] = [valueAt(state.trail[begin]), valueAt(state.trail.at(-1))];
  const brought = signedNumber(end * chain.at(-1).product);
  const all = `all paths together bring the ${signedNumber(whole)} that ${titleOf(state.trail[begin])} is`;
  return make("p", {class: "chain-said"}, `This one path brings ${brought}, the product of all factors; ${all}.`);
}
