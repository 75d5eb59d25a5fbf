// npbert's own lines that compute the step, lit: the layer's first, then who called it. In the site, each leads there.

import {linesOf} from "../math/index.js";
import {byId, make} from "./dom.js";
import {bugAt} from "./notes.js";
import {state, watch} from "./state.js";

// Draw it, and again with every step.
export function showSource() {
  watch(["trace", "step"], drawSource);
}

function drawSource() {
  const frames = linesOf(state.data, state.trace.steps[state.step]);
  const names = frames.slice(0, 1).flatMap(namesHere);
  byId("source-none").hidden = frames.length > 0;
  byId("source-bug").hidden = !frames.length || !bugAt(state.trace.steps[state.step]);
  byId("source-names").hidden = !names.length;
  byId("source-names").textContent = `In these lines ${names.join(", ")}.`;
  byId("source").replaceChildren(...frames.map(shownFrame));
  requestAnimationFrame(scrollToLit); // when all is drawn: to ask where something stands means to lay out the page
}

// So that all that is lit is seen: in the middle, or from its top on where it is too high.
function scrollToLit() {
  const box = byId("source").querySelector("details[open] pre");
  const lit = box?.querySelectorAll(".lit") ?? [];
  if (lit.length) {
    const [first, last] = [lit[0], lit[lit.length - 1]];
    const middle = (first.offsetTop + last.offsetTop + last.offsetHeight - box.clientHeight) / 2;
    box.scrollTop = Math.min(middle, first.offsetTop - 8);
  }
}

// What a layer calls its arrays, where the page has other symbols for them: x is r, dy is dt.
function namesHere({lines}) {
  const code = lines.join("\n");
  const {names} = state.trace.steps[state.step];
  const isThere = ([name, symbol]) =>
    name.toLowerCase() !== symbol.toLowerCase() && new RegExp(`\\b${name}\\b`).test(code);
  return names.filter(isThere).map(([name, symbol]) => `${name} is ${symbol}`);
}

function shownFrame({file, function: name, first, lines, lit}, depth) {
  const isLit = new Set(lit);
  const indent = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
  const text = lines.map((line, index) => {
    const number = first + index;
    const attributes = {class: isLit.has(number) ? "line lit" : "line", "data-line": number};
    const [, code, comment] = line.slice(indent).match(/^(.*?)((?:^|\s\s)# .*)?$/);
    return make("span", attributes, code, comment ? make("span", {class: "comment"}, comment) : null, "\n");
  });
  const title = `${file}, ${lit.length === 1 ? `line ${lit[0]}` : `lines ${lit[0]} to ${lit.at(-1)}`}`;
  const summary = make("summary", {}, make("code", {}, name ?? ""), make("span", {class: "quiet"}, ` ${title}`));
  const {site} = state.data;
  const href = `${site}${file.replace(/\.py$/, ".html")}#L${lit[0]}`;
  const link = site === undefined ? null : make("a", {href}, `Read ${file} on the site`);
  return make("details", {open: depth === 0}, summary, link, make("pre", {tabindex: 0, "aria-label": title}, ...text));
}
