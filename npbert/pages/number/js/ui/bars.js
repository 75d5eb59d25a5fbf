// The bars of a sum: a term each, as long as what it brings, and under it the factors that it is the product of.

import {byId, make} from "./dom.js";
import {followTo} from "./follow.js";
import {signedNumber} from "./format.js";
import {cellOfPlace} from "./heatmap.js";
import {titleOf} from "./labels.js";

const MOST_BARS = 6; // so that the code under them is in sight

// A bar for each term; the small ones of many are folded away. total: null where the terms are no sum. full: the terms
// whose largest has the longest bar, where these bars are some of many.
export function barsOf({terms, total, full = terms}) {
  const largest = Math.max(...full.map(({value}) => Math.abs(value)), Number.MIN_VALUE);
  const bySize = terms.toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = terms.length > MOST_BARS ? bySize.slice(0, MOST_BARS - 1) : terms;
  const folded = bySize.slice(shown.length);
  const listOf = (some) => make("ol", {class: "bars plain"}, ...some.map((term) => bar(term, largest)));
  const parts = [listOf(shown)];
  if (folded.length) {
    const rest = folded.reduce((sum, {value}) => sum + value, 0);
    const summary = make("summary", {}, `and ${folded.length} smaller ones, together ${signedNumber(rest)}`);
    parts.push(make("details", {}, summary, listOf(folded)));
  }
  if (terms.length > 1 && total !== null) {
    const text = make("span", {}, `the sum of the ${terms.length}`);
    parts.push(make("p", {class: "total"}, text, make("strong", {}, signedNumber(total))));
  }
  return make("div", {class: "bars-box"}, ...parts);
}

// A term: a bar that leads on, and its factors, each of which leads to itself.
function bar({label, value, factors, goes, said = signedNumber(value)}, largest) {
  const width = `--width: ${(50 * Math.abs(value)) / largest}%`;
  const parts = [
    make("span", {class: "bar-label"}, make("bdi", {}, label)),
    make("span", {class: `bar-track ${value < 0 ? "minus" : "plus"}`, style: width, "aria-hidden": "true"}),
    make("span", {class: "bar-value"}, said),
  ];
  const cells = factors.filter(({name}) => name !== null);
  const line = goes ? leading(goes, cells, "bare bar", parts) : make("div", {class: "bar"}, ...parts);
  const isItself = factors.length === 1 && factors[0].label === undefined;
  const listed = factors.flatMap((factor, index) => [index ? " × " : "", factorPart(factor)]);
  return make("li", {}, line, isItself || !factors.length ? null : make("div", {class: "factors"}, ...listed));
}

function factorPart(factor) {
  const text = factorInWords(factor);
  return factor.name === null ? make("span", {}, text) : leading(factor, [factor], "bare link factor", [text]);
}

// A factor with its value; a number, −1, says its own.
export function factorInWords(factor) {
  const what = factor.label ?? titleOf(factor);
  return /^[−-]?\d+$/.test(what) ? what : `${what} (${signedNumber(factor.value)})`;
}

// A button that leads to a number. While it is pointed at or has the focus, the cells that it speaks of are lit.
function leading({name, row, column, example = null}, cells, look, parts) {
  const light = (on) => cells.forEach((cell) => cellOfPlace(byId("stage"), cell)?.classList.toggle("lit", on));
  const goOn = () => {
    light(false);
    followTo({name, row, column, example});
  };
  const title = `go on to ${titleOf({name, row, column})}${example ? ` of “${example.text}”` : ""}`;
  const button = make("button", {type: "button", class: look, title, onclick: goOn}, ...parts);
  ["pointerenter", "focus"].forEach((event) => button.addEventListener(event, () => light(true)));
  ["pointerleave", "blur"].forEach((event) => button.addEventListener(event, () => light(false)));
  return button;
}
