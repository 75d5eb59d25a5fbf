// Where a number comes from, said as a sum: its terms, each of them a product of factors.
//
// A factor is a number of some array, and says which, so that a click can lead there; or a constant, such as 1/√d.

export const constant = (label, value) => ({name: null, row: null, column: null, label, value});
export const MINUS_ONE = constant("−1", -1);

// A number of an array, of which a function is the factor: 1/σ, −ln p
export const functionOf = (cell, label, value) => ({...cell, label, value});

// One term. `label` says which it is; a click on it leads to the gradient among its factors, or else to the first.
// `formula` says the term, or the sum that it is a part of, as it stands in a formula.
export function term(label, ...factors) {
  const value = factors.reduce((result, factor) => result * factor.value, 1);
  const cells = factors.filter((factor) => factor.name !== null);
  const goes = cells.find((factor) => factor.isGradient) ?? cells[0] ?? null;
  const formula = () => productOf(factors);
  return {label, value, factors, formula, goes: goes && {name: goes.name, row: goes.row, column: goes.column}};
}

export const totalOf = (terms) => terms.reduce((sum, {value}) => sum + value, 0);

// dS[0, n] · K[n, 3] / √d
const productOf = (factors) => factors.map(({label, formula}) => label ?? formula).join(" · ").replaceAll(" · 1/", " / ");

// A term for each row, or column, of an array: `factors(index)` are those of one. The formula has a letter for the index.
export const forEachRow = (array, factors) =>
  summed(array.rows, range(array.tensor.rows), (n) => array.rowLabel(n), factors);
export const forEachColumn = (array, factors, columns = range(array.tensor.columns)) =>
  summed(array.columns, columns, (i) => array.columnLabel(i), factors);

function summed(axis, indices, labelOf, factors) {
  const letter = LETTERS[axis];
  const formula = () => `Σ${SUBSCRIPTS[letter]} ${productOf(factors(letter))}`;
  return indices.map((index) => ({...term(labelOf(index), ...factors(index)), formula}));
}

// The letter of each axis, as labels and sums have it: n = 2, Σₙ
export const LETTERS = {
  tokens: "n", masked: "m", vocabulary: "v", features: "i", intermediate: "j", positions: "t", types: "s",
};
const SUBSCRIPTS = {n: "ₙ", m: "ₘ", v: "ᵥ", i: "ᵢ", j: "ⱼ"};

export const range = (count, make = (index) => index) => Array.from({length: count}, (_, index) => make(index));
