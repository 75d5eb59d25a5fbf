// The page checks its own backward: every derivative of every parameter, against a finite difference. It does so beside
// the reader: when it opens, and again when the model, the sentence or the bug is another.

import {checking} from "../math/index.js";
import {workBeside} from "./beside.js";
import {byId} from "./dom.js";
import {counted, smallNumber} from "./format.js";
import {change, state, watch} from "./state.js";

const MOST = 2000; // derivatives to check; of a model with more, some of each parameter
let stopProof = () => {};

// Check the model as it is, and again whenever it has changed.
export function showProof() {
  prove();
  watch(["trace"], prove);
}

// Above all tabs, and where bugs are planted: while one is, there alone.
function say(text, look = "") {
  for (const place of [byId("proof"), byId("check-said")]) {
    place.textContent = text;
    place.className = `proof ${look}`;
  }
  byId("proof").hidden = Boolean(state.bug);
}

// A bug is looked for in the arrays on the way, too: in the first that is wrong.
function prove() {
  stopProof();
  change({report: null});
  say("Checking this page’s own derivatives …");
  const options = state.bug ? {method: "complex", activations: true} : {};
  const work = checking(state.trace, {sample: numbersOfEach(state.trace), ...options});
  stopProof = workBeside(work, ({done, value}) => {
    if (done) {
      report(value);
    } else {
      say(`Checking this page’s own derivatives … ${Math.round(100 * value)} %`);
    }
  });
}

function report(found) {
  const perParameter = found.perParameter.filter(({parameter}) => parameter);
  const [count, all] = [perParameter.reduce((sum, one) => sum + one.count, 0), derivativesIn(state.trace)];
  const wrong = perParameter.filter(({ok}) => !ok).length;
  const method = found.method === "complex" ? "the complex step" : "finite differences";
  const which = `${count === all ? "all " : `${counted(count)} of `}${counted(all, "derivative")} of this model and `
    + `sentence against ${method} just now, in this page`;
  const good = `✓ Checked: ${which}; the worst is off by ${smallNumber(found.worst.error)} of its size`;
  say(wrong ? `✗ The gradient of ${counted(wrong, "array")} is wrong (${which}).` : good, wrong ? "bad" : "good");
  globalThis.npbert.proof = found;
  change({report: {...found, perParameter}});
}

// How many derivatives by parameters there are; or are checked, when it is at most so many of each.
function derivativesIn(trace, ofEach = Infinity) {
  const sizes = [...trace.arrays.values()].filter(({parameter}) => parameter).map(({values}) => values.length);
  return sizes.reduce((sum, size) => sum + Math.min(size, ofEach), 0);
}

// How many numbers of each parameter are checked, so that there are not too many in all.
function numbersOfEach(trace) {
  let sample = MOST;
  while (derivativesIn(trace, sample) > MOST && sample > 4) {
    sample = Math.floor(0.9 * sample);
  }
  return sample;
}
