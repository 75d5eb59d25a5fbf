// An array as a heat map: a table of cells, blue above 0 and orange below, each marked + or − (by css/heat.css).
// Every cell can be pointed at, reached with the arrow keys, and chosen.

import {largestIn} from "../math/index.js";
import {make} from "./dom.js";
import {shortNumber} from "./format.js";
import {indexLabel, shownOf} from "./labels.js";
import {isNearlyNothing} from "./nothing.js";
import {state} from "./state.js";

const MANY_ROWS = 22; // more of them do not fit: the array scrolls
const stops = new Map(); // by array: the cell at which Tab stops, once the keyboard was in it

// The table of one array of the trace. Words of the vocabulary always go down, so a wide array lies on its side.
export function heatMap(array) {
  const isTurned = array.columns === "vocabulary" && array.rows !== "vocabulary";
  const [down, across] = isTurned ? ["columns", "rows"] : ["rows", "columns"];
  const [downCount, acrossCount] = isTurned ? [array.shape[1], array.shape[0]] : array.shape;
  const [downShown, acrossShown] = [shownOf(array[down], downCount), shownOf(array[across], acrossCount)];
  const {values, shape: [, width]} = array;
  const [isShown, isSigned, largest] = [!isNearlyNothing(array), !isShares(array), strongestOf(array) || 1];
  const cellAt = (row, column) => cell(row, column, isShown ? values[row * width + column] : 0, largest, isSigned);
  const rows = downShown.map((i) =>
    make("tr", {}, heading("row", array[down], i),
      ...acrossShown.map((j) => (isTurned ? cellAt(j, i) : cellAt(i, j)))));
  const size = acrossShown.length > 20 ? "tiny" : acrossShown.length > 10 ? "small" : "usual";
  const look = !isSigned ? " shares" : values.length === 1 ? " alone" : "";
  const name = {"aria-label": `${array.symbol}: ${array.meaning}`, "data-array": array.name};
  const table = make("table", {role: "grid", class: `heat ${size}${look}`, ...name},
    make("thead", {}, make("tr", {}, make("td", {class: "corner"}),
      ...acrossShown.map((j) => heading("col", array[across], j)))),
    make("tbody", {}, ...rows));
  const stop = table.querySelector(stops.get(array.name) ?? "td[data-row]") ?? table.querySelector("td[data-row]");
  stop.tabIndex = 0;
  const isLong = array[down] === "vocabulary" && downCount > MANY_ROWS;
  const said = downShown.length < downCount ? `${downShown.length} of its ${downCount} words are shown`
    : isLong ? `scroll in it to see all ${downCount} words` : "";
  return make("div", {class: "heat-whole"}, make("div", {class: "scrolls heat-box"}, table),
    said ? make("p", {class: "quiet left-out"}, said) : null);
}

function heading(scope, kind, index) {
  const label = indexLabel(kind, index);
  const look = scope === "col" && ["tokens", "masked", "vocabulary"].includes(kind) ? "upright" : "";
  return label ? make("th", {scope, class: look}, make("bdi", {}, label)) : make("td", {class: "corner"});
}

function cell(row, column, value, largest, isSigned) {
  const style = `--share: ${Math.round((100 * Math.abs(value)) / largest)}%`;
  const sign = value > 0 ? "plus" : value < 0 ? "minus" : "zero";
  const text = isSigned ? shortNumber(value) : shortNumber(value).replace("+", "");
  return make("td", {tabindex: -1, class: sign, style, "data-row": row, "data-column": column}, text);
}

// The size that gets the strongest colour: 1 for shares; for all else the largest of the array and of its siblings: the
// heads of one step, or the roads of one gradient and their sum. The names of siblings begin alike.
export function strongestOf(array) {
  if (isShares(array)) {
    return 1;
  }
  const {name, head, gradientOf} = array;
  const begin = head !== null ? name.replace(/\d+\)?$/, "") : gradientOf && `d(${gradientOf})`;
  const siblings = begin ? [...state.trace.arrays.values()].filter((other) => other.name.startsWith(begin)) : [];
  return Math.max(...[array, ...siblings].map(({values}) => largestIn(values)));
}

// Shares and probabilities go from 0 to 1, whichever is the largest.
export function isShares({symbol}) {
  return /^[Pp][₀-₉]*$/.test(symbol);
}

// Tab stops from now on at the cell that has the focus.
export function stopHere(element) {
  const place = placeOfCell(element);
  if (place) {
    const cell = element.closest("td");
    cell.closest("table").querySelector("td[tabindex='0']").tabIndex = -1;
    cell.tabIndex = 0;
    stops.set(place.name, `td[data-row="${place.row}"][data-column="${place.column}"]`);
  }
}

// Which number a cell is: {name, row, column}, or null for what is no cell.
export function placeOfCell(element) {
  const found = element.closest?.("td[data-row]");
  if (!found) {
    return null;
  }
  const name = found.closest("table").dataset.array;
  return {name, row: Number(found.dataset.row), column: Number(found.dataset.column)};
}

// The cell of a number, where it is on the stage, or null.
export function cellOfPlace(root, {name, row, column}) {
  return root.querySelector(`table[data-array="${CSS.escape(name)}"] td[data-row="${row}"][data-column="${column}"]`);
}

// Inside a heat map the arrow keys, Home and End move from cell to cell. Returns whether the key was one of them.
export function moveInHeatMap(event) {
  const here = event.target.closest?.("td[data-row]");
  const row = here?.parentElement;
  if (!here || event.altKey || event.ctrlKey || event.metaKey) {
    return false;
  }
  const cells = [...row.querySelectorAll("td[data-row]")];
  const number = cells.indexOf(here);
  const inRow = (other) => other?.querySelectorAll("td[data-row]")[number];
  const next = {
    ArrowLeft: () => cells[number - 1],
    ArrowRight: () => cells[number + 1],
    ArrowUp: () => inRow(row.previousElementSibling),
    ArrowDown: () => inRow(row.nextElementSibling),
    Home: () => cells[0],
    End: () => cells.at(-1),
  }[event.key];
  if (next) {
    next()?.focus();
    event.preventDefault();
  }
  return Boolean(next);
}
