// An array as a heat map: a table of cells, blue above 0 and orange below, each marked + or −.
// Every cell can be pointed at, reached with the arrow keys, and chosen.

import {make} from "./dom.js";
import {shortNumber} from "./format.js";
import {indexLabel, shownOf} from "./labels.js";
import {isNearlyNothing, largestOf} from "./nothing.js";
import {state} from "./state.js";

const MANY_ROWS = 22; // more of them do not fit: the array scrolls
const stops = new Map(); // by array: the cell at which Tab stops, once the keyboard was in it

// The table of one array of the trace. Words of the vocabulary always go down, so a wide array lies on its side.
export function heatMap(array) {
  const isTurned = array.columns === "vocabulary" && array.rows !== "vocabulary";
  const [down, across] = isTurned ? ["columns", "rows"] : ["rows", "columns"];
  const [downCount, acrossCount] = isTurned ? [array.shape[1], array.shape[0]] : array.shape;
  const [downShown, acrossShown] = [shownOf(array[down], downCount), shownOf(array[across], acrossCount)];
  const largest = isNearlyNothing(array) ? Infinity : strongestOf(array) || 1;
  const rows = downShown.map((i) =>
    make(
      "tr",
      {},
      heading("row", array[down], i),
      ...acrossShown.map((j) => (isTurned ? cell(array, j, i, largest) : cell(array, i, j, largest))),
    ),
  );
  const size = acrossShown.length > 20 ? "tiny" : acrossShown.length > 10 ? "small" : "usual";
  const look = isShares(array) ? " shares" : array.values.length === 1 ? " alone" : "";
  const table = make(
    "table",
    {
      role: "grid",
      class: `heat ${size}${look}`,
      "aria-label": `${array.symbol}: ${array.meaning}`,
      "data-array": array.name,
    },
    make("thead", {}, headings(array[across], acrossShown)),
    make("tbody", {}, ...rows),
  );
  const stop = table.querySelector(stops.get(array.name) ?? "td[data-row]") ?? table.querySelector("td[data-row]");
  stop.tabIndex = 0;
  const parts = [make("div", {class: "scrolls heat-box"}, table)];
  if (downShown.length < downCount) {
    parts.push(make("p", {class: "quiet left-out"}, `${downShown.length} of its ${downCount} words are shown`));
  } else if (array[down] === "vocabulary" && downCount > MANY_ROWS) {
    parts.push(make("p", {class: "quiet left-out"}, `scroll in it to see all ${downCount} words`));
  }
  return make("div", {class: "heat-whole"}, ...parts);
}

function headings(kind, shown) {
  return make("tr", {}, make("td", {class: "corner"}), ...shown.map((j) => heading("col", kind, j)));
}

function heading(scope, kind, index) {
  const label = indexLabel(kind, index);
  const look = scope === "col" && ["tokens", "masked", "vocabulary"].includes(kind) ? "upright" : "";
  return label ? make("th", {scope, class: look}, make("bdi", {}, label)) : make("td", {class: "corner"});
}

function cell(array, row, column, largest) {
  const value = largest === Infinity ? 0 : array.values[row * array.shape[1] + column];
  const share = Math.round((100 * Math.abs(value)) / largest);
  const sign = value > 0 ? "plus" : value < 0 ? "minus" : "zero";
  const attributes = {role: "gridcell", tabindex: -1, class: sign, style: `--share: ${share}%`};
  const place = {"data-row": row, "data-column": column};
  const text = shortNumber(value);
  return make("td", {...attributes, ...place}, isShares(array) ? text.replace("+", "") : text);
}

// The size that gets the strongest colour: 1 for shares; for all else the largest of the array and of its siblings, which
// are the heads of one step, or the roads of one gradient and their sum.
export function strongestOf(array) {
  const siblings = [...state.trace.arrays.values()].filter((other) => familyOf(other) === familyOf(array));
  return isShares(array) ? 1 : Math.max(...[array, ...siblings].map(({values}) => largestOf(values)));
}

function familyOf(array) {
  const base = state.trace.arrays.get(array.gradientOf) ?? array;
  const family = array.head === null ? base.name : `${base.madeBy} ${base.symbol.replaceAll(/[₀-₉]/g, "")}`;
  return `${array.isGradient} ${family}`;
}

// Shares and probabilities go from 0 to 1, whichever is the largest.
export function isShares({symbol}) {
  return /^[Pp][₀-₉]*$/.test(symbol);
}

// Tab stops from now on at the cell that has the focus.
export function stopHere(element) {
  const place = placeOfCell(element);
  if (!place) {
    return;
  }
  const cell = element.closest("td");
  for (const other of cell.closest("table").querySelectorAll("td[tabindex='0']")) {
    other.tabIndex = -1;
  }
  cell.tabIndex = 0;
  stops.set(place.name, `td[data-row="${place.row}"][data-column="${place.column}"]`);
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
  if (!next) {
    return false;
  }
  const there = next();
  if (there) {
    there.focus();
  }
  event.preventDefault();
  return true;
}
