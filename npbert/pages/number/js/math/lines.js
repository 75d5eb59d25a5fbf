// linesOf: which lines of npbert's own source compute a step, as npbert itself showed when it was exported.

// The innermost function first: [{file, function, first, lines: [text], lit: [line numbers]}]
export function linesOf(data, step) {
  const found = data.source.steps.find(({part, phase, kind}) =>
    part === step.part && phase === step.phase && kind === step.kind);
  return (found?.frames ?? []).toReversed().map((frame) => ({
    file: frame.file, function: frame.function, ...excerpt(data.source.files[frame.file], frame), lit: frame.lines,
  }));
}

// The text of the function alone, out of what is known of its file
function excerpt({first, lines}, {from, to}) {
  return {first: from, lines: lines.slice(from - first, to - first + 1)};
}
