// Two guesses compared: why the model prefers one word to another at a hidden place, by words and by features.

import {explain} from "../math/explain.js";
import {run} from "../math/run.js";
import {compareWith, maskId} from "./actions.js";
import {barsOf} from "./bars.js";
import {byId, make, makeButton, show} from "./dom.js";
import {followFrom} from "./follow.js";
import {plainNumber, signedNumber} from "./format.js";
import {attentionMaps} from "./heatmap.js";
import {arrayNamed, bestOf, indexLabel, maskedPositions, valueAt} from "./labels.js";
import {state, watch} from "./state.js";

// Draw it while two guesses are compared, and name what backward begins from wherever the page does.
export function showCompare() {
  byId("rival-out").addEventListener("click", () => compareWith(null));
  byId("rival").addEventListener("change", ({target}) => compareWith({...state.rival, word: Number(target.value)}));
  watch(["trace", "view"], drawCompare);
}

const quoted = (word) => `“${state.data.vocabulary[word]}”`;

function drawCompare() {
  const {trace, rival, view, example, data} = state;
  document.querySelectorAll(".goal").forEach((place) => place.replaceChildren(trace.goal));
  byId("rival-note").hidden = !rival;
  byId("compare").hidden = !rival || view !== "step";
  if (byId("compare").hidden) {
    return;
  }
  const position = maskedPositions()[rival.masked];
  const answer = example.labels[position];
  const [first, second] = trace.loss < 0 ? [rival.word, answer] : [answer, rival.word];
  show("compare-title", `Why ${quoted(first)} and not ${quoted(second)}?`);
  show(
    "rival",
    ...data.vocabulary.flatMap((word, id) =>
      id === answer ? [] : [make("option", {value: id, selected: id === rival.word}, word)],
    ),
  );
  show("rival-answer", quoted(answer));
  const hiding = byHiding();
  show("compare-said", ...scoresInWords(first, second), ...strongest(answer, hiding));
  show("compare-words", barsOf({terms: hiding, total: null}));
  show("compare-features", barsOf({terms: byFeature(answer), total: trace.loss}));
  show("compare-attention", ...attentionMaps({marked: [position]}));
}

// The scores of both, and how much that is in probability: each number leads on.
function scoresInWords(first, second) {
  const {
    rival: {masked: row},
    trace: {goal, loss},
  } = state;
  const number = (name, column) =>
    makeButton(
      signedNumber(valueAt({name, row: name === goal ? 0 : row, column})),
      () => followFrom({name, row: name === goal ? 0 : row, column}),
      {class: "factor"},
    );
  return [
    `The model gives ${quoted(first)} the score (logit) `,
    number("logits", first),
    ` and ${quoted(second)} `,
    number("logits", second),
    ". Their difference, δ = ",
    number(goal, 0),
    `, makes ${quoted(first)} `,
    make("strong", {}, `${plainNumber(Math.exp(Math.abs(loss)), 2)} times`),
    " as probable. ",
  ];
}

// What the difference is when [MASK] stands at these places.
function without(places) {
  const {model, example, rival} = state;
  const input_ids = example.input_ids.map((id, n) => (places.includes(n) ? maskId() : id));
  return run(model, {...example, input_ids}, {backward: false, rival}).loss;
}

// For each word of the sentence what the difference loses when it is hidden, and beside it the slope.
function byHiding() {
  const {trace, example} = state;
  const norm = trace.program.find(({kind}) => kind === "LayerNorm").arrays.y;
  const [x, dx] = [arrayNamed(norm), arrayNamed(`d(${norm})`)];
  const width = x.shape[1];
  return example.input_ids.map((_, row) => {
    const own = ({values}) => values.slice(row * width, (row + 1) * width);
    const slope = own(x).reduce((sum, value, i) => sum + value * own(dx)[i], 0);
    const value = trace.loss - without([row]);
    return {
      label: indexLabel("tokens", row),
      value,
      factors: [{name: null, label: "slope: x · dx", value: slope}],
      goes: null,
    };
  });
}

// The difference as a sum over the features: Σᵢ z[m, i] · dz[m, i] + c[a] − c[b], since dz[m, i] is E[a, i] − E[b, i].
function byFeature(answer) {
  const {
    trace,
    rival: {masked, word},
  } = state;
  const {h, bias} = trace.program.at(-2).arrays;
  const [a, b] = [answer, word].map((id) => explain(trace, "logits", masked, id).terms);
  return a.map((term, n) => {
    const isBias = n === a.length - 1;
    const place = {row: isBias ? 0 : masked, column: isBias ? answer : n};
    return {...term, value: term.value - b[n].value, factors: [], goes: {name: isBias ? bias : h, ...place}};
  });
}

// Which word speaks most for each of the two; and what the model prefers without any word.
function strongest(answer, terms) {
  const {trace, rival, example} = state;
  const most = [
    [answer, 1],
    [rival.word, -1],
  ].flatMap(([guessed, sign]) => {
    const [word] = bestOf(
      terms.map(({value}) => sign * value),
      1,
    );
    const {value} = terms[word];
    return sign * value > 0
      ? [
          make("strong", {}, quoted(example.input_ids[word])),
          ` speaks most for ${quoted(guessed)}: were it hidden, δ would be ${signedNumber(trace.loss - value)}. `,
        ]
      : [`No word speaks for ${quoted(guessed)} when it is hidden alone. `];
  });
  const nothing = without(example.input_ids.map((_, n) => n));
  return [
    ...most,
    `Were all words hidden at once, δ would be ${signedNumber(nothing)}: so far is ` +
      `${quoted(nothing < 0 ? rival.word : answer)} ahead before the model reads any word.`,
  ];
}
