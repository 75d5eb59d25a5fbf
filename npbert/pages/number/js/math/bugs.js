// Mistakes that people make in a backward, one line each. Forward is right with all of them: so the loss still falls
// when such a model is trained, and only a check of the gradients tells.

import {eachHead, withoutHead} from "./heads.js";
import {add, divide, meanOfEachRow, product, rowsAt, scaled, subtract, sumOverRows, Tensor, times} from "./tensor.js";

// `wrong` says what backward finds in place of what is right: only the gradients that differ. It is given what backward
// is, and what the right one found. `leavesOut`: which of the numbers that the right backward works with the planted line
// never uses.
export const BUGS = Object.entries({
  "norm-spread": {
    kinds: ["LayerNorm"],
    name: "LayerNorm: the road through σ is missing",
    right: "dx = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ",
    line: "dx = (dx̂ − mean(dx̂)) / σ",
    text: "σ is taken for a constant, though every x of the row has a share in it.",
    leavesOut: ["stretch"],
    wrong: (_, {sigma}, settings, {dxHat, shift}) => ({dx: divide(subtract(dxHat, shift), sigma)}),
  },
  "norm-gamma": {
    kinds: ["LayerNorm"],
    name: "LayerNorm: γ stands outside the means",
    right: "dx = (γ dy − mean(γ dy) − x̂ · mean(γ dy · x̂)) / σ",
    line: "dx = γ (dy − mean(dy) − x̂ · mean(dy · x̂)) / σ",
    text: "γ weighs every x̂ of the row differently, so it cannot be taken out of their mean.",
    leavesOut: ["dxHat", "shift", "stretch"],
    wrong: ({dy}, {xHat, gamma, sigma}) => {
      const rest = subtract(subtract(dy, meanOfEachRow(dy)), times(xHat, meanOfEachRow(times(dy, xHat))));
      return {dx: divide(times(gamma, rest), sigma)};
    },
  },
  "scores-root": {
    kinds: ["Scores"],
    name: "attention: √d is missing from dQ",
    right: "dQ = dS K / √d",
    line: "dQ = dS K",
    text: "Forward divides the scores by √d; so backward has to do the same, for Q as for K.",
    wrong: eachHead(({ds}, {k}) => ({dq: product(ds, k)})),
  },
  "scores-transposed": {
    kinds: ["Scores"],
    name: "attention: dK is made from dS, not from dSᵀ",
    right: "dK = dSᵀ Q / √d",
    line: "dK = dS Q / √d",
    text: "S has as many rows as columns, so the shapes fit without the transposition; but a key belongs to a column.",
    wrong: eachHead(({ds}, {q}) => ({dk: scaled(product(ds, q), 1 / Math.sqrt(q.columns))})),
  },
  "softmax-shares": {
    kinds: ["Softmax"],
    name: "softmax: the second road is missing",
    right: "dS = P · (dP − Σₖ dPₖ Pₖ)",
    line: "dS = P · dP",
    text: "A higher score also takes from all other shares of its row, since they add up to 1.",
    leavesOut: ["lean"],
    wrong: eachHead(({dp}, {p}) => ({ds: times(p, dp)})),
  },
  "table-decoder": {
    kinds: ["Decoder"],
    name: "tied table: its use as answers is forgotten",
    right: "dE += dlogitsᵀ z",
    line: "(nothing)",
    text: "The table is used twice, for the words that come in and for the answers: both have to add to its gradient.",
    wrong: (dys, {table}) => ({dtable: new Tensor(...table.shape)}),
  },
  "residual-past": {
    kinds: ["Add"],
    name: "residual: the road past feed-forward is missing",
    right: "dh = ds + what comes back through feed-forward",
    line: "dh = what comes back through feed-forward",
    text: "A sum hands its gradient to both of its terms; here the one that goes past the sub-layer gets none.",
    isAt: (part) => part.endsWith("feed_forward"),
    wrong: ({dy}) => ({dx0: new Tensor(...dy.shape)}),
  },
  "fork-value": {
    kinds: ["Fork"],
    name: "attention: what comes back through V is forgotten",
    right: "dx = past + through Q + through K + through V",
    line: "dx = past + through Q + through K",
    text: "x is used four times in a layer, so four gradients have to be added.",
    isAt: (part) => part.endsWith("attention"),
    wrong: ({dy0, dy1, dy2}) => ({dx: [dy0, dy1, dy2].reduce(add)}),
  },
  "loss-mean": {
    kinds: ["CrossEntropy"],
    name: "loss: the mean’s 1/M is forgotten",
    right: "dlogits = (p − onehot(label)) / M",
    line: "dlogits = p − onehot(label)",
    text: "The loss is a mean over the masked words. (With one masked word, M is 1, and nothing is wrong.)",
    wrong: (dys, arrays, {labels}, {dlogits}) => ({dlogits: scaled(dlogits, labels.length)}),
  },
  "embedding-last": {
    kinds: ["Embedding"],
    name: "embedding: if an id repeats, only its last gradient counts",
    right: "dW[id] += dy[n]  for every n",
    line: "dW[id] = dy[n]  for every n",
    text: "A row that was read several times collects from all its tokens. (In NumPy, `dW[ids] += dy` has this bug.)",
    wrong: ({dy}, {x}, {ids}) => {
      const dx = new Tensor(...x.shape);
      ids.forEach((id, n) => dx.re.set(rowsAt(dy, [n]).re, id * dy.columns));
      return {dx};
    },
  },
  "bias-mean": {
    kinds: ["Linear"],
    name: "linear: the bias takes the mean over the rows",
    right: "db = Σₙ dyₙ",
    line: "db = mean over n of dyₙ",
    text: "The bias is added to every row, so it collects from all; only the loss is a mean, and that is in dy.",
    wrong: ({dy}) => ({dbias: scaled(sumOverRows(dy), 1 / dy.rows)}),
  },
  "activation-slope": {
    kinds: ["GELU", "TanhGELU", "ReLU"],
    name: "activation: the slope is forgotten",
    right: "dx = dy · f′(x)",
    line: "dx = dy",
    text: "Where the curve is flat, a change of x changes nothing: the gradient has to be multiplied by the slope.",
    wrong: ({dy}) => ({dx: dy}),
  },
}).map(([id, bug]) => ({id, ...bug}));

// The backward of a step with the bug planted: of most, the right one.
export function backwardWith(id, record) {
  const {backward} = record.operation, bug = bugIn(id, record);
  if (!bug) return backward;
  return (...given) => {
    const found = backward(...given);
    return {...found, ...bug.wrong(...given, found)};
  };
}

// Is `key` a number that the right backward works with at this step, and the planted line does not?
export function isLeftOut(id, record, key) {
  return bugIn(id, record)?.leavesOut?.includes(withoutHead(key)) ?? false;
}

// The bug of this id, if it is planted at this step; or null
function bugIn(id, {operation, part}) {
  const bug = BUGS.find((one) => one.id === id);
  if (id !== null && !bug) throw new Error(`no bug is called ${id}: they are ${BUGS.map((one) => one.id).join(", ")}`);
  return bug?.kinds.includes(operation.kind) && (bug.isAt?.(part) ?? true) ? bug : null;
}
