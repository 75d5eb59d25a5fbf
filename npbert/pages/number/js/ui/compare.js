// Two guesses compared: why the model prefers one word to another at a hidden place, by words and by features.

import {explain} from "../math/explain.js";
import {run} from "../math/run.js";
import {maskId} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton, show} from "./dom.js";
import {followFrom} from "./follow.js";
import {plainNumber, signedNumber} from "./format.js";
import {arrayNamed, bestOf, indexLabel} from "./labels.js";
import {state, watch} from "./state.js";

// Draw it while two guesses are compared, and name what backward begins from wherever the page does.
export function showCompare() {
  watch(["trace", "view"], drawCompare);
}

const quoted = (word) => `“${state.data.vocabulary[word]}”`;

function drawCompare() {
  const {trace, rival, view, example} = state;
  document.querySelectorAll(".goal").forEach((place) => place.replaceChildren(trace.goal));
  byId("compare").hidden = !rival || view !== "step";
  if (byId("compare").hidden) {
    return;
  }
  const answer = example.labels[state.trace.masked[rival.masked]];
  const [first, second] = trace.loss < 0 ? [rival.word, answer] : [answer, rival.word];
  show("compare-title", `Why ${quoted(first)} and not ${quoted(second)}?`);
  const times = `${plainNumber(Math.exp(Math.abs(trace.loss)), 2)} times`;
  const place = {name: trace.goal, row: 0, column: 0};
  const delta = makeButton(signedNumber(trace.loss), () => followFrom(place), {class: "bare link"});
  const begin = "Their scores (logits) differ by δ = ";
  show("compare-said", begin, delta, ` and make ${quoted(first)} `, make("strong", {}, times), " as probable.");
  const full = byHiding();
  const [words, others] = [false, true].map((isOther) => full.filter(({label}) => label.startsWith("[") === isOther));
  show("compare-most", mostOf(words));
  show("compare-words", barsOf({terms: words, total: null, full}));
  show("compare-others", barsOf({terms: others, total: null, full}));
  show("compare-features", barsOf({terms: byFeature(answer), total: trace.loss}));
}

// Which word matters most by replacing it, and by its slope, where that is another.
function mostOf(words) {
  if (!words.length) {
    return "The line has no other word.";
  }
  const [{label, value}] = words;
  const {loss} = state.trace;
  const [promised] = bestOf(words.map(({factors: [slope]}) => Math.abs(slope.value)), 1);
  const change = `from ${signedNumber(loss)} to ${signedNumber(loss - value)}`;
  const other = promised ? ` The slope ranks “${words[promised].label}” first.` : "";
  return `“${label}” matters most: with [MASK] in its place, the difference goes ${change}.${other}`;
}

// For each token that can be seen, what the difference loses when [MASK] replaces it, and what its slope promises: the
// largest first.
function byHiding() {
  const {trace, example, model, rival} = state;
  const {y} = trace.program.find(({kind}) => kind === "LayerNorm").arrays;
  const rows = [...example.input_ids.keys()].filter((row) => !trace.masked.includes(row));
  const terms = rows.map((row) => {
    const input_ids = example.input_ids.with(row, maskId());
    const without = run(model, {...example, input_ids}, {backward: false, rival});
    const change = arrayNamed(y).values.map((x, n) => x - without.arrays.get(y).values[n]);
    const promised = change.reduce((sum, by, n) => sum + by * arrayNamed(`d(${y})`).values[n], 0);
    const slope = {name: null, label: "the slope promises", value: promised};
    return {label: indexLabel("tokens", row), value: trace.loss - without.loss, factors: [slope], goes: null};
  });
  return terms.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

// The difference as a sum over the features: Σᵢ z[m, i] · dz[m, i] + c[a] − c[b], since dz[m, i] is E[a, i] − E[b, i].
function byFeature(answer) {
  const {trace, rival} = state;
  const {h, bias} = trace.program.at(-2).arrays;
  const [a, b] = [answer, rival.word].map((id) => explain(trace, "logits", rival.masked, id).terms);
  return a.map((term, n) => {
    const isBias = n === a.length - 1;
    const goes = isBias ? {name: bias, row: 0, column: answer} : {name: h, row: rival.masked, column: n};
    return {...term, value: term.value - b[n].value, factors: [], goes};
  });
}
