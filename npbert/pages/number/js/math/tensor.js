// Tensor: a matrix of numbers, real or complex, and what NumPy would do with it.
//
// A vector is a matrix with one row. Complex numbers are only there for the complex step (see differences.js): `im` is
// null for a real matrix, and all functions here take both kinds.

export class Tensor {
  constructor(rows, columns, isComplex = false) {
    this.shape = [rows, columns];
    this.re = zeros(rows * columns);
    this.im = isComplex ? zeros(rows * columns) : null;
  }

  get rows() { return this.shape[0]; }
  get columns() { return this.shape[1]; }

  at(row, column) { return this.re[row * this.shape[1] + column]; }

  // A copy in which one number has another value: a number, or {re, im}.
  with(row, column, value) {
    const copy = copied(this, typeof value === "object");
    const place = row * this.shape[1] + column;
    copy.re[place] = value.re ?? value;
    if (copy.im) copy.im[place] = value.im ?? 0;
    return copy;
  }
}

const SHARED = 8192; // numbers that share one piece of memory
let memory = null, used = SHARED; // the piece in use, and how many numbers of it are

// New numbers, all 0. To find room for a small array takes a browser far longer than to fill it, and the check of every
// derivative makes millions of them: so many lie side by side in one piece of memory.
function zeros(count) {
  if (count > SHARED / 4) return new Float64Array(count);
  if (used + count > SHARED) {
    memory = new ArrayBuffer(8 * SHARED);
    used = 0;
  }
  used += count;
  return new Float64Array(memory, 8 * (used - count), count);
}

export function copied(x, isComplex = false) {
  const copy = new Tensor(...x.shape, x.im !== null || isComplex);
  copy.re.set(x.re);
  if (x.im) copy.im.set(x.im);
  return copy;
}

export function tensorOf(shape, values) {
  const tensor = new Tensor(...(shape.length === 1 ? [1, shape[0]] : shape));
  tensor.re.set(values);
  return tensor;
}

// ---- element by element; a row or column of one stands for all of them, as in NumPy ----

// f is given the real and the imaginary part of each of the two, and returns both of the result.
function combined(a, b, f) {
  const rows = Math.max(a.rows, b.rows), columns = Math.max(a.columns, b.columns);
  const y = new Tensor(rows, columns, a.im !== null || b.im !== null);
  const [rowOfA, columnOfA] = stridesOf(a), [rowOfB, columnOfB] = stridesOf(b);
  const ar = a.re, ai = a.im, br = b.re, bi = b.im, yr = y.re, yi = y.im;
  for (let r = 0, place = 0; r < rows; r++) {
    let i = r * rowOfA, j = r * rowOfB;
    for (let c = 0; c < columns; c++, place++, i += columnOfA, j += columnOfB) {
      const number = f(ar[i], ai ? ai[i] : 0, br[j], bi ? bi[j] : 0);
      yr[place] = number[0];
      if (yi) yi[place] = number[1];
    }
  }
  return y;
}

// How far the next row, and the next column, is: 0 where the one that there is stands for all
const stridesOf = (x) => [x.rows === 1 ? 0 : x.columns, x.columns === 1 ? 0 : 1];

export const add = (a, b) => combined(a, b, (ar, ai, br, bi) => [ar + br, ai + bi]);
export const subtract = (a, b) => combined(a, b, (ar, ai, br, bi) => [ar - br, ai - bi]);
export const times = (a, b) => combined(a, b, (ar, ai, br, bi) => [ar * br - ai * bi, ar * bi + ai * br]);
export const divide = (a, b) => combined(a, b, (ar, ai, br, bi) => {
  const size = br * br + bi * bi;
  return [(ar * br + ai * bi) / size, (ai * br - ar * bi) / size];
});

// A function of each number
export const each = (x, f) => combined(x, NOTHING, f);
const NOTHING = new Tensor(1, 1);

export const scaled = (x, factor) => each(x, (re, im) => [re * factor, im * factor]);
export const plus = (x, number) => each(x, (re, im) => [re + number, im]);
export const exponential = (x) => each(x, complexExp);
export const logarithm = (x) => each(x, (re, im) => [Math.log(Math.hypot(re, im)), Math.atan2(im, re)]);
export const squareRoot = (x) => each(x, complexRoot);
export const tanhOf = (x) => each(x, complexTanh);

export function complexExp(re, im) {
  const size = Math.exp(re);
  return [size * Math.cos(im), size * Math.sin(im)];
}

