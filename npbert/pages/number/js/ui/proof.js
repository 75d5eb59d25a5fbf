// The page checks its own backward: every derivative of every parameter, against a finite difference. It does so a
// little at a time, beside the reader, when it opens and whenever a bug is planted.

import {checking} from "../math/index.js";
import {byId} from "./dom.js";
import {counted, smallNumber} from "./format.js";
import {state} from "./state.js";

const WORK_AT_ONCE = 12; // milliseconds, so that the page never stands still
const MOST = 2000; // derivatives to check; of a model with more, some of each parameter

// Check the model as it opened, and say how it went.
export function showProof() {
  const said = (text, look) => {
    byId("proof").textContent = text;
    byId("proof").className = `proof ${look}`;
  };
  checkBesides(
    state.trace,
    (share) => said(`Checking this page's own derivatives … ${Math.round(100 * share)} %`, ""),
    (report) => {
      const {count, worst, ok} = report;
      const method = "against finite differences just now, in this page";
      const off = `the worst is off by ${smallNumber(worst.error)} of its size`;
      const figures = `${counted(count, "derivative")} ${method}; ${off}`;
      said(ok ? `✓ Checked: ${figures}` : `✗ ${figures}`, ok ? "good" : "bad");
      globalThis.npbert.proof = report;
    },
  );
}

// A check beside the reader: `progress(share)` on the way, `done(report)` at the end. Returns what stops it.
export function checkBesides(trace, progress, done) {
  const check = checking(trace, {sample: numbersOfEach(trace)});
  let timer = setTimeout(work, 0);
  function work() {
    const until = performance.now() + WORK_AT_ONCE;
    let next = check.next();
    while (!next.done && performance.now() < until) {
      next = check.next();
    }
    if (next.done) {
      done(next.value);
    } else {
      progress(next.value);
      timer = setTimeout(work, 0);
    }
  }
  return () => clearTimeout(timer);
}

// How many numbers of each parameter are checked, so that there are not too many in all.
function numbersOfEach(trace) {
  const sizes = [...trace.arrays.values()].filter(({parameter}) => parameter).map(({values}) => values.length);
  let sample = Math.max(...sizes);
  while (sizes.reduce((sum, size) => sum + Math.min(size, sample), 0) > MOST && sample > 4) {
    sample = Math.floor(0.9 * sample);
  }
  return sample;
}
