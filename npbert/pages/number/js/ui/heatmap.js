// A heat map: an array as a table of cells, each a number that can be pointed at, and reached with the keyboard.

import {make} from "./dom.js";
import {signedNumber} from "./format.js";
import {indexLabel, largestIn, shownOf, TOLERANCE, whyNothing} from "./labels.js";
import {state} from "./state.js";

const MANY_COLUMNS = 10; // columns, from which on cells are small

// The table of an array. Words of the vocabulary always go down, so a wide array lies on its side. values: others in
// place of its own. right: what they should be.
export function heatMap(array, values = array.values, right = values) {
  const {name, symbol, rows, columns, shape} = array;
  const isTurned = columns === "vocabulary" && rows !== "vocabulary";
  const axes = [[rows, shape[0]], [columns, shape[1]]];
  const [[down, downCount], [across, acrossCount]] = isTurned ? axes.reverse() : axes;
  const [downShown, acrossShown] = [shownOf(down, downCount), shownOf(across, acrossCount)];
  const scale = strongestOf(array) || 1;
  const root = isShares(array) ? Math.sqrt : (share) => share; // most shares are small
  const isNothing = Boolean(whyNothing(array));
  const most = TOLERANCE * largestIn(right);
  const cellAt = (row, column) => {
    const at = row * shape[1] + column;
    const value = isNothing ? 0 : values[at];
    return cellOf(value, root(Math.abs(value) / scale), row, column, Math.abs(values[at] - right[at]) > most);
  };
  const body = downShown.map((i) =>
    make("tr", {}, heading("row", down, i), ...acrossShown.map((j) => (isTurned ? cellAt(j, i) : cellAt(i, j)))),
  );
  const head = make("tr", {}, make("td"), ...acrossShown.map((j) => heading("col", across, j)));
  const look = {small: acrossShown.length > MANY_COLUMNS, shares: isShares(array), alone: values.length === 1};
  const looks = ["heat", ...Object.keys(look).filter((name) => look[name])];
  const table = make(
    "table",
    {role: "grid", class: looks.join(" "), "data-array": name, "aria-label": symbol},
    make("thead", {}, head),
    make("tbody", {}, ...body),
  );
  table.querySelector("td[data-row]").tabIndex = 0; // Tab comes here, and arrow keys lead on
  const isPart = downShown.length < downCount;
  const some = isPart ? make("p", {class: "quiet"}, `${downShown.length} of its ${downCount} words`) : null;
  return make("div", {class: "heat-box"}, table, some);
}

function heading(scope, kind, index) {
  const label = indexLabel(kind, index);
  const look = scope === "col" && ["tokens", "masked", "vocabulary"].includes(kind) ? "upright" : null;
  return label ? make("th", {scope, class: look}, make("bdi", {}, label)) : make("td");
}

function cellOf(value, share, row, column, isWrong) {
  const sign = (value > 0 ? "plus" : value < 0 ? "minus" : "zero") + (isWrong ? " wrong" : "");
  const style = `--share: ${Math.round(100 * share)}%`;
  return make("td", {class: sign, style, tabindex: -1, "data-row": row, "data-column": column}, signedNumber(value, 2));
}

// What full color stands for: heads share one scale, and so do the roads of a gradient and their sum.
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
export const isShares = ({symbol}) => /^[Pp][₀-₉]*$/.test(symbol);

// Which number a cell is: {name, row, column}, or null for what is no cell.
export function placeOfCell(element) {
  const found = element?.closest?.("td[data-row]");
  const {row, column} = found?.dataset ?? {};
  return found ? {name: found.closest("table").dataset.array, row: Number(row), column: Number(column)} : null;
}

// The cell of a number, where it is in `root`.
export const cellOfPlace = (root, {name, row, column}) =>
  root.querySelector(`[data-array="${CSS.escape(name)}"]`)?.querySelector(`[data-row="${row}"][data-column="${column}"]`);

// Inside a heat map the arrow keys, Home and End move from cell to cell. Returns whether the key was one of them.
export function moveInHeatMap({target, key}) {
  const here = target.closest?.("td[data-row]");
  if (!here) {
    return false;
  }
  const row = here.parentElement;
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
  }[key];
  next?.()?.focus();
  return Boolean(next);
}
