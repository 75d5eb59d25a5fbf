// Mistakes that people make in a backward, one line each. Forward is right with all of them: so the loss still falls
// when such a model is trained, and only a check of the gradients tells. What is said of each is in break.html.

import {eachHead, withoutHead} from "./heads.js";
import {add, divide, meanOfEachRow, product, rowsAt, scaled, subtract, sumOverRows, Tensor, times} from "./tensor.js";

// `wrong` says what backward finds in place of what is right: only the gradients that differ. It is given what backward
// is, and what the right one found. `leavesOut`: which of the numbers that the right backward works with the planted line
// never uses.
export const BUGS = Object.entries({
  "norm-spread": {
    kinds: ["LayerNorm"],
    leavesOut: ["stretch"],
    wrong: (_, {sigma}, settings, {dxHat, shift}) => ({dx: divide(subtract(dxHat, shift), sigma)}),
  },
  "norm-gamma": {
    kinds: ["LayerNorm"],
    leavesOut: ["dxHat", "shift", "stretch"],
    wrong: ({dy}, {xHat, gamma, sigma}) => {
      const rest = subtract(subtract(dy, meanOfEachRow(dy)), times(xHat, meanOfEachRow(times(dy, xHat))));
      return {dx: divide(times(gamma, rest), sigma)};
    },
  },
  "scores-root": {kinds: ["Scores"], wrong: eachHead(({ds}, {k}) => ({dq: product(ds, k)}))},
  "scores-transposed": {
    kinds: ["Scores"],
    wrong: eachHead(({ds}, {q}) => ({dk: scaled(product(ds, q), 1 / Math.sqrt(q.columns))})),
  },
  "softmax-shares": {kinds: ["Softmax"], leavesOut: ["lean"], wrong: eachHead(({dp}, {p}) => ({ds: times(p, dp)}))},
  "table-decoder": {kinds: ["Decoder"], wrong: (dys, {table}) => ({dtable: new Tensor(...table.shape)})},
  "residual-past": {
    kinds: ["Add"],
    isAt: (part) => part.endsWith("feed_forward"),
    wrong: ({dy}) => ({dx0: new Tensor(...dy.shape)}),
  },
  "fork-value": {
    kinds: ["Fork"],
    isAt: (part) => part.endsWith("attention"),
    wrong: ({dy0, dy1, dy2}) => ({dx: [dy0, dy1, dy2].reduce(add)}),
  },
  "loss-mean": {
    kinds: ["CrossEntropy"],
    wrong: (dys, arrays, {labels}, {dlogits}) => ({dlogits: scaled(dlogits, labels.length)}),
  },
  "embedding-last": {
    kinds: ["Embedding"],
    wrong: ({dy}, {x}, {ids}) => {
      const dx = new Tensor(...x.shape);
      ids.forEach((id, n) => dx.re.set(rowsAt(dy, [n]).re, id * dy.columns));
      return {dx};
    },
  },
  "bias-mean": {kinds: ["Linear"], wrong: ({dy}) => ({dbias: scaled(sumOverRows(dy), 1 / dy.rows)})},
  "activation-slope": {kinds: ["GELU", "TanhGELU", "ReLU"], wrong: ({dy}) => ({dx: dy})},
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

// Is the bug of this id planted at this step?
export const isBroken = (id, record) => bugIn(id, record) !== null;

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