function complexRoot(re, im) { // for a positive real part
  const root = Math.sqrt((Math.hypot(re, im) + re) / 2);
  return [root, im / (2 * root)];
}

function complexTanh(re, im) { // tanh(a + bi) = (sinh 2a + i sin 2b) / (cosh 2a + cos 2b); beyond 20 the cosh is all
  if (im === 0 || Math.abs(re) > 20) return [Math.tanh(re), 4 * Math.sin(2 * im) * Math.exp(-2 * Math.abs(re)) / 2];
  const below = Math.cosh(2 * re) + Math.cos(2 * im);
  return [Math.sinh(2 * re) / below, Math.sin(2 * im) / below];
}

// a b: y[n, o] = Σᵢ a[n, i] b[i, o]
export function product(a, b) {
  if (a.columns !== b.rows) throw new Error(`a product of (${a.shape}) and (${b.shape})`);
  const y = new Tensor(a.rows, b.columns, a.im !== null || b.im !== null);
  addProduct(a.re, b.re, y.re, a, b, 1);
  if (a.im) addProduct(a.im, b.re, y.im, a, b, 1);
  if (b.im) addProduct(a.re, b.im, y.im, a, b, 1);
  if (a.im && b.im) addProduct(a.im, b.im, y.re, a, b, -1); // i² = −1
  return y;
}

function addProduct(left, right, y, a, b, sign) {
  const inner = a.columns, columns = b.columns;
  for (let n = 0; n < a.rows; n++) {
    for (let i = 0; i < inner; i++) {
      const factor = sign * left[n * inner + i];
      for (let o = 0; o < columns; o++) y[n * columns + o] += factor * right[i * columns + o];
    }
  }
}

// ---- the numbers in other places ----

// y[r, c] is x at the place that `from` says.
function picked(x, rows, columns, from) {
  const y = new Tensor(rows, columns, x.im !== null);
  for (let r = 0, place = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++, place++) {
      const at = from(r, c);
      y.re[place] = x.re[at];
      if (x.im) y.im[place] = x.im[at];
    }
  }
  return y;
}

export const transposed = (x) => picked(x, x.columns, x.rows, (r, c) => c * x.columns + r);

// x[rows], as for a lookup in a table
export const rowsAt = (x, rows) => picked(x, rows.length, x.columns, (r, c) => rows[r] * x.columns + c);

// x[:, first:first + count], as for one head of several
export const columnsOf = (x, first, count) => picked(x, x.rows, count, (r, c) => r * x.columns + first + c);

// Heads beside each other again: the reverse of columnsOf
export function sideBySide(parts) {
  const [{rows, columns}] = parts;
  const y = new Tensor(rows, columns * parts.length, parts.some(({im}) => im));
  parts.forEach((x, h) => {
    for (let r = 0; r < rows; r++) {
      const at = r * y.columns + h * columns;
      y.re.set(x.re.subarray(r * columns, (r + 1) * columns), at);
      if (x.im) y.im.set(x.im.subarray(r * columns, (r + 1) * columns), at);
    }
  });
  return y;
}

// ---- sums, as products with 1 ----

const ones = (rows, columns) => plus(new Tensor(rows, columns), 1);

export const sumOverRows = (x) => product(ones(1, x.rows), x); // Σₙ xₙ: (N, D) → (1, D)
export const sumOfEachRow = (x) => product(x, ones(x.columns, 1)); // (N, D) → (N, 1)
export const meanOfEachRow = (x) => scaled(sumOfEachRow(x), 1 / x.columns); // (N, D) → (N, 1)

// 1 in each row n at ids[n], of so many columns; 0 elsewhere
export const oneHot = (ids, columns) => ids.reduce((y, id, n) => y.with(n, id, 1), new Tensor(ids.length, columns));

// y[ids[n]] += x[n] for every n; y has `rows` rows. The reverse of rowsAt.
export const scattered = (x, ids, rows) => product(transposed(oneHot(ids, rows)), x);

// The largest real part of each row, as a real number: it is only ever subtracted, and what comes of it cancels. (N, 1)
export function largestOfEachRow(x) {
  const y = new Tensor(x.rows, 1);
  y.re.fill(-Infinity);
  for (let i = 0; i < x.re.length; i++) {
    const row = Math.floor(i / x.columns);
    if (x.re[i] > y.re[row]) y.re[row] = x.re[i];
  }
  return y;
}

export const sumOfSquares = (values) => values.reduce((sum, value) => sum + value * value, 0);
export const largestIn = (values) => values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
