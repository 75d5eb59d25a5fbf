/* The page checks its own backward: every derivative of every parameter, against a finite difference. It does so a
   little at a time, beside the reader, when it opens and whenever a bug is planted. */

import {fourPointsIn} from "../math/differences.js";
import {byId} from "./dom.js";
import {counted, smallNumber} from "./format.js";
import {state} from "./state.js";

const WORK_AT_ONCE = 12; // of work at once, so that the page never stands still
const ACCEPTED = 1e-7; // of the finite difference, as in math/check.js
const SMALLEST_SHARE = 0.01; // a gradient of nearly 0 is compared with a hundredth of the largest

/** Check the model as it opened, and say how it went. */
export function showProof() {
  const said = (text, look) => {
    byId("proof").textContent = text;
    byId("proof").className = `proof ${look}`;
  };
  checkBesides(state.trace, (share) => said(`Checking this page's own derivatives … ${Math.round(100 * share)} %`, ""), (report) => {
    const {count, worst, wrong} = report;
    const method = "against finite differences just now, in this page";
    const figures = `${counted(count, "derivative")} ${method}; the worst is off by ${smallNumber(worst.error)} of its size`;
    said(wrong.length ? `✗ ${figures}` : `✓ Checked: ${figures}`, wrong.length ? "bad" : "good");
    globalThis.npbert.proof = report;
  });
}

/** A check beside the reader: `progress(share)` on the way, `done(report)` at the end. Returns what stops it.
    report: {count, worst, perParameter: [{name, worst, ok}], wrong: those that are not ok}. */
export function checkBesides(trace, progress, done) {
  const check = checks(trace);
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

/** Number by number; yields how much is done, returns the report. */
function* checks(trace) {
  const checked = [...trace.arrays.values()].filter(({parameter, gradient}) => parameter && gradient);
  const gradientOf = ({gradient}) => trace.arrays.get(gradient).values;
  const scale = SMALLEST_SHARE * Math.max(...checked.flatMap((array) => Array.from(gradientOf(array), Math.abs)));
  const total = checked.reduce((sum, {values}) => sum + values.length, 0);
  const perParameter = [];
  let count = 0;
  for (const array of checked) {
    let worst = {error: -1};
    for (const [index, analytic] of gradientOf(array).entries()) {
      const where = {name: array.name, row: Math.floor(index / array.shape[1]), column: index % array.shape[1]};
      const numeric = fourPointsIn(trace, where);
      const error = Math.abs(analytic - numeric) / Math.max(Math.abs(analytic), Math.abs(numeric), scale);
      if (!(error <= worst.error)) {
        worst = {...where, analytic, numeric, error};
      }
      count += 1;
      yield count / total;
    }
    perParameter.push({name: array.name, worst, ok: worst.error <= ACCEPTED});
  }
  const worst = perParameter.map((entry) => entry.worst).reduce((a, b) => (b.error <= a.error ? a : b));
  return {count, worst, perParameter, wrong: perParameter.filter(({ok}) => !ok)};
}
