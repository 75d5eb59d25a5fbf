// The heads of attention: each works by itself, on its own columns of q, k, v and c, and on its own s and p. What an
// operation calls s0, s1, … is s to each of them.

import {columnsOf, sideBySide} from "./tensor.js";
import {range} from "./terms.js";

const SHARED_BY_HEADS = /^d?[qkvc]$/; // head beside head in one array

export const withoutHead = (key) => key.replace(/\d+$/, "");
export const headIn = (key) => (/\d$/.test(key) ? Number(key.match(/\d+$/)[0]) : null);

// What head h sees of the arrays: of one that it shares with others, what `own` makes of it.
function seenBy(h, arrays, own = (array) => array) {
  const seen = {};
  for (const key in arrays) {
    const head = headIn(key);
    if (head === null) seen[key] = own(arrays[key]);
    if (head === h) seen[withoutHead(key)] = arrays[key];
  }
  return seen;
}

// An operation of one head made an operation of all: `operate` is given what each head sees of the two sets of tensors.
export const eachHead = (operate) => (first, second, {heads, width}) => {
  const results = {};
  for (let h = 0; h < heads; h++) {
    const own = (x) => columnsOf(x, h * width, width);
    const made = operate(seenBy(h, first, own), seenBy(h, second, own));
    for (const key in made) {
      if (SHARED_BY_HEADS.test(key)) (results[key] ??= []).push(made[key]);
      else results[key + h] = made[key];
    }
  }
  for (const key in results) if (Array.isArray(results[key])) results[key] = sideBySide(results[key]);
  return results;
};

// What the head sees that makes the number in this column of `key`; `own`: which columns are its own.
export function atHead(arrays, key, column) {
  const {width} = arrays.settings;
  const h = headIn(key) ?? Math.floor(column / width);
  return {...seenBy(h, arrays), own: range(width, (i) => h * width + i)};
}
