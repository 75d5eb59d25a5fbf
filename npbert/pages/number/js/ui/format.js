// Numbers as a reader wants them.

export const MINUS = "\u2212";

// A number with so many digits that count.
export function plainNumber(value, digits = 5) {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value)) {
    return value === 0 ? "0" : String(value).replace("-", MINUS);
  }
  const isUsual = size >= 1e-3 && size < 1e6;
  return (value < 0 ? MINUS : "") + (isUsual ? String(Number(size.toPrecision(digits))) : exponent(size, digits - 1));
}

export const signedNumber = (value, digits) => (value > 0 ? "+" : "") + plainNumber(value, digits);

// 0.8312 -> 83.1 %
export const percent = (value) => `${plainNumber(100 * value, 3)}\u00a0%`;

// 1234 -> 1,234 words
export const counted = (count, word = "") =>
  count.toLocaleString("en-US") + (word ? `\u00a0${word}${count === 1 ? "" : "s"}` : "");

function exponent(size, places) {
  const [digits, power] = size.toExponential(places).split("e");
  return `${Number(digits)}e${power.replace("+", "").replace("-", MINUS)}`;
}
