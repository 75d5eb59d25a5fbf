// Where a number comes from, said as a sum: its terms, each of them a product of factors.
//
// A factor is a number of some array, and says which, so that a click can lead there; or a constant, such as 1/√d.

export const constant = (label, value) => ({name: null, row: null, column: null, label, value});

// A number of an array, of which a function is the factor: 1/σ, −ln p
export const functionOf = (cell, label, value) => ({...cell, label, value});

// One term. `label` says which it is; a click on it leads to the gradient among its factors, or else to the first.
export function term(label, ...factors) {
  const value = factors.reduce((result, factor) => result * factor.value, 1);
  const cells = factors.filter((factor) => factor.name !== null);
  const goes = cells.find((factor) => factor.isGradient) ?? cells[0] ?? null;
  return {label, value, factors, goes: goes && {name: goes.name, row: goes.row, column: goes.column}};
}

// A term for each row, or column, of an array: `factors(index)` are those of one.
export const forEachRow = (array, factors) => range(array.tensor.rows, (n) => term(array.rowLabel(n), ...factors(n)));
export const forEachColumn = (array, factors) =>
  range(array.tensor.columns, (i) => term(array.columnLabel(i), ...factors(i)));

// The letter of each axis, as labels and sums have it: n = 2, Σₙ
export const LETTERS = {
  tokens: "n", masked: "m", vocabulary: "v", features: "i", intermediate: "j", positions: "t", types: "s",
};
const SUBSCRIPTS = {n: "ₙ", m: "ₘ", v: "ᵥ", i: "ᵢ", j: "ⱼ"};

export const sumOver = (axis) => `Σ${SUBSCRIPTS[LETTERS[axis]]}`;

export const range = (count, make) => Array.from({length: count}, (_, index) => make(index));
