// Who looks at whom: the shares of attention, a heat map for each head of each layer.

import {make} from "./dom.js";
import {heatMap} from "./heatmap.js";
import {partInWords} from "./labels.js";
import {state} from "./state.js";

// The arrays of shares, in the order of the layers and heads.
export function sharesOfAttention() {
  const {steps, arrays} = state.trace;
  const softmaxes = steps.filter(({kind, phase}) => kind === "Softmax" && phase === "forward");
  return softmaxes.flatMap(({writes}) => writes.map((name) => arrays.get(name)));
}

// The heat map of one of them. marked: the tokens whose rows are marked; under: what stands under it.
export function attentionMap(array, {marked = [], under = []} = {}) {
  const part = state.trace.steps[array.madeBy].part.replace(/\.dot_product$/, "");
  const title = make("figcaption", {}, make("strong", {}, array.symbol), ` ${partInWords(part)}`);
  const map = heatMap(array);
  const rows = map.querySelectorAll("tbody tr");
  marked.forEach((token) => rows[token].classList.add("marked"));
  return make("figure", {class: "captioned"}, title, map, ...under);
}
