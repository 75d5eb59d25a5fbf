// Add: y = a + b + …, and Fork, its reverse: one array that is used in several places.
//
// A sum hands its gradient to each of its terms, unchanged. And what is used several times moves the loss through all
// of its uses, so what they bring back is added: where forward forks, backward adds; where forward adds, backward forks.

import {add} from "./tensor.js";
import {term} from "./terms.js";

export const Add = {
  kind: "Add",
  keeps: [],
  undoing: (arrays) => addends(arrays).map(({gradientSymbol}) => gradientSymbol).join(" = ") + ` = d${arrays.y.symbol}`,

  forward: (inputs) => ({y: Object.values(inputs).reduce(add)}),

  backward({dy}, inputs) {
    return Object.fromEntries(addendKeys(inputs).map((key) => [`d${key}`, dy]));
  },

  explain: {
    y: (arrays, n, i) => ({
      terms: addends(arrays).map((array) => term(array.meaning, array.at(n, i))),
      roads: true,
    }),
    dx: ({dy}, n, i) => ({terms: [term("handed on unchanged", dy.at(n, i))]}),
  },
};

const addendKeys = (arrays) => Object.keys(arrays).filter((key) => /^x\d$/.test(key));
const addends = (arrays) => addendKeys(arrays).map((key) => arrays[key]);

export const Fork = {
  kind: "Fork",
  keeps: [],
  undoing: ({x}) => `d${x.symbol} = the sum of what comes back on all roads`,

  // y0, y1, … are all x itself: one for each road
  forward({x}, _, {roads}) {
    return Object.fromEntries(roads.map((name, road) => [`y${road}`, x]));
  },

  backward: (dys) => ({dx: Object.values(dys).reduce(add)}),

  explain: {
    dx: (arrays, n, i) => ({
      terms: arrays.settings.roads.map((road, number) => term(road, arrays[`dy${number}`].at(n, i))),
      roads: true,
    }),
  },
};
