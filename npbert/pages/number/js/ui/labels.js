// Numbers by their place, {name, row, column}, and what they, their arrays and their rows are called.

import {counted} from "./format.js";
import {state} from "./state.js";

const MANY_WORDS = 24;
const AXES = {
  tokens: "token",
  masked: "hidden word",
  features: "feature",
  intermediate: "wide feature",
  vocabulary: "word",
  positions: "place",
  types: "sentence",
};
const WORDS = ["tokens", "masked", "vocabulary"];

export const arrayNamed = (name) => state.trace.arrays.get(name);

export function indexLabel(kind, index) {
  const {vocabulary} = state.data;
  const {input_ids: ids} = state.example;
  if (kind === "tokens") {
    const isRepeated = ids.indexOf(ids[index]) !== ids.lastIndexOf(ids[index]);
    return vocabulary[ids[index]] + (isRepeated ? ` (${index})` : "");
  }
  if (kind === "masked") {
    return indexLabel("tokens", state.trace.masked[index]);
  }
  return kind === "vocabulary" ? vocabulary[index] : kind === "one" ? "" : String(index);
}

// The shape of an array in words: 6 tokens × 8 features, of head 1.
export function shapeInWords({shape, rows, columns, head}) {
  const sizes = {row: shape[0], column: shape[1]};
  const words = axesOf({rows, columns}, sizes).map(([kind, count]) => counted(count, AXES[kind]));
  return (words.join(" × ") || "one number") + (head === null ? "" : `, head ${head + 1}`);
}

// What the row and the column of a place are, but for those of which there is one: [kind, number].
function axesOf({rows, columns}, {row, column}) {
  return [[rows, row], [columns, column]].filter(([kind]) => kind !== "one");
}

// Which rows or columns of that kind are shown, by number: of a long vocabulary, only words that matter here.
export function shownOf(kind, count) {
  const all = Array.from({length: count}, (_, index) => index);
  if (kind !== "vocabulary" || count <= MANY_WORDS || state.allWords) {
    return all;
  }
  const matters = new Set(wordsThatMatter());
  return all.filter((index) => matters.has(index));
}

// The words of the sentence, the answers, the best guesses, and the chosen one.
function wordsThatMatter() {
  const {example, trace, chosen} = state;
  const axes = chosen ? axesOf(arrayNamed(chosen.name), chosen) : [];
  const followed = axes.filter(([kind]) => kind === "vocabulary").map(([, at]) => at);
  const guesses = trace.probabilities.flatMap(({values}) => bestOf(values, 4));
  return [...example.input_ids, ...trace.lookups.labels, ...guesses, ...followed];
}

// The numbers of the `count` largest values, the largest first.
export const bestOf = (values, count) =>
  Array.from(values, (_, index) => index)
    .sort((a, b) => values[b] - values[a])
    .slice(0, count);

// What a number is called: Q[“are”, 3].
export function titleOf(place) {
  const array = arrayNamed(place.name);
  const places = axesOf(array, place).map(([kind, at]) => placeOf(kind, at));
  return array.symbol + (places.length ? `[${places.join(", ")}]` : "");
}

const placeOf = (kind, index) => (WORDS.includes(kind) ? `“${indexLabel(kind, index)}”` : indexLabel(kind, index));

// By which numbers the formulas call the words in a name: 2 is “are”; "" where there is no word.
export function wordsByNumber(place) {
  const words = axesOf(arrayNamed(place.name), place).filter(([kind]) => WORDS.includes(kind));
  return [...new Set(words.map(([kind, index]) => `${index} is ${placeOf(kind, index)}`))].join(", ");
}

// encoder.layers.0.attention -> layer 1 › attention: the path of a part in words. People count from 1.
export function partInWords(part) {
  const short = part
    .replace(/^bert\./, "")
    .replace(/encoder\.layers\.(\d+)/, (_, layer) => `layer ${Number(layer) + 1}`);
  return short.replaceAll("_", " ").replaceAll(".", " › ");
}

