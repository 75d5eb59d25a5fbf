// Numbers and names as a reader wants them.

export const MINUS = "\u2212";
const THOUSANDS = new Intl.NumberFormat("en-US");

// A number with its sign, as short as a cell: +0.12, −3.4, +2e-5.
export function shortNumber(value) {
  const size = Math.abs(value);
  if (size === 0) {
    return "0";
  }
  if (size >= 1e5 || size < 0.00095) {
    return signOf(value) + exponent(size, 0);
  }
  return signOf(value) + (size >= 100 ? size.toFixed(0) : size.toFixed(size >= 0.0095 ? 2 : 3));
}

// A number with five digits that count.
export function plainNumber(value) {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value)) {
    return value === 0 ? "0" : String(value);
  }
  const isUsual = size >= 1e-3 && size < 1e6;
  return (value < 0 ? MINUS : "") + (isUsual ? String(Number(size.toPrecision(5))) : exponent(size));
}

// The same, with its sign always.
export function signedNumber(value) {
  return value > 0 ? `+${plainNumber(value)}` : plainNumber(value);
}

// With eight digits: enough to see where two ways to a slope part.
export function longNumber(value) {
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(8));
  return exactNumber(size > 0 && size < 1e-4 ? rounded.toExponential() : rounded);
}

// A number of which so many digits count.
export function roundedNumber(value, digits) {
  return Number(value.toPrecision(digits));
}

// Every digit that a float64 has.
export function exactNumber(value) {
  return String(value).replaceAll("-", MINUS);
}

// 3.2e-11, for errors.
export function smallNumber(value) {
  return value === 0 ? "0" : value.toExponential(1).replace("-", MINUS);
}

// 0.8312 -> 83 %; the small and the nearly sure keep what makes them so.
export function percent(value) {
  const hundredths = 100 * value;
  if (value > 0 && hundredths < 0.05) {
    return "<\u00a00.1\u00a0%";
  }
  return `${hundredths >= 10 && hundredths < 99.5 ? hundredths.toFixed(0) : hundredths.toFixed(1)}\u00a0%`;
}

// 1234 -> 1,234
export function counted(count, word = "") {
  const number = THOUSANDS.format(count);
  return word ? `${number}\u00a0${word}${count === 1 ? "" : "s"}` : number;
}

function signOf(value) {
  return value > 0 ? "+" : value < 0 ? MINUS : "";
}

function exponent(size, places = 4) {
  const [digits, power] = size.toExponential(places).split("e");
  return `${Number(digits)}e${power.replace("+", "").replace("-", MINUS)}`;
}
