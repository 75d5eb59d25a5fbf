// npbert's own lines that compute the step, lit: the layer's first, under the sum, then who called it.

import {make, show} from "./dom.js";
import {bugAt} from "./notes.js";
import {state, watch} from "./state.js";

// Draw it, and again with every step.
export function showSource() {
  watch(["trace", "step"], drawSource);
}

// The functions that compute a step, the innermost first: [name, the numbers of the lines that count].
export const framesOf = ({phase, kind, part}) => state.data.source.steps[`${phase} ${kind} ${part}`] ?? [];

function drawSource() {
  const now = state.trace.steps[state.step];
  const [own, ...callers] = framesOf(now);
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
  const {site} = state.data;
  const title = `${file}, line ${lit[0]}`;
  const href = `${site}${file.replace(/\.py$/, ".html")}#L-${lit[0]}`;
  const where = site === undefined ? make("span", {class: "quiet"}, title) : make("a", {href}, title);
  return make(
    "div",
    {class: "code"},
    make("p", {}, make("code", {}, name), " ", where, note && ` ${note}`),
    make("pre", {"aria-label": title}, ...text),
  );
}
