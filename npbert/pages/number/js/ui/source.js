// npbert's own lines that compute the followed number, or else the step, lit: the layer's first, under the sum, then who
// called it.

import {stepThatMakesNumber} from "./actions.js";
import {make, show} from "./dom.js";
import {arrayNamed} from "./labels.js";
import {bugAt} from "./notes.js";
import {state, watch} from "./state.js";

export function showSource() {
  watch(["trace", "step", "trail"], drawSource);
}

// The functions that compute a step, the innermost first: [name, the numbers of the lines that count].
export const framesOf = ({phase, kind, part}) => state.data.source.steps[`${phase} ${kind} ${part}`] ?? [];

// The same for one of the arrays that the step makes: its own lines, where formulas.ini tells them from the others.
function framesOfArray(now, {origins, isGradient}) {
  const isGiven = isGradient && !origins.length; // as ∂loss/∂loss, which no line computes
  const frames = isGiven ? [] : framesOf(now);
  const origin = origins.find(({step}) => [step.index, step.back].includes(now.index));
  const pattern = origin?.step.said[`code ${origin.line.target.local.replace(/\d+$/, "")}`];
  const isOfIt = ([, line]) => new RegExp(pattern).test(line);
  const found = frames.map(([name, lit]) => {
    const {lines} = state.data.source.functions[name];
    return [name, lit.filter((number) => isOfIt(lines.find(([one]) => one === number)))];
  });
  const own = pattern === undefined ? -1 : found.findIndex(([, lit]) => lit.length);
  return own < 0 ? frames : [found[own], ...frames.slice(own + 1)];
}

function drawSource() {
  const {chosen, trace, step} = state;
  const array = chosen && arrayNamed(chosen.name);
  const isBugHere = array && bugAt(trace.steps[step]) && trace.steps[step].writes.includes(array.name); // adds nothing
  const now = trace.steps[array && !isBugHere ? (stepThatMakesNumber(chosen, step) ?? step) : step];
  const [own, ...callers] = array ? framesOfArray(now, array) : framesOf(now);
  if (!own) {
    show("source");
    return;
  }
  const isBroken = bugAt(now) ? "These are the right lines: the bug is planted in this page alone." : "";
  const above = make("details", {}, make("summary", {}, "Who calls it"), ...callers.map((frame) => codeOf(frame)));
  show("source", codeOf(own, isBroken), ...(callers.length ? [above] : []));
}

function codeOf([name, lit], note = "") {
  const {file, lines} = state.data.source.functions[name];
  const text = lines.map(([number, line]) => {
    const [, code, comment] = line.match(/^(.*?)((?:^|\s\s)# .*)?$/);
    const look = lit.includes(number) ? "line lit" : "line";
    return make("span", {class: look, "data-line": number}, code, make("span", {class: "quiet"}, comment ?? ""), "\n");
  });
  const title = `${file}, line ${lit[0]}`;
  const href = `${file.replace(/\.py$/, ".html")}#L-${lit[0]}`;
  const where = state.data.is_in_site ? make("a", {href}, title) : make("span", {class: "quiet"}, title);
  return make(
    "div",
    {class: "code"},
    make("p", {}, make("code", {}, name), " ", where, note && ` ${note}`),
    make("pre", {"aria-label": title}, ...text),
  );
}
