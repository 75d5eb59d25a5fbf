// Formulas: text such as `y[n,o] = x[n,i] W[i,o] + the bias: b[o]` (see formulas.ini) as {target, way, terms}, and the
// program of a model: its steps, each with the formulas of its kind, in which every array has its own name.

// {target: {name, index}, way: "=", "max" or "last", terms: [{sign, label, factors}]}. A factor is an array {name, index},
// a function {of, args} or a constant {constant}; an index is a list of {letter, lookup}.
function parsed(line) {
  const [, left, way, right] = line.match(/^(\S+) (=|max|last)(.*)$/);
  const parts = ` ${right.trim()}`.split(/ ([+−]) /);
  const terms = [];
  for (let at = 0; at < parts.length; at += 2) {
    const [, minus, label, factors] = parts[at].trim().match(/^(− )?(?:(.*?): )?(.*)$/);
    if (factors) {
      const sign = (parts[at - 1] === "−") === Boolean(minus) ? 1 : -1;
      terms.push({sign, label: label ?? null, factors: factors.split(" ").map(factorOf)});
    }
  }
  return {target: factorOf(left), way, terms};
}

function factorOf(text) {
  const [, of, args] = text.match(/^([a-z]+)\((.*)\)$/) ?? [];
  if (of) {
    return {of, args: splitOutside(args).map(factorOf)};
  }
  const [, name, index] = text.match(/^([^[]+)\[(.*)\]$/) ?? [];
  return name ? {name, index: splitOutside(index).map(letterOf)} : {constant: text};
}

function letterOf(text) {
  const [, lookup, letter] = text.match(/^(\w+)\[(\w+)\]$/) ?? [null, null, text];
  return {lookup, letter};
}

// Split at commas that are in no brackets, which may be two deep.
const splitOutside = (text) => text.match(/(?:[^,[\]]|\[(?:[^[\]]|\[[^\]]*\])*\])+/g);

// The arrays of a formula, as {name, index}: functions have some inside.
export const refsIn = (factors) => factors.flatMap((one) => (one.args ? refsIn(one.args) : one.name ? [one] : []));

// The formulas of a text, one a line; a line that begins with + or − goes on with the one before.
const linesIn = (text) =>
  text
    .trim()
    .replace(/\n\s*([+−])/g, " $1")
    .split("\n")
    .filter(Boolean);

// What a model's page was given, with formulas in place of their text: {steps, arrays, bugs}.
export function programOf({network, formulas, config}) {
  const bugs = Object.entries(formulas)
    .filter(([name]) => name.startsWith("bug "))
    .map(([name, bug]) => ({id: name.slice(4), ...bug}));
  const program = {arrays: new Map(), formulas, bugs, heads: config.num_attention_heads};
  program.steps = network.map((step) => boundStep(program, withArrays(program, step)));
  return program;
}

// The heads of a text with #, which stands for their number; of another, one that is none.
const headsOf = ({heads}, text) => (text.includes("#") ? [...Array(heads).keys()] : [""]);

// A step with its roads, lookups, and arrays by what its formulas call them. Those that are made here, symbol:name, the
// program then knows, too.
function withArrays(program, {named: {roads, ids, labels, ...others}, ...step}) {
  const arrays = {};
  for (const [key, value] of Object.entries(others)) {
    for (const head of headsOf(program, key)) {
      const [name, symbol] = value.replaceAll("#", head).split(":").reverse();
      arrays[key.replace("#", head)] = name;
      if (symbol) {
        const [rows, columns, meaning] = program.formulas.arrays[symbol].split(" | ");
        program.arrays.set(name, {symbol, rows, columns, meaning, head: head === "" ? null : head});
      }
    }
  }
  return {...step, roads: roads?.split(", ") ?? [], lookups: {ids, labels}, arrays};
}

// What a step has in which no letter is looked up or stands for one number
export const NO_INDEX = {lookups: {}, indices: {}, constants: {}};

// A step with its formulas, `forward`, `backward`, and `broken`: by the id of a bug that is planted here, its backward.
export function boundStep(program, step) {
  const said = program.formulas[step.kind];
  const lines = (text) =>
    linesIn(text ?? "").flatMap((line) => {
      const all = headsOf(program, line).map((head) => parsed(line.replaceAll("#", head)));
      return all.filter(({target}) => isThere(step, target)).map((one) => bound(program, step, one));
    });
  const bugs = program.bugs.filter(
    ({kinds, at}) => kinds.split(" ").includes(step.kind) && (!at || step.part.endsWith(at)),
  );
  const backward = lines(said.backward);
  const broken = Object.fromEntries(
    bugs.map((bug) => {
      const planted = lines(bug.lines);
      const right = backward.filter(({target}) => !planted.some((line) => line.target.name === target.name));
      return [bug.id, {lines: [...right, ...planted], planted}];
    }),
  );
  return {...NO_INDEX, roads: [], ...step, said, forward: lines(said.forward), backward, broken};
}

// The formula with the names of the arrays in place of what they are called in it; a term of arrays that this step does
// not have is left out, and $0 is its first road.
function bound(program, step, {target, way, terms}) {
  const named = (factor) => {
    if (factor.args) {
      return {...factor, args: factor.args.map(named)};
    }
    const local = factor.name ?? (hasArray(step, factor.constant) ? factor.constant : null);
    return local ? {index: [], ...factor, constant: undefined, local, name: nameOf(program, step, local)} : factor;
  };
  return {
    way,
    target: named(target),
    terms: terms
      .filter(({factors}) => refsIn(factors).every((ref) => isThere(step, ref)))
      .map(({sign, label, factors}) => ({
        sign,
        label: label?.replace(/^\$(\d)$/, (_, road) => step.roads[road] ?? "") || null,
        factors: factors.map(named),
      })),
  };
}

// Of several terms or roads, x0, x1, …, a step has as many as it has.
const isThere = (step, {name}) => !/^d?[xy]\d$/.test(name) || hasArray(step, name);
const hasArray = ({arrays}, local) => local in arrays || (local.startsWith("d") && local.slice(1) in arrays);

// What an array of a step is called in the whole model.
export function nameOf(program, step, local) {
  if (local in step.arrays) {
    return step.arrays[local];
  }
  const of = local.startsWith("d") ? local.slice(1) : null;
  const isGradient = of !== null && (of in step.arrays || program.formulas[step.kind][of]?.includes(" | "));
  return isGradient ? `d(${nameOf(program, step, of)})` : `${step.part}.${local}`;
}

// The names of the arrays that formulas read, and of those that they make.
export const readsOf = (lines) => [
  ...new Set(lines.flatMap(({terms}) => terms.flatMap(({factors}) => refsIn(factors).map(({name}) => name)))),
];
export const makesOf = (lines) => [...new Set(lines.map(({target}) => target.name))];
