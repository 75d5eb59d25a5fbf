// What stands beside a row or above a column: the words, where rows are words.

import {counted} from "./format.js";
import {state} from "./state.js";

const MANY_WORDS = 24;

// The label of row or column `index` of that kind.
export function indexLabel(kind, index) {
  const {vocabulary} = state.data;
  const {input_ids: ids} = state.example;
  if (kind === "tokens") {
    const isRepeated = ids.indexOf(ids[index]) !== ids.lastIndexOf(ids[index]);
    return vocabulary[ids[index]] + (isRepeated ? ` (${index})` : "");
  }
  if (kind === "masked") {
    return indexLabel("tokens", maskedPositions()[index]);
  }
  if (kind === "vocabulary") {
    return vocabulary[index];
  }
  return kind === "one" ? "" : String(index);
}

const AXES = {
  tokens: "token",
  masked: "hidden word",
  features: "feature",
  intermediate: "wide feature",
  vocabulary: "word",
  positions: "place",
  types: "sentence",
};

// The shape of an array in words: 6 tokens × 8 features, of head 0.
export function shapeInWords({shape, rows, columns, head}) {
  const axes = [[rows, shape[0]], [columns, shape[1]]].filter(([kind]) => AXES[kind]);
  const words = axes.map(([kind, count]) => counted(count, AXES[kind])).join(" × ") || "one number";
  return head === null ? words : `${words}, head ${head}`;
}

// Where a word is hidden.
export function maskedPositions() {
  return state.example.labels.flatMap((label, position) => (label === -100 ? [] : [position]));
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
  const answers = example.labels.filter((label) => label !== -100);
  const guesses = trace.probabilities.flatMap(({values}) => bestOf(values, 4));
  const array = chosen && trace.arrays.get(chosen.name);
  const isWord = (kind) => array?.[kind] === "vocabulary";
  const followed = isWord("rows") ? [chosen.row] : isWord("columns") ? [chosen.column] : [];
  return [...example.input_ids, ...answers, ...guesses, ...followed];
}

// The numbers of the `count` largest values, the largest first.
export function bestOf(values, count) {
  const order = Array.from(values, (_, index) => index).sort((a, b) => values[b] - values[a]);
  return order.slice(0, count);
}

// What a number is called: Q[“are”, 3].
export function nameOf(array, row, column) {
  const axes = [[array.rows, row, array.shape[0]], [array.columns, column, array.shape[1]]];
  const places = axes.filter(([kind, , count]) => count > 1 || kind !== "one").map(([kind, at]) => placeOf(kind, at));
  return array.symbol + (places.length ? `[${places.join(", ")}]` : "");
}

function placeOf(kind, index) {
  return isWordKind(kind) ? `“${indexLabel(kind, index)}”` : indexLabel(kind, index);
}

function isWordKind(kind) {
  return ["tokens", "masked", "vocabulary"].includes(kind);
}

// By which numbers the formulas call the words in a name: n = 2 is “are”; "" where there is no word.
export function wordsByNumber(array, row, column) {
  const places = [[array.rows, row], [array.columns, column]].filter(([kind]) => isWordKind(kind));
  const said = places.map(([kind, index]) => `${index} is ${placeOf(kind, index)}`);
  return [...new Set(said)].join(", ");
}

// layers.0.attention -> layer 0, attention: the path of a part in words.
export function partInWords(part) {
  const short = part.replace(/^bert\./, "").replace(/encoder\.layers\.(\d+)/, "layer $1");
  return short.replaceAll("_", " ").replaceAll(".", " › ");
}