// A step in a list: 60. ← attention: scores become shares.
export const stepInWords = ({index, phase, title}) => `${index + 1}. ${phase === "backward" ? "← " : ""}${title}`;

// The number at a place. `now`: while one is moved, as it then is; `before`: after training, as it was.
export const valueAt = ({name, row, column}, array = arrayNamed(name)) => array.at(row, column);
export const arrayNow = (name) => state.moved?.arrays.get(name) ?? arrayNamed(name);
export const arrayBefore = (name) =>
  !state.moved && state.earlier?.arrays.has(name) ? state.earlier.arrays.get(name) : arrayNamed(name);

// The value whose gradient this is, or itself.
export const valueOf = (place) => ({...place, name: arrayNamed(place.name).gradientOf ?? place.name});
export const gradientOf = (place) => ({...place, name: `d(${place.name})`});

// Is it the gradient on one road alone, and not over all paths?
export function isOnRoad({name}) {
  const {gradientOf: of} = arrayNamed(name);
  return of !== null && name !== `d(${of})`;
}

// Can this number be moved, and the loss then be another one?
export function isMovable(place) {
  const {name} = valueOf(place);
  const {isGradient, madeBy, parameter} = arrayNamed(name);
  return (
    !isGradient && (parameter || (madeBy !== null && madeBy < state.trace.program.length)) && name !== state.trace.goal
  );
}

// Of all matrices of the model, the weight with the largest gradient.
export function steepestWeight() {
  const matrices = [...state.model.parameters].filter(([, {isMatrix}]) => isMatrix);
  const places = matrices.map(([name]) => steepest(name));
  return places[bestOf(places.map((place) => Math.abs(valueAt(gradientOf(place)))), 1)[0]];
}

// The place in a parameter with the largest gradient.
export function steepest(name) {
  const {values, shape} = arrayNamed(`d(${name})`);
  return placeAtIndex(name, shape, bestOf(values.map(Math.abs), 1)[0]);
}

// The place of the number at this index of an array's values
export const placeAtIndex = (name, [, width], at) => ({name, row: Math.floor(at / width), column: at % width});

// ---- what is 0 but for rounding: a float64 has some sixteen digits, so what should be 0 comes out as a tiny number ----

export const TOLERANCE = 1e-9; // beside the largest number of an array: what differs by more is wrong
export const largestIn = (values) => values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
const largestGradient = () =>
  Math.max(...[...state.model.parameters.keys()].map((name) => largestIn(arrayNamed(`d(${name})`).values)));
export const isRounding = (slope) => Math.abs(slope) <= 1e-13 * largestGradient();
export const isNoChange = (change) => Math.abs(change) <= 1e-12 * Math.max(1, Math.abs(state.trace.loss));

// Why a gradient is 0 all over, where it is; "" where it is not.
export function whyNothing({symbol, gradientOf: of, values, soFar}) {
  if (!of || soFar || !isRounding(largestIn(values))) {
    return "";
  }
  if (state.bug) {
    return `All of ${symbol} is 0, says backward, in which a bug is planted.`;
  }
  const why = of.endsWith("key.bias")
    ? " A bias of K adds the same to a whole row of scores, and softmax does not notice."
    : "";
  return `All of ${symbol} is 0, but for rounding: the ${state.trace.goal} does not move with it.${why}`;
}

// The gradients that a bug changes, in the order in which backward completes them, each at its worst number; beside
// them those that are right: {name, place, says, right, isWrong}.
export function checked({arrays, right}) {
  return [...right.arrays.values()]
    .filter(({gradientOf, isHidden}) => gradientOf && !isHidden)
    .sort((a, b) => a.madeBy - b.madeBy)
    .map(({name, values, shape}) => {
      const found = arrays.get(name).values;
      const errors = values.map((value, n) => Math.abs(found[n] - value));
      const worst = errors.indexOf(largestIn(errors));
      const isWrong = errors[worst] > TOLERANCE * largestIn(values);
      return {name, place: placeAtIndex(name, shape, worst), says: found[worst], right: values[worst], isWrong};
    });
}
