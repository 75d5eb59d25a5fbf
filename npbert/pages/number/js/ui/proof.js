// The page checks its own backward: every derivative of every parameter, against a finite difference. It does so a
// little at a time, beside the reader: when it opens, and again when the model or the sentence is another.

import {checking} from "../math/index.js";
import {byId} from "./dom.js";
import {counted, smallNumber} from "./format.js";
import {state, watch} from "./state.js";

const WORK_AT_ONCE = 12; // milliseconds, so that the page never stands still
const MOST = 2000; // derivatives to check; of a model with more, some of each parameter
const QUIET_FOR = 400; // milliseconds without a change, before it is checked again
let stopProof = () => {};

// Check the model as it is, and again whenever it has changed; not while a bug is planted, which is checked elsewhere.
export function showProof() {
  prove();
  watch(["trace"], () => {
    stopProof();
    byId("proof").hidden = Boolean(state.bug);
    if (state.bug) {
      return;
    }
    globalThis.npbert.proof = null;
    say("The numbers have changed: their derivatives will be checked again …", "");
    const timer = setTimeout(prove, QUIET_FOR);
    stopProof = () => clearTimeout(timer);
  });
}

function say(text, look) {
  byId("proof").textContent = text;
  byId("proof").className = `proof ${look}`;
}

function prove() {
  stopProof = checkBesides(
    state.trace,
    (share) => say(`Checking this page’s own derivatives … ${Math.round(100 * share)} %`, ""),
    (report) => {
      const {count, worst, ok} = report;
      const method = "of this model and sentence against finite differences just now, in this page";
      const off = `the worst is off by ${smallNumber(worst.error)} of its size`;
      const all = numbersIn(state.trace);
      const which = count === all ? "all " : `${counted(count)} of `;
      const figures = `${which}${counted(all, "derivative")} ${method}; ${off}`;
      say(ok ? `✓ Checked: ${figures}` : `✗ ${figures}`, ok ? "good" : "bad");
      globalThis.npbert.proof = report;
    },
  );
}

// A check beside the reader: `progress(share)` on the way, `done(report)` at the end. Returns what stops it.
export function checkBesides(trace, progress, done, options = {sample: numbersOfEach(trace)}) {
  const check = checking(trace, options);
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

function numbersIn(trace) {
  return [...trace.arrays.values()].reduce((sum, {parameter, values}) => sum + (parameter ? values.length : 0), 0);
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
